"""Print the lineage on a terminal: one line per version; many failures of one parent share one."""

from itertools import groupby
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fourscore.evolve.lineage import FAILED, format_ranges
from fourscore.formats.plain_text import make_printable
from fourscore.report.evolution_panel import COLOURS
from fourscore.report.terminal import make_console, print_panel

MARKS = {
    "active": "●",
    "retired": "○",
    "branch": "◇",
    "candidate": "?",
    "rejected": "×",
    "withdrawn": "–",
}
#: Failures of one parent beyond which they are counted, and steps inwards.
FEW, DEEPEST = 2, 6


def show_lineage(documents: list[dict[str, Any]], to: Console | None = None) -> None:
    """Print one line per version: its score, and the figures of the decision about it."""
    table = lineage(documents)
    print_panel(to or make_console(), f"lineage of {len(documents)} versions", [table], "green")


def lineage(documents: list[dict[str, Any]]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for justify in ("left", "left", "right", "left", "left"):
        table.add_column(justify=justify)
    for (failed, depth, _), group in groupby(documents, _get_fold_key):
        rows = list(group)
        if failed and len(rows) > FEW:
            numbers = format_ranges(each["number"] for each in rows)
            words = f"{len(rows)} {_join_statuses(rows)}: {numbers}"
            table.add_row(f"{_lead(depth)}×", Text(words, "dim"), "", "", "")
            continue
        for each in rows:
            _add(table, each)
    return table


def _get_fold_key(document: dict[str, Any]) -> tuple[bool, int, int]:
    """Return a key that is the same for all failures of one parent, and for no other versions."""
    failed = document["failed"]
    return failed, document["depth"], document["parent"] if failed else document["number"]


def _join_statuses(rows: list[dict[str, Any]]) -> str:
    return " or ".join(word for word in FAILED if any(each["status"] == word for each in rows))


def _add(table: Table, version: dict[str, Any]) -> None:
    status, decision = version["status"], version["decision"] or {}
    colour = COLOURS[status]
    words = [status, *(["best"] if version["best"] else [])]
    # What it scored in its decision: on the same cases as the version it was compared with.
    score = decision.get("new", version["score"])
    table.add_row(
        Text.assemble(_lead(version["depth"]), (MARKS[status], colour), f" {version['number']}"),
        Text(", ".join(words), colour),
        "" if score is None else f"{score:.1f}",
        _change(decision),
        Text(_origin(version), "dim"),
    )


def _lead(depth: int) -> str:
    return "│ " + "  " * (min(depth, DEEPEST) - 1) if depth else ""


def _change(decision: dict[str, Any]) -> str:
    delta, low, high = (decision.get(name) for name in ("delta", "low", "high"))
    if delta is None:
        return ""
    text = f"{delta:+.1f}"
    if low is not None and high is not None:
        text += f" [{low:+.1f}, {high:+.1f}]"
    return f"{text} n={decision['n']}" if decision.get("n") else text


def _origin(version: dict[str, Any]) -> str:
    if version["parent"] is None:
        return make_printable(version["why"], 40)
    return f"{make_printable(version['strategy'], 40)} ({version['risk']}) from {version['parent']}"
