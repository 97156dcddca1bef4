"""A run on a terminal: a progress line while it runs, and a panel with its summary at the end.

On a pipe there is no progress line, and the panel is plain lines of text.
"""

import shlex
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from fourscore.core.levels import find_level
from fourscore.formats.plain_text import make_printable
from fourscore.judges.calibrated_rate import describe_corrected_rate
from fourscore.report.streams import show_progress
from fourscore.report.summary_text import (
    describe_canaries,
    describe_judges,
    describe_spent_budget,
    describe_unmeasured,
    format_model_costs,
)
from fourscore.report.terminal import make_console, print_panel
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import DEFAULT_STORE, Store
from fourscore.test.run import AttemptOutcome

#: Characters of a dimension's bar, and of the progress bar.
BAR, PROGRESS = 20, 16
#: Tags shown: those with the lowest pass rate.
TAGS = 5
COLOURS = {
    "excellent": "green",
    "good": "green",
    "acceptable": "yellow",
    "poor": "red",
    "failed": "red",
}


class ProgressLine:
    """The progress of a run on one line of a terminal; nothing on a pipe."""

    EVERY = 0.1

    def __init__(self, planned: int, done: int = 0) -> None:
        self.planned, self.already = planned, done
        self.done = self.passed = self.failed = 0
        self.others: Counter[str] = Counter()
        self._shown = sys.stderr.isatty()
        self._started = self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, outcome: AttemptOutcome) -> None:
        self.done += 1
        self.passed += outcome.score.passed is True
        self.failed += outcome.score.passed is False
        if outcome.score.status != "scored":
            self.others[str(outcome.score.status)] += 1
        if self._shown and time.monotonic() - self._last >= self.EVERY:
            self._last = time.monotonic()
            show_progress(self.line(self._last - self._started))

    def line(self, took: float) -> str:
        """Return the progress after `took` seconds."""
        done, rate = self.already + self.done, self.done / max(took, 1e-9)
        full = round(PROGRESS * done / max(1, self.planned))
        others = "".join(f"  {n} {status}" for status, n in sorted(self.others.items()))
        left = _clock((self.planned - done) / rate) if rate else "?"
        return (
            f"{'█' * full}{'░' * (PROGRESS - full)} {done}/{self.planned}  {self.passed} passed  "
            f"{self.failed} failed{others}  {_rate(rate)}  {left} left"
        )

    def close(self) -> None:
        if self._shown:
            show_progress()
            self._shown = False


def find_previous_run(store: Store, info: RunInfo) -> tuple[RunInfo, dict[str, Any]] | None:
    """Return the newest earlier run over the same cases with the same rubric, measured in full."""
    for other in reversed(store.runs()):
        same = other.cases_digest == info.cases_digest and other.planned == info.planned
        if other.id != info.id and other.created <= info.created and same:
            summary = store.summary(other.id)
            same_rubric = other.rubric_fingerprint == info.rubric_fingerprint
            if summary is not None and same_rubric and _is_measured(summary):
                return other, summary
    return None


def print_run(
    info: RunInfo,
    document: dict[str, Any],
    *,
    seconds: float | None = None,
    before: tuple[RunInfo, dict[str, Any]] | None = None,
    store: str = "",
    to: Console | None = None,
) -> None:
    """Print the summary of a run; `store` is the result of `make_store_option`."""
    out = to or make_console()
    parts: list[RenderableType] = [
        *_headline(document),
        *_canaries(document),
        Text(),
        _dimensions(document),
        *_repeats(document),
        *_groups(document),
        *_failures(document),
        *_gates(document),
        *_budget(document),
        Text(),
        _footer(info, document, seconds, before, store),
    ]
    title = f"run {info.id}" + (f" ({make_printable(info.name, 60)})" if info.name else "")
    title += f": {make_printable(info.agent, 60)}"
    print_panel(out, title, parts, _frame(document))


