"""The sizes beyond which an answer is not judged, and the exceptions that say so.

Every limit is checked before the work it bounds: an answer comes from a policy that is rewarded
for whatever slips through, and a tower of powers costs a few bytes to write.
"""

from __future__ import annotations

MAX_ANSWER_CHARS = 2_000
MAX_REFERENCE_CHARS = 10_000
MAX_TOKENS = 1_000
MAX_DEPTH = 24  # nested brackets, braces, powers and signs; the parser recurses this deep
MAX_DIGITS = 1_000  # in one number literal
MAX_TEN_EXPONENT = 5_000  # 1e5000 is expanded, 1e5001 is not
MAX_BITS = 40_000  # of an exact numerator or denominator (2006! has 19,000)
MAX_FACTORIAL = 3_000
MAX_BINOMIAL = 3_000
MAX_POWER = 60  # of a sum of several terms
MAX_TERMS = 300
MAX_TURNS = 6  # terms of an angle
MAX_ITEMS = 32  # in a list, tuple, set or union
MAX_CELLS = 100  # in a matrix
MAX_UNIT_WORDS = 8  # "square feet per person per year"; more is prose
MAX_READINGS = 4  # of one ambiguous text
MAX_WORK = 60_000  # term products in one reading or comparison; see Algebra.charge
TRIAL_DIVISOR = 4_096  # primes below it are looked for in a radicand
REFERENCE_CACHE = 4_096  # parsed references kept


class UnsupportedError(Exception):
    """The fast path does not understand this text. Math-Verify may."""


class LimitError(UnsupportedError):
    """The value is too large to write out; its text is not."""


class SizeError(UnsupportedError):
    """The text itself is larger than any final answer."""


class MalformedError(UnsupportedError):
    """Brackets that do not close, an operator without an operand: not a formula."""


class ProseError(UnsupportedError):
    """Words where a formula should be."""
