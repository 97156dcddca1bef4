"""Fitness from an execution log: five signals that need no labels, and the grade they make.

Each judge has a cheap `compute_value(execution)` for the one pass over a large log, and gives the
same number with a reason as a judge of a trace. Only `detectors` and `judges/failures.py` read what
a text says (an answer, an explanation, an error).
"""
