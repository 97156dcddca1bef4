"""What a person sees of a scored log: score and grade, a bar for each signal, trend and groups."""

from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from fourscore.core.levels import find_level
from fourscore.formats.plain_text import make_printable
from fourscore.report.run_panel import BAR, COLOURS
from fourscore.report.terminal import make_console, print_panel

#: Groups and broken lines that are shown.
SHOWN, BROKEN = 20, 3
_BLOCKS = "▁▂▃▄▅▆▇█"
_GRADES = {"A+": "green", "A": "green", "B": "green", "C": "yellow", "D": "red", "F": "red"}


def show(path: str, document: dict[str, Any], to: Console | None = None) -> None:
    """Print the fitness of an agent's executions, as `compute_fitness` returns it."""
    parts: list[RenderableType] = [
        *_headline(document),
        Text(),
        _signals(document),
        *_left_out(document),
        *_trend(document),
        *_groups(document),
        *_broken(document),
    ]
    colour = _GRADES.get(document["grade"] or "", "yellow")
    print_panel(to or make_console(), f"fitness of {make_printable(path, 80)}", parts, colour)


def _headline(document: dict[str, Any]) -> list[Text]:
    score, counts = document["score"], document["counts"]
    if score is None:
        return [Text("nothing could be measured", "bold yellow"), _counts(counts)]
    grade = document["grade"]
    head = Text.assemble(
        "score     ",
        (f"{score:.2f}", "bold"),
        "   grade ",
        (grade, f"bold {_GRADES[grade]}"),
        f"   {document['interpretation']}",
    )
    lines = [head]
    many = document["executions"]
    if many["n"] > 1:
        text = f"the newest of {many['n']} count most{_format_interval(many['interval'])}"
        text += f"; plain mean {many['mean']:.2f}{_format_interval(many['mean_interval'])}"
        lines.append(Text(f"          {text}"))
    advice = document["advice"]
    if document["weakest"]:
        advice += f" {document['weakest']} costs the most points."
    return [*lines, Text(f"advice    {advice}"), _counts(counts)]


def _counts(counts: dict[str, Any]) -> Text:
    text = [f"{counts['executions']:,} executions", f"{counts['tool_calls']:,} tool calls"]
    if counts["failed"]:
        text.append(f"{counts['failed']:,} failed")
    if counts["unknown"]:
        text.append(f"{counts['unknown']:,} without an outcome")
    if counts["skipped"]:
        text.append(f"{counts['skipped']:,} executions without anything to measure")
    if counts["several_versions"]:
        text.append(f"{counts['several_versions']:,} with more than one version")
    return Text(f"counts    {', '.join(text)}")


def _signals(document: dict[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, line in document["signals"].items():
        value, weight = line["value"], f"×{line['weight']:g}"
        if value is None:
            continue
        full = round(BAR * value)
        bar = Text.assemble(("█" * full, COLOURS[find_level(value)]), ("░" * (BAR - full), "dim"))
        table.add_row(
            f"  {make_printable(name)}",
            f"{value:.2f}",
            bar,
            weight,
            make_printable(line["reason"], 300),
        )
    return table


def _left_out(document: dict[str, Any]) -> list[Text]:
    names = document["inapplicable"]
    if not names:
        return []
    lines = []
    for name in names:
        reason = make_printable(document["signals"][name]["reason"], 200)
        lines.append(Text(f"  {make_printable(name)}  not applicable: {reason}"))
    coverage = document["coverage"]
    if coverage is not None:
        lines.append(Text(f"  coverage {coverage:.0%}: the weight that was measured"))
    return lines


def _trend(document: dict[str, Any]) -> list[Text]:
    trend = document["trend"]
    if trend["per_execution"] is None:
        return []
    last = trend["last"]
    line = "".join(_BLOCKS[min(7, int(score / 12.5))] for score in last)
    text = f"{trend['direction']}, {trend['per_execution']:+.2f}"
    low, high = trend["interval"]
    text += f" [{low:+.2f}, {high:+.2f}] an execution, n={trend['n']}"
    return [Text(), Text(f"trend     {line}  {text}")]


def _groups(document: dict[str, Any]) -> list[RenderableType]:
    groups = document.get("groups")
    if not groups:
        return []
    table = Table.grid(padding=(0, 2, 0, 0))
    for group in groups[:SHOWN]:
        name = make_printable(group["name"], 60) or "(none)"
        mean = group.get("mean")
        text = "" if mean is None else f"mean {mean:.2f}{_format_interval(group['mean_interval'])}"
        score = f"{group['score']:.2f}{_format_interval(group.get('interval'))}"
        table.add_row(f"  {name}", group["grade"], score, text, f"n={group['n']}")
    left = len(groups) - SHOWN + document["groups_left_out"]
    parts: list[RenderableType] = [Text(), Text(f"by {document['by']}, newest first"), table]
    if left > 0:
        parts.append(Text(f"  and {left:,} more"))
    return parts


def _broken(document: dict[str, Any]) -> list[Text]:
    count = document["counts"]["broken"]
    if not count:
        return []
    many = "line was" if count == 1 else "lines were"
    lines = [Text(), Text(f"{count:,} broken {many} skipped", "yellow")]
    for broken in document["broken"][:BROKEN]:
        field = f"{broken['field']}: " if broken["field"] else ""
        lines.append(
            Text(f"  line {broken['line']}: {make_printable(field + broken['message'], 200)}")
        )
    return lines


def _format_interval(interval: list[float] | None) -> str:
    return "" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]"
