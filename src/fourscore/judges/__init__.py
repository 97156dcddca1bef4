"""Judges: picklable values that measure one aspect of an output in [0, 1]."""
