"""`fourscore monitor watch`: a live view of the pass rate and the worst interactions."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fourscore.formats.plain_text import make_printable
from fourscore.monitor.sample import Sample, read_sample
from fourscore.monitor.status import monitor_document
from fourscore.report.monitor_panel import COLOURS, NAME, make_summary
from fourscore.report.terminal import NARROWEST
from fourscore.stores.monitor import MonitorStore

BARS = "▁▂▃▄▅▆▇█"
#: Samples behind the line, and columns of it.
LINE_SAMPLES, COLUMNS = 600, 60
#: Interactions shown.
MAX_WORST = 8
#: Characters shown of an id or a query.
LONG = 60


def view_document(store: MonitorStore, name: str) -> dict[str, Any]:
    """Return the monitor, its pass rate over time, and the worst of its newest samples."""
    newest = [
        read_sample(stored.body)
        for stored in store.samples(name, limit=LINE_SAMPLES)
        if stored.drawn
    ]
    measured = [sample for sample in reversed(newest) if sample.passed is not None]
    worst = [read_sample(stored.body) for stored in store.worst(name, limit=MAX_WORST)]
    return {
        **monitor_document(store, name),
        "line": [list(each) for each in pass_rate_buckets(measured, COLUMNS)],
        "worst_recent": [_sample_document(sample) for sample in worst if not sample.passed],
    }


def pass_rate_buckets(samples: Sequence[Sample], most: int) -> Iterator[tuple[float, int, float]]:
    """Yield rate, n and start time of groups of equally many samples."""
    size = max(5, -(-len(samples) // most))
    for start in range(len(samples) % size, len(samples), size):  # the newest group is full
        some = samples[start : start + size]
        weight = sum(sample.weight for sample in some)
        passed = sum(sample.weight for sample in some if sample.passed)
        yield passed / weight, len(some), some[0].at


def _sample_document(sample: Sample) -> dict[str, Any]:
    return {
        "id": sample.id,
        "at": sample.at,
        "status": str(sample.status),
        "score": sample.value,
        "tags": list(sample.tags),
        "query": sample.query,
        "output": sample.preview,
        "reason": sample.reason,
    }


def sparkline(line: Sequence[Sequence[float]], warning: float, critical: float) -> Text:
    """Return bars from the lowest rate, or the critical threshold if lower, up to 1."""
    floor = min([critical, *(rate for rate, *_ in line)])
    text = Text()
    for rate, *_ in line:
        at = round((rate - floor) / max(1e-9, 1 - floor) * (len(BARS) - 1))
        colour = "red" if rate < critical else "yellow" if rate < warning else "green"
        text.append(BARS[at], colour)
    return text


def make_view(one: dict[str, Any], out: Console) -> RenderableType:
    """Return the whole screen."""
    rules = one["thresholds"]
    parts: list[RenderableType] = [
        Text(f"monitor {make_printable(one['name'], NAME)}", COLOURS[one["worst_status"]]),
        make_summary(one),
    ]
    if one["line"]:
        line = sparkline(one["line"], rules["pass_rate_warning"], rules["pass_rate_critical"])
        rate, n, _ = one["line"][-1]
        ago = time.strftime("%m-%d %H:%M", time.localtime(one["line"][0][2]))
        legend = f"{int(n)} samples a bar, since {ago}; the newest {rate:.0%}"
        parts += [Text(), Text.assemble("lately     ", line), Text(f"           {legend}", "dim")]
    if one["worst_recent"]:
        parts += [Text(), _worst(one["worst_recent"], out)]
    return Group(*parts)


def _worst(worst: Sequence[dict[str, Any]], out: Console) -> RenderableType:
    if out.width < NARROWEST or not out.is_terminal:
        return Group(Text("the worst of the newest that did not pass"), *map(_format_line, worst))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold", expand=True)
    table.add_column("did not pass", no_wrap=True, overflow="ellipsis", ratio=3)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("query", no_wrap=True, overflow="ellipsis", ratio=4)
    table.add_column("why", no_wrap=True, overflow="ellipsis", ratio=5)
    for each in worst:
        table.add_row(
            Text(make_printable(each["id"], LONG)),
            "" if each["score"] is None else f"{each['score']:.2f}",
            Text(make_printable(each["query"], LONG)),
            Text(make_printable(each["reason"] or each["status"], 2 * LONG)),
        )
    return table


def _format_line(each: dict[str, Any]) -> Text:
    score = "-" if each["score"] is None else f"{each['score']:.2f}"
    why = make_printable(each["reason"] or each["status"], 2 * LONG)
    id_, query = make_printable(each["id"], LONG), make_printable(each["query"], LONG)
    return Text(f"  {id_}  {score}  {query}  {why}")


def show(one: dict[str, Any], out: Console) -> None:
    """Print one view; without trailing spaces where stdout is not a terminal."""
    if out.is_terminal:
        out.print(make_view(one, out))
        return
    with out.capture() as captured:
        out.print(make_view(one, out))
    out.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    out.file.flush()


def watch(store: MonitorStore, name: str, seconds: float, out: Console) -> NoReturn:
    """Update the view until interrupted; on a pipe, print one view after the other."""
    if not out.is_terminal:
        while True:
            show(view_document(store, name), out)
            time.sleep(seconds)
    with Live(console=out, screen=True, auto_refresh=False) as live:
        while True:
            live.update(make_view(view_document(store, name), out), refresh=True)
            time.sleep(seconds)
