"""The trainers' own calling conventions, one module for each, a few lines over `Rewards`.

No module here imports its trainer, torch or numpy: what a trainer hands over is read by its shape.
"""
