"""Fitness from an execution log: five signals that nobody has to label, and the grade they make.

Each judge has a cheap `value_of(execution)`, which the one pass over a large log uses, and gives
the same number with a reason as a judge of a trace. What text says (an answer, an explanation, an
error) is told by `detectors` and `judges/failures.py`, and by nothing else here.
"""
