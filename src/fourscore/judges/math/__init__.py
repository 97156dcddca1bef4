r"""Whether the boxed answer of an output equals the reference answer of a case.

`MathJudge` compares by exact text or, with `match: equivalent`, by mathematical equality. `decide`
is the fast path: exact arithmetic on normal forms, refutation by type and by number, bounded by
size limits, safe to call anywhere. Where it answers UNKNOWN, `verify` asks Math-Verify; that may
take for ever and belongs in a process that can be killed.
"""

from fourscore.judges.math.comparison_result import Decision, Equivalence
from fourscore.judges.math.equality import decide
from fourscore.judges.math.judge import MathJudge, read_reference
from fourscore.judges.math.math_verify import verify

__all__ = [
    "Decision",
    "Equivalence",
    "MathJudge",
    "decide",
    "read_reference",
    "verify",
]
