"""Evolution: from two versions of a prompt to a sound decision, in a history one can go back in.

Scores are on a scale from 0 to 100 here. `literal.py` and `decision.py` decide, `limits.py` says
when to mutate and when to go back, `folder.py` keeps versions and decisions where people read them.
"""
