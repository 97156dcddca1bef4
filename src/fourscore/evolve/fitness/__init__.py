"""Fitness from execution logs: every session scored, and what they come to.

`log.py` reads a file and scores its executions, `standing.py` keeps what they come to, `telling.py`
puts it into a document.
"""
