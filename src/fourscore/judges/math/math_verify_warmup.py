"""Imported by a worker when it starts: the first parse takes a second that no answer should pay.

Math-Verify's grammar is unpacked when it is first used.
"""

from fourscore.judges.math.math_verify import verify

verify(r"\sum_{k=1}^{3} k", "6")
