"""Fitness from execution logs: every session is scored, and the scores are aggregated.

`log.py` reads a file and scores its executions, `aggregate.py` adds them up, `document.py` makes
the JSON document.
"""
