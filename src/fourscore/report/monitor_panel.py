"""The status and alerts of a monitor on a terminal. Tags and ids are untrusted: escaped."""

import time
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from fourscore.formats.plain_text import make_printable
from fourscore.judges.calibrated_rate import METHODS
from fourscore.monitor.alert_text import ASPECTS, facts, headline
from fourscore.monitor.alerts import Notice
from fourscore.monitor.status import STATUSES
from fourscore.report.terminal import make_console, print_panel

COLOURS = {
    "healthy": "green",
    "warning": "yellow",
    "critical": "bold red",
    "insufficient_data": "dim",
}
#: Shorter names of a status, for a column.
SHORT = {"insufficient_data": "too few"}
#: Kinds of streams, the most important first.
KINDS = ("judge", "overall", "dimension", "tag", "drift")
#: Streams of a kind that are shown, the worst first; `--json` has all.
MAX_STREAMS = 12
#: Characters of a name or an id, and of a longer text.
NAME, LONG = 40, 200
#: Terminal columns from which dates are shown.
WIDE = 100
#: Interactions of an alert that the status names; `fourscore monitor alerts` names all.
MAX_EVIDENCE = 3


def show_status(
    document: dict[str, Any],
    notices: dict[str, list[Notice]],
    options: str = "",
    to: Console | None = None,
) -> None:
    """Print all monitors of a document; `options` are added to the commands it suggests."""
    out = to or make_console()
    if not document["monitors"]:
        out.print(Text("the store has no monitor yet: nothing was observed"))
    for one in document["monitors"]:
        some = sorted(notices.get(one["name"], []), key=_urgency)
        parts: list[RenderableType] = [make_summary(one), Text(), make_stream_table(one, out)]
        for notice in some:
            parts += [Text(), *_summarize_alert(notice)]
        # An interaction that the judge failed on is no test case.
        name = make_printable(one["name"], NAME)
        ids = [id_ for notice in some if notice.kind != "judge" for id_ in notice.evidence]
        if ids:
            rest = f"{options} --name {name}" if len(document["monitors"]) > 1 else options
            first = make_printable(ids[0], NAME)
            promote = f"fourscore monitor promote {first} --to cases.jsonl{rest}"
            parts += [Text(), Text(f"next: fourscore monitor alerts{rest}, or {promote}", "dim")]
        title = f"monitor {name} in {make_printable(document['store'], LONG)}"
        print_panel(out, title, parts, COLOURS[one["worst_status"]])


