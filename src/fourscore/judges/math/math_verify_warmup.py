"""Imported by a worker when it starts, so that no answer waits a second for the first parse.

Math-Verify unpacks its grammar when it is first used. A module of its own, because workers warm up
by importing modules, and importing `math_verify` itself has to stay cheap.
"""

import warnings

from fourscore.judges.math.math_verify import verify

warnings.simplefilter("ignore")  # an answer can make SymPy warn, on the user's terminal
verify(r"\sum_{k=1}^{3} k", "6")
