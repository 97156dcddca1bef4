"""What people said of a run's rows, by row."""

from collections.abc import Mapping, Sequence

from fourscore.stores.run import Label
from fourscore.stores.sqlite import Store

#: Verdicts that a report shows, and of one row.
MOST, EACH = 20_000, 20

Labels = Mapping[tuple[str, int], Sequence[Label]]


def labels_of(store: Store, run_id: str) -> Labels:
    found: dict[tuple[str, int], list[Label]] = {}
    for label in store.labels(run_id)[:MOST]:
        of = found.setdefault((label.case_id, label.repeat), [])
        if len(of) < EACH:
            of.append(label)
    return found