def make_summary(one: dict[str, Any]) -> Table:
    """Return the summary above the table of streams."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row("status", _status(one, one["since"]))
    grid.add_row("samples", _samples(one))
    if one["pass_rate"] is not None:
        interval = _format_interval(one["pass_rate_interval"])
        rate = f"{one['pass_rate']:.1%} {interval}, n={one['measured']:,}"
        grid.add_row("pass rate", f"{rate}, of all samples so far")
    if one["average_score"] is not None:
        grid.add_row("score", f"{one['average_score']:.3f} on average")
    if "pass_rate_corrected" in one:
        grid.add_row("corrected", _corrected(one))
    grid.add_row("judge", _judge(one))
    grid.add_row("drift", _drift(one["drift"]))
    lost = {word: one["counts"][word] for word in ("dropped", "over_budget", "failed", "unsaved")}
    some = ", ".join(f"{n:,} {word.replace('_', ' ')}" for word, n in lost.items() if n)
    grid.add_row("lost", Text(some or "none", "yellow" if some else ""))
    late = one["counts"].get("spans_late", 0)
    if late:
        grid.add_row("spans", f"{late:,} arrived after their trace was scored")
    grid.add_row("alerts", _alerts(one))
    return grid


def _status(part: dict[str, Any], since: float | None) -> Text:
    words = Text().append(part["status"].replace("_", " "), COLOURS[part["status"]])
    return words if since is None else words.append(f" since {_format_time(since)}")


def _samples(one: dict[str, Any]) -> str:
    seen = f" of {one['counts']['observed']:,} observed" if one["counts"]["observed"] else ""
    some = [f"{n:,} {word.replace('_', ' ')}" for word, n in one["statuses"].items() if n]
    few = one["status"] == "insufficient_data"
    needed = f"; {one['thresholds']['min_samples']} are needed" if few else ""
    return f"{one['sample_count']:,}{seen}{': ' if some else ''}{', '.join(some)}{needed}"


def _corrected(one: dict[str, Any]) -> str:
    found = one["pass_rate_corrected"]
    if found is None:
        return f"no: {one['corrected_reason']}"
    method = METHODS.get(found["method"], found["method"])
    labels = f"{method} with {found['labels']} labels"
    return f"{found['value']:.1%} {_format_interval(found['interval'])}, {labels}"


def _judge(one: dict[str, Any]) -> Text:
    judge, cost = one["judge"], one["cost"]
    text = _status(judge, judge["since"])
    if judge["error_rate"] is not None:
        text.append(f", {judge['error_rate']:.1%} of {judge['n']:,} not measured")
    if cost["calls"]:
        text.append(f", {cost['calls']:,} calls for ${cost['dollars']:,.4g}")
    if judge["status"] in ("warning", "critical"):
        text.append("; the judge is broken, not the agent", "red")
    return text


def _drift(drift: dict[str, Any]) -> Text:
    on = {name: mark for name, mark in drift["aspects"].items() if mark["status"] == "warning"}
    text = _status(drift, None)
    if not drift["windows"]:
        text.append(f", {drift['reference']:,} samples of the reference so far")
    for name, mark in on.items():
        words = ASPECTS.get(name, name)
        detail = (
            f" ({make_printable(mark['detail'], LONG)})" if name in ("mix", "tool_errors") else ""
        )
        text.append(f"; {words} since {_format_time(mark['since'])}{detail}")
    return text


def _alerts(one: dict[str, Any]) -> Text:
    n = len(one["alerts"])
    text = Text().append(f"{n} open" if n else "none open", "bold" if n else "")
    if n and not one["deliveries"]:
        text.append("; no sink was notified: list sinks in monitor.yaml", "yellow")
    for sink, counts in one["deliveries"].items():
        text.append(f"; {make_printable(sink, NAME)} sent {counts['sent']:,}")
        if counts["failed"]:
            text.append(f", failed {counts['failed']:,}", "red")
    return text


def make_stream_table(one: dict[str, Any], out: Console) -> Table:
    """Return a table of dimensions and tags, the worst first; `lately` is the current block."""
    wide = out.width >= WIDE
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("stream", overflow="ellipsis", no_wrap=True, max_width=40 if wide else 25)
    table.add_column("status", no_wrap=True)
    for name in ("lately, 95% interval", "n", "ever"):
        table.add_column(name, justify="right", no_wrap=True)
    if wide:
        table.add_column("since", no_wrap=True)
    rows = [("overall", one)]
    for kind in ("dimension", "tag"):
        found = sorted(one[f"{kind}s"].items(), key=_badness)
        rows += [
            (f"{kind} {make_printable(name, NAME)}", stream) for name, stream in found[:MAX_STREAMS]
        ]
        if len(found) > MAX_STREAMS:
            rows.append((f"{len(found) - MAX_STREAMS} more, with --json", {}))
    for name, stream in rows:
        table.add_row(Text(name, "" if stream else "dim"), *(_row(stream, wide) if stream else ()))
    return table


def _badness(item: tuple[str, dict[str, Any]]) -> tuple[int, float, str]:
    name, stream = item
    rate = stream["pass_rate"]
    return -STATUSES.index(stream["status"]), 1.0 if rate is None else rate, name


def _row(stream: dict[str, Any], wide: bool) -> list[RenderableType]:
    now, rate, word = stream["current"], stream["pass_rate"], stream["status"]
    rate_now = now["pass_rate"]
    cells: list[RenderableType] = [
        Text(SHORT.get(word, word), COLOURS[word]),
        "" if rate_now is None else f"{rate_now:.1%} {_format_interval(now['pass_rate_interval'])}",
        f"{now['n']:,}",
        "" if rate is None else f"{rate:.1%}",
    ]
    if wide:
        cells.append("" if stream["since"] is None else _format_time(stream["since"]))
    return cells


def _urgency(notice: Notice) -> tuple[bool, int]:
    """Sort critical alerts first, and the overall rate before its parts."""
    return notice.severity != "critical", KINDS.index(notice.kind)


def _summarize_alert(notice: Notice) -> list[RenderableType]:
    """Return an alert in two or three lines."""
    details = facts(notice, _short)
    first = next(iter(details))
    sure = "" if notice.sure is None else f", sure {notice.sure:.2%}"
    lines: list[RenderableType] = [
        Text(headline(notice, _short), COLOURS[notice.severity]),
        Text(f"  {first} {details[first]}, since {_format_time(notice.since)}{sure}"),
    ]
    if notice.evidence:
        ids = ", ".join(map(_short, notice.evidence[:MAX_EVIDENCE]))
        more = len(notice.evidence) - MAX_EVIDENCE
        lines.append(Text(f"  see {ids}{f' and {more} more' if more > 0 else ''}"))
    return lines


def show_alerts(
    documents: list[dict[str, Any]], notices: list[Notice], to: Console | None = None
) -> None:
    """Print alerts and their deliveries, the newest first."""
    out = to or make_console()
    if not documents:
        out.print(Text("no alerts"))
    for document, notice in zip(documents, notices, strict=True):
        is_open = document["open"]
        firing = is_open and notice.state == "firing"
        colour = COLOURS[notice.severity] if firing else "green" if is_open else "dim"
        state = "open" if is_open else document["kind"] if document["ended"] is None else "over"
        words = Text(f"{document['number']} {state}: {headline(notice, _short)}", colour)
        out.print(words)
        grid = Table.grid(padding=(0, 2))
        for label, value in facts(notice, _short).items():
            grid.add_row(f"  {label}", Text(value))
        if document["ended"] is not None:
            grid.add_row("  until", _format_time(document["ended"]))
        for sink, delivery in document["deliveries"].items():
            grid.add_row(f"  {make_printable(sink, NAME)}", Text(_format_delivery(delivery)))
        out.print(grid)


def _format_delivery(delivery: dict[str, Any]) -> str:
    if delivery["state"] == "not told":
        return f"not sent: {make_printable(delivery['error'], LONG)}"
    text = f"sent {delivery['sent']} times" if delivery["sent"] != 1 else "sent once"
    if delivery["error"]:
        tries = f"{delivery['attempts']} attempts failed"
        text += f", {tries}: {make_printable(delivery['error'], LONG)}"
    return text


def _short(text: str) -> str:
    return make_printable(text, NAME)


def _format_interval(interval: list[float]) -> str:
    return "[{:.1%}, {:.1%}]".format(*interval)


def _format_time(at: float) -> str:
    """Return a local time as text."""
    return time.strftime("%m-%d %H:%M", time.localtime(at))
