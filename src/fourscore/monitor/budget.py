"""The budget for judging per clock hour, shared by all processes on one store.

Before a sample is judged, its highest possible cost is reserved in the store; when the sample is
saved, the real cost replaces it. So judges that state their highest cost never exceed the limit.
Other judges can exceed it by the samples being judged at that moment. What a process had reserved
when it died counts as spent until the hour is over.
"""

from typing import Any, NamedTuple

from fourscore.core import Case, Rubric, Usage
from fourscore.models.budget import NO_LIMITS, Cost, get_max_usage, parse_limits
from fourscore.models.messages import NO_USAGE
from fourscore.monitor.settings import BudgetSpec
from fourscore.stores.monitor import MonitorStore
from fourscore.stores.monitor_rows import Spending

HOUR = 3600


class Reservation(NamedTuple):
    """A reserved cost, `most`, and the hour that it was reserved in."""

    hour: int
    most: Spending = Spending()

    def settle(self, cost: Usage) -> Spending:
        """Return what to add to the hour's spending: the real cost minus the reserved one."""
        return cost_to_spending(cost).plus(self.most, -1)


def cost_to_spending(cost: Usage) -> Spending:
    """Return the calls, tokens and dollars of a usage."""
    return Spending(cost.calls, cost.input_tokens + cost.output_tokens, cost.dollars)


class HourlyBudget:
    """The limits of one clock hour. Without limits, nothing is reserved."""

    def __init__(self, spec: BudgetSpec | None, rubric: Rubric) -> None:
        limits = parse_limits(spec)
        self.limits = None if limits == NO_LIMITS else limits
        self._judges: list[Any] = [slot.judge for slot in rubric.slots]

    def reserve(
        self, store: MonitorStore, monitor: str, case: Case, at: float
    ) -> Reservation | None:
        """Reserve the highest cost of judging a case; return None if the hour's budget is spent."""
        hour = int(at // HOUR)
        if self.limits is None:
            return Reservation(hour)
        most = cost_to_spending(
            sum((get_max_usage(judge, case) for judge in self._judges), NO_USAGE)
        )
        # At least one call: a judge that does not state its cost is not free.
        counted = most if most.calls else most._replace(calls=1)
        is_reserved = store.reserve(monitor, hour, counted, self._fits)
        return Reservation(hour, counted) if is_reserved else None

    def _fits(self, spent: Spending) -> bool:
        return self.limits is None or self.limits.exceeded(Cost(*spent)) is None
