"""People's labels on outputs: calibrate and attack judges, fit weights, and learn rubrics."""
