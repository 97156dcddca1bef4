"""Fitness from an execution log: five signals that need no labels, and a grade computed from them.

Each judge has a cheap `compute_value(execution)` for large logs, which are read in one pass; as a
judge of a trace it returns the same number with a reason. Only `detectors` and `judges/failures.py`
look at the meaning of a text (an answer, an explanation, an error).
"""
