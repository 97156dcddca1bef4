"""Citations: where an output cites, what it may cite, and which of the two belong together.

Shared by the judges of citation accuracy and of source quality. Nothing here says how good a
citation is.
"""
