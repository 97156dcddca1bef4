"""People's verdicts on outputs: calibrate judges, attack them, and learn rubrics from labels."""
