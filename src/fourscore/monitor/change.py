"""A status that changed: what an alert is made of."""

from typing import Literal

import msgspec

from fourscore.stats.rate_alarm import Method, Word

Kind = Literal["raised", "eased", "resolved"]
_RANK = {"insufficient_data": 0, "healthy": 0, "warning": 1, "critical": 2}


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """Which stream went from what to what.

    `estimate`, `low`, `high` and `n` are of the stretch that showed it, since `since`. `sure` is
    the chance that a good service goes through a whole horizon without this stream's alarm; None
    where nothing like it is promised: the literal rule, and an alarm that is over. `evidence` has
    up to ten ids of interactions, the worst first.
    """

    stream: str
    before: Word
    after: Word
    at: float
    since: float
    estimate: float | None
    low: float | None
    high: float | None
    n: int
    method: Method
    sure: float | None
    evidence: tuple[str, ...] = ()
    detail: str = ""

    @property
    def kind(self) -> Kind:
        """`eased` is from critical to warning."""
        if _RANK[self.after] > _RANK[self.before]:
            return "raised"
        return "eased" if _RANK[self.after] else "resolved"
