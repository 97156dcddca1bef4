"""Trainers' own calling conventions, one module for each, and the pytest plugin.

No module here imports its trainer, torch or numpy: a trainer's values are read by their shape.
"""
