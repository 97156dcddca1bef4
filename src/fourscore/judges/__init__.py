"""How good is it: judges, each a picklable value that measures in [0, 1]."""
