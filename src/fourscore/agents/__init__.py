"""What is tested: functions, processes, HTTP services, shell commands, models, recorded outputs."""
