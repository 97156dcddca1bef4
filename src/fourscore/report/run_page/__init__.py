"""A run as one HTML file that opens offline in any browser.

    write_report("report.html", store, run_id)

The rows are read twice: first for the table, the chart and the lengths of all texts, then for the
details of each case. Blocks are compressed as rows arrive, and the file has a size limit, so memory
and file stay small for any run: failures go first, long texts are truncated, and the page says what
is missing.

What an agent wrote is data. It is JSON in which nothing can be read as markup, it is shown as text
only, and the page's content security policy allows one script and one style, by digest, and no
request. The same run gives the same bytes.
"""

import os
from pathlib import Path
from typing import Any

from fourscore.core import Rubric
from fourscore.report.run_page.headline import headline
from fourscore.report.run_page.page import render_page
from fourscore.report.run_page.rows import CaseDetails, TableRows, read_labels
from fourscore.stores.sqlite import Store
from fourscore.test.run import summarize_run

#: The largest report, in bytes.
LIMIT = 14_500_000
#: Bytes for the page itself, its headline and the groups.
PAGE = 1_500_000
#: Share of the rest for the table; details take what is left.
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

    A `document` that `summarize_run` has given already saves a pass over the rows.
    """
    info = store.run(run_id)
    if document is None:
        document = summarize_run(store, info.id, rubric, judge)
    room = max(0, limit - PAGE)
    lines = TableRows(list(document["dimensions"]), int(TABLE * room))
    for row in store.rows(info.id, judge):
        lines.add(row)
    table = lines.blocks()
    details = CaseDetails(
        lines, read_labels(store, info.id), room - sum(block.size for block in table)
    )
    for row in store.rows(info.id, judge):
        details.add(row)
    head = headline(info, document, lines, details, rubric, judge)
    target = Path(path).resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as out:
            out.writelines(render_page(head, table, details.blocks.close()))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
