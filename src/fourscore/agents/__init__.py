"""What is tested: Python functions, processes, HTTP services, shell commands, models, recorded outputs."""