def _frame(document: dict[str, Any]) -> str:
    failed = any(not gate["met"] for gate in document.get("gates", []))
    if failed or document.get("judge_compromised"):
        return "red"
    return "green" if document["total_tests"] == document["planned"] else "yellow"


def _headline(document: dict[str, Any]) -> list[Text]:
    rate = _share(document["pass_rate"], document["pass_rate_interval"])
    lines = [
        Text.assemble(
            "pass rate      ",
            (rate, "bold"),
            f"   {document['passed']} of {document['total_tests']}",
        )
    ]
    if corrected := describe_corrected_rate(document):
        lines.append(Text(f"corrected      {make_printable(corrected, 200)}"))
    average = document["average_score"]
    if average is not None:
        interval = _format_interval(document["average_score_interval"], "{:.3f}")
        n = document["average_score_n"]
        lines.append(Text(f"average score  {average:.3f}{interval}   n={n}"))
    parts = " + ".join(f"{n} {status}" for status, n in document["statuses"].items() if n)
    lines.append(Text(f"planned        {document['planned']} = {parts or 'nothing'}"))
    return lines


def _dimensions(document: dict[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, line in document["dimensions"].items():
        average = line["average"]
        missing = describe_unmeasured(line, document)
        if average is None:
            table.add_row(f"  {make_printable(name)}", "–", missing, "")
            continue
        colour = COLOURS[find_level(average)]
        full = round(BAR * average)
        bar = Text.assemble(("█" * full, colour), ("░" * (BAR - full), "dim"))
        ends = _format_interval(line["interval"], "{:.2f}").strip()
        n = f"{ends} n={line['n']}".strip() + (f", {missing}" if missing else "")
        table.add_row(f"  {make_printable(name)}", f"{average:.3f}", bar, n)
    return table


def _repeats(document: dict[str, Any]) -> list[Text]:
    return [
        Text(f"{kind:14} " + ", ".join(f"{k}: {line['rate']:.3f}" for k, line in rates.items()))
        for kind in ("pass@k", "pass^k")
        if (rates := document.get(kind))
    ]


def _groups(document: dict[str, Any]) -> list[RenderableType]:
    """Return the pass rates of the worst tags and of each complexity."""
    table = Table.grid(padding=(0, 2, 0, 0))
    tags = [(name, line) for name, line in document["by_tag"].items() if line["total_tests"]]
    worst = sorted(tags, key=lambda item: (item[1]["pass_rate"], item[0]))[:TAGS]
    rows = [("tag", *item) for item in worst] if len(tags) > 1 else []
    if len(document["by_complexity"]) > 1:
        rows += [("complexity", *item) for item in document["by_complexity"].items()]
    for kind, name, line in rows:
        share = _share(line["pass_rate"], line["pass_rate_interval"])
        table.add_row(f"  {kind} {make_printable(name, 40)}", share, f"n={line['total_tests']}")
    return [Text(), table] if rows else []


def _failures(document: dict[str, Any]) -> list[RenderableType]:
    """Return the worst failures and the first cases not measured, each with its reason."""
    left = document["unmeasured"]
    return [
        *_reasons(document, document["worst"], f"worst of {document['failed']} that failed"),
        *_reasons(document, document.get("unmeasured_first", []), f"{left} not measured"),
    ]


def _reasons(
    document: dict[str, Any], lines: list[dict[str, Any]], title: str
) -> list[RenderableType]:
    if not lines:
        return []
    table = Table.grid(padding=(0, 2, 0, 0))
    for line in lines:
        repeat = f" (repeat {line['repeat']})" if document["repeats"] > 1 else ""
        status = "" if line["status"] == "scored" else f"{line['status']}, "
        name = Text(f"  {make_printable(line['id'], 40)}{repeat}", "bold")
        table.add_row(name, f"{status}{make_printable(line['reason'], 240)}")
    return [Text(), Text(title), table]


def _gates(document: dict[str, Any]) -> list[RenderableType]:
    gates = document.get("gates", [])
    lines: list[RenderableType] = [Text()] if gates else []
    for gate in gates:
        word, colour = ("passed", "green") if gate["met"] else ("FAILED", "bold red")
        lines.append(Text.assemble("gate ", (word, colour), f": {make_printable(gate['reason'])}"))
    return lines


def _canaries(document: dict[str, Any]) -> list[Text]:
    return [
        Text.assemble(
            ("canaries       " if fine else "JUDGE COMPROMISED  ", "" if fine else "bold red"),
            f"{make_printable(name)} {words}",
        )
        for fine, name, words in describe_canaries(document)
    ]


def _budget(document: dict[str, Any]) -> list[RenderableType]:
    spent = describe_spent_budget(document)
    return [Text(), Text(spent, "bold yellow")] if spent else []


def _footer(
    info: RunInfo,
    document: dict[str, Any],
    seconds: float | None,
    before: tuple[RunInfo, dict[str, Any]] | None,
    store: str,
) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row("took", ("" if seconds is None else f"{seconds:.1f} s, ") + _cost(document))
    for at, line in enumerate(format_model_costs(document.get("models", []))):
        table.add_row("" if at else "models", make_printable(line, 200))
    if judged := describe_judges(document):
        table.add_row("judged by", make_printable(judged, 400))
    listed = [*document["worst"], *document.get("unmeasured_first", [])]
    worst = f" {shlex.quote(make_printable(listed[0]['id'], 60))}" if listed else ""
    if before is not None and not _is_measured(document):
        left = document["planned"] - document["total_tests"]
        words = f"{left} of {document['planned']} attempts were not measured"
        table.add_row("change", f"not known: {words}")
    elif before is not None:
        other, summary = before
        table.add_row("change", f"{_change(document, summary)}, since the last run")
        table.add_row("real?", Text(f"fourscore compare {other.id} {info.id}{store}", "bold"))
    judge = f" --scores {document['judge']}" if "judge" in document else ""
    table.add_row("next", Text(f"fourscore show {info.id}{worst}{judge}{store}", "bold"))
    return table


def make_store_option(path: str) -> str:
    """Return the `--store` option that a command needs to find the store, if it needs one."""
    whole, here = Path(path).resolve(), Path.cwd()
    if whole == (here / DEFAULT_STORE).resolve():
        return ""
    shown = whole.relative_to(here) if whole.is_relative_to(here) else whole
    return f" --store {shlex.quote(str(shown))}"


def _cost(document: dict[str, Any]) -> str:
    sides = document["cost"].values()
    tokens = sum(side[kind] for side in sides for kind in ("input_tokens", "output_tokens"))
    dollars = sum(side["dollars"] or 0.0 for side in sides)
    return f"${dollars:.4f}, {tokens:,} tokens" if tokens or dollars else "no cost recorded"


def _is_measured(document: dict[str, Any]) -> bool:
    """Return whether all planned attempts were measured: rates of parts have other cases."""
    planned: int = document["planned"]
    return planned > 0 and document["total_tests"] == planned


def _change(now: dict[str, Any], before: dict[str, Any]) -> str:
    if now["pass_rate"] is None or before.get("pass_rate") is None:
        return "not measured"
    points = 100 * (now["pass_rate"] - before["pass_rate"])
    change = f"pass rate {points:+.1f} points"
    if now["average_score"] is not None and before.get("average_score") is not None:
        change += f", score {now['average_score'] - before['average_score']:+.3f}"
    return change


def _share(rate: float | None, interval: list[float] | None) -> str:
    return "not measured" if rate is None else f"{rate:.1%}{_format_interval(interval, '{:.1%}')}"


def _format_interval(interval: list[float] | None, form: str) -> str:
    if interval is None:
        return ""
    low, high = (form.format(end) for end in interval)
    return f" [{low}, {high}]"


def _rate(rate: float) -> str:
    return f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
