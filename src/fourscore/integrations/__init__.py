"""Trainers' own calling conventions, one module for each, and the pytest plugin.

No module here imports its trainer, torch or numpy: what a trainer hands over is read by its shape.
"""
