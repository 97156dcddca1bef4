"""Execution logs as other tools write them, each turned into traces.

`detect.py` tells the kinds apart by their content; every other file reads one of them. All of it
was written by machines around an agent, and partly by the agent: what does not fit is refused with
its file, line and field, or skipped and counted where that is asked for.
"""
