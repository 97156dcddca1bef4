"""Execution logs as other tools write them, read into traces.

`log_file.py` recognises the kind of a log by its content; the other files read one kind each. An
agent wrote part of the content, so a line that does not fit is refused with its file, line and
field, or skipped and counted where the caller asks for that.
"""
