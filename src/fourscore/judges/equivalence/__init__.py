r"""Mathematical equality of a final answer and a reference.

`decide` is the fast path: exact arithmetic on normal forms, refutation by type and by number,
bounded by size limits, safe to call anywhere. Where it answers UNKNOWN, `verify` asks
Math-Verify; that may take for ever and belongs in a process that can be killed.
"""

from .deciding import decide, is_constant
from .decision import Decision, Verdict
from .fallback import verify

__all__ = ["Decision", "Verdict", "decide", "is_constant", "verify"]
