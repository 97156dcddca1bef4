"""What judging may cost in an hour of the clock, among all processes that share the store.

Before a sample is judged, the most that it can take is set aside in the store; with the sample, the
store learns what it took. So the budget holds exactly for judges that say what they take at most,
and for others it is overdrawn by no more than what is being judged at the time. A process that dies
leaves what it had set aside spent, until the hour is over.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from fourscore.core import Case, Rubric, Usage
from fourscore.models.budget import Cost, parse_limits
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_rows import Spending

HOUR = 3600
NOTHING = Usage()

#: 2.50 (dollars), "500calls", "200000tokens", or several of them.
Written = str | float | Iterable[str | float]


class Reservation(NamedTuple):
    """What was set aside, and in which hour."""

    hour: int
    most: Spending = Spending()

    def settle(self, cost: Usage) -> Spending:
        """What is to be added to the hour, now that the cost is known."""
        return spending(cost).plus(self.most, -1)


def spending(cost: Usage) -> Spending:
    return Spending(cost.calls, cost.input_tokens + cost.output_tokens, cost.dollars)


class Budget:
    """The limits of an hour; None is no limit, and then nothing is set aside."""

    def __init__(self, written: Written | None, rubric: Rubric) -> None:
        several = [written] if isinstance(written, str | int | float) else list(written or ())
        self.limits = parse_limits(several) if several else None
        self._judges: list[Any] = [slot.judge for slot in rubric.slots]

    def reserve(
        self, store: MonitorStore, monitor: str, case: Case, at: float
    ) -> Reservation | None:
        """None where the hour's budget does not allow for another sample."""
        hour = int(at // HOUR)
        if self.limits is None:
            return Reservation(hour)
        most = spending(sum((_most(judge, case) for judge in self._judges), NOTHING))
        # One call at least: a judge that does not say what it takes is not free.
        counted = most if most.calls else most._replace(calls=1)
        fits = self._fits
        return Reservation(hour, counted) if store.reserve(monitor, hour, counted, fits) else None

    def _fits(self, spent: Spending) -> bool:
        return self.limits is None or self.limits.exceeded(Cost(*spent)) is None


def _most(judge: Any, case: Case) -> Usage:
    most = getattr(judge, "most", None)
    if not callable(most):
        return NOTHING
    try:
        told = most(case)
    except Exception:
        return NOTHING
    return told if isinstance(told, Usage) else NOTHING
