"""Two stored runs as pairs: the same cases, scored from 0 to 100, in the order they are looked at.

Cases are matched by id, and paired only where both runs asked the same and measured it. Repeats of
a case are one pair, of their means. The order is by digest of the id: one that has nothing to do
with what was found, nor with how a file is sorted.
"""

from math import fsum

import msgspec

from fourscore.core import digest
from fourscore.evolve.split import order_of
from fourscore.stats.paired import Attempt
from fourscore.test.compare import Side


class PairedRuns(msgspec.Struct, frozen=True, kw_only=True):
    """(old, new) for each case; and those without a partner, by why."""

    cases: tuple[str, ...]
    pairs: tuple[tuple[float, float], ...]
    only_old: int
    only_new: int
    changed: int
    unmeasured: int


def paired_runs(old: Side, new: Side) -> PairedRuns:
    before = {row.case.id: (digest(row.case.input), _score(tried)) for row, tried in old.cases()}
    found: dict[str, tuple[float, float]] = {}
    only_new = changed = unmeasured = 0
    for row, tried in new.cases():
        known = before.pop(row.case.id, None)
        now = _score(tried)
        if known is None:
            only_new += 1
        elif known[0] != digest(row.case.input):
            changed += 1
        elif known[1] is None or now is None:
            unmeasured += 1
        else:
            found[row.case.id] = known[1], now
    cases = tuple(sorted(found, key=order_of))
    return PairedRuns(
        cases=cases,
        pairs=tuple(found[case] for case in cases),
        only_old=len(before),
        only_new=only_new,
        changed=changed,
        unmeasured=unmeasured,
    )


def _score(tried: list[Attempt]) -> float | None:
    measured = [value for _, value in tried if value is not None]
    return 100 * fsum(measured) / len(measured) if measured else None
