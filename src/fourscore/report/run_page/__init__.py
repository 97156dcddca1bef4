"""A run as one HTML file that opens anywhere and asks nobody for anything.

    write_report("report.html", store, run_id)

The rows are read twice: first for the table, the chart and the lengths of all texts, then for what
a reader sees of each case. What is kept is packed as it comes, and its sum has a limit, so memory
and the file stay small whatever the run: failures go first, long texts are cut, and the page says
what it lacks.

What an agent wrote is data. It stands in the page as JSON that no HTML parser can take for markup,
reaches the screen as text only, and the page's own policy forbids every script and style but the
two whose digests it names, and every request.

The same run gives the same bytes.
"""

import os
from pathlib import Path
from typing import Any

from fourscore.core import Rubric
from fourscore.report.run_page.headline import headline
from fourscore.report.run_page.labels import labels_of
from fourscore.report.run_page.page import page
from fourscore.report.run_page.rows import Details, Lines
from fourscore.stores.sqlite import Store
from fourscore.test.run import summarized

#: No report is larger, in bytes.
LIMIT = 14_500_000
#: What the page itself, its headline and the groups may take.
PAGE = 1_500_000
#: A part of the rest for the table; details have what it leaves.
TABLE = 0.3


def write_report(
    path: str | Path,
    store: Store,
    run_id: str,
    rubric: Rubric | None = None,
    judge: str | None = None,
    *,
    document: dict[str, Any] | None = None,
    limit: int = LIMIT,
) -> None:
    """Write the report of a run, scored by `judge` or else by the run's own rubric.

    A `document` that `summarized` has given already saves a pass over the rows.
    """
    info = store.run(run_id)
    if document is None:
        document = summarized(store, info.id, rubric, judge)
    room = max(0, limit - PAGE)
    lines = Lines(list(document["dimensions"]), int(TABLE * room))
    for row in store.rows(info.id, judge):
        lines.add(row)
    table = lines.parcels()
    details = Details(lines, labels_of(store, info.id), room - sum(parcel.size for parcel in table))
    for row in store.rows(info.id, judge):
        details.add(row)
    head = headline(info, document, lines, details, rubric, judge)
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as out:
            out.writelines(page(head, table, details.parcels.close()))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
