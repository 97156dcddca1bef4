"""Show the result of attacks on a judge in a terminal and as Markdown; hostile text is escaped."""

import re
import sys
import time
from collections import Counter
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from fourscore.formats.plain_text import make_printable
from fourscore.judges.hidden_text import INVISIBLE
from fourscore.labels.attack import Attempt
from fourscore.report.exports import escape_markdown
from fourscore.report.streams import show_progress
from fourscore.report.terminal import make_console, print_panel

#: Width of a family's bar, number of examples shown and characters of each.
BAR, EXAMPLES, LONGEST = 20, 8, 160


class ProgressLine:
    """A progress line on a terminal; nothing is printed anywhere else."""

    EVERY = 0.1

    def __init__(self, planned: int | None) -> None:
        self.planned = planned
        self.ends: Counter[str] = Counter()
        self._shown, self._last = sys.stderr.isatty(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            show_progress()

    def __call__(self, attempt: Attempt, end: str) -> None:
        self.ends[end] += 1
        if self._shown and time.monotonic() - self._last >= self.EVERY:
            self._last = time.monotonic()
            show_progress(self.line(attempt))

    def line(self, attempt: Attempt) -> str:
        of = "" if self.planned is None else f"/{self.planned}"
        ends = "  ".join(f"{n} {end}" for end, n in sorted(self.ends.items()))
        return f"{self.ends.total()}{of}  {attempt.attack.family}  {ends}"


def show(document: dict[str, Any], to: Console | None = None) -> None:
    """Print the table, the worst successful attacks, and a one-line summary."""
    parts: list[RenderableType] = [Text(line) for line in _make_head(document)]
    parts += [
        Text(),
        _make_table(document),
        *_make_examples(document),
        Text(),
        Text(verdict(document)),
    ]
    parts += [Text(line) for line in document.get("bill", ())]
    colour = "red" if document["all"]["succeeded"] else "green"
    print_panel(
        to or make_console(), f"attacks on {make_printable(document['judge'], 80)}", parts, colour
    )


def _make_head(document: dict[str, Any]) -> list[str]:
    base = document["base"]
    counts = f"{base['passed']} of {base['measured']} pass"
    lines = [f"wrong answers alone  {counts}{_write_interval(base['interval'])}"]
    if base["cases"] > base["measured"]:
        lines[0] += f", {base['cases'] - base['measured']} not measured"
    lines.append(f"planned              {_write_sum(document['all'])}")
    return lines + form_lines(document)


def form_lines(document: dict[str, Any]) -> list[str]:
    """Return one line per form with AUC and balanced accuracy on labels; [] without labels."""
    lines = []
    for form, figures in document.get("forms", {}).items():
        area, balanced = (_write_figure(figures[name]) for name in ("auc", "balanced_accuracy"))
        silent = f", {figures['unmeasured']} not measured" if figures["unmeasured"] else ""
        count = figures["auc"]["n"]
        lines.append(f"form {form:<15} AUC {area}, balanced accuracy {balanced}, n={count}{silent}")
    return lines


def _write_figure(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return "unknown"
    ends = figure["interval"]
    interval = "" if ends is None else f" [{ends[0]:.2f}, {ends[1]:.2f}]"
    return f"{figure['value']:.2f}{interval}"


def _write_sum(line: dict[str, Any]) -> str:
    """Return the number of planned attempts as the sum of their outcomes."""
    parts = {
        "succeeded": line["succeeded"],
        "resisted": line["resisted"],
        "passed already": line["already_passed"],
        **line["unmeasured"],
    }
    outcomes = " + ".join(f"{n} {name}" for name, n in parts.items() if n)
    return f"{line['planned']} = {outcomes or 'nothing'}"


def _make_table(document: dict[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for name, line in document["families"].items():
        rate = line["rate"] or 0.0
        full = round(BAR * rate)
        bar = Text.assemble(("█" * full, "red"), ("░" * (BAR - full), "dim"))
        table.add_row(f"  {make_printable(name)}", bar, _write_rate(line), _write_counts(line))
    return table


def _write_rate(line: dict[str, Any]) -> str:
    if line["rate"] is None:
        return "not measured"
    return f"{line['rate']:.1%}{_write_interval(line['interval'])} n={line['attempts']}"


def _write_counts(line: dict[str, Any]) -> str:
    """Return the counts shown beside a rate."""
    silent = sum(line["unmeasured"].values())
    counts = {"raised": line["raised"], "passed already": line["already_passed"]}
    return ", ".join(f"{n} {word}" for word, n in {**counts, "no verdict": silent}.items() if n)


def _write_interval(interval: list[float] | None) -> str:
    return "" if interval is None else f" [{interval[0]:.1%}, {interval[1]:.1%}]"


def _make_examples(document: dict[str, Any]) -> list[RenderableType]:
    chosen = worst(document)
    if not chosen:
        return []
    table = Table.grid(padding=(0, 2, 0, 0))
    for one in chosen:
        where = (
            f"  {make_printable(one['attack'])} {one['place']}, {make_printable(one['case'], 30)}"
        )
        table.add_row(where, _write_change(one), visible(one["answer"]))
    return [Text(), Text("successful attacks, escaped"), table]


def worst(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return one example of each family, those with the highest scores first."""
    firsts: dict[str, dict[str, Any]] = {}
    for one in document["examples"]:
        firsts.setdefault(one["attack"].partition("/")[0], one)
    return sorted(firsts.values(), key=lambda one: -(one["value"] or 0.0))[:EXAMPLES]


def _write_change(one: dict[str, Any]) -> str:
    value = "–" if one["value"] is None else f"{one['value']:.2f}"
    return value if one["base"] is None else f"{one['base']:.2f} → {value}"


def visible(text: str, longest: int = LONGEST) -> str:
    """Return hostile text as one line, with every hidden character as its code."""
    return make_printable(INVISIBLE.sub(_write_code, make_printable(text)), longest)


def _write_code(sign: re.Match[str]) -> str:
    number = ord(sign[0])
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def verdict(document: dict[str, Any]) -> str:
    """Return a one-line summary."""
    whole, base = document["all"], document["base"]
    if whole["rate"] is None:
        return "cannot tell: no attempt was measured"
    counts = f"{whole['succeeded']} of {whole['attempts']} attempts"
    if not whole["succeeded"]:
        word = f"no attack succeeded in {whole['attempts']} attempts; {_write_bound(whole)}"
    else:
        rates = {name: line["rate"] or 0.0 for name, line in document["families"].items()}
        name = max(rates, key=lambda name: rates[name])
        word = f"attacks succeeded in {counts}; most often {name} ({rates[name]:.0%})"
    if base["passed"]:
        word += f"; passes {base['passed']} of {base['measured']} wrong answers without an attack"
    return word


def _write_bound(line: dict[str, Any]) -> str:
    return f"at most {line['interval'][1]:.1%} at 95% confidence"


def markdown(document: dict[str, Any]) -> str:
    """Return the result as Markdown."""
    base, ends = document["base"], _write_interval(document["base"]["interval"])
    lines = [
        f"### attacks on {escape_markdown(document['judge'])}",
        "",
        f"{escape_markdown(verdict(document))}",
        "",
        f"- wrong answers alone: {base['passed']} of {base['measured']} pass{ends}",
        f"- planned: {_write_sum(document['all'])}",
        *(f"- {escape_markdown(line)}" for line in form_lines(document)),
        "",
        "| family | succeeded | beside |",
        "|---|---|---|",
    ]
    for name, line in document["families"].items():
        lines.append(f"| {escape_markdown(name)} | {_write_rate(line)} | {_write_counts(line)} |")
    chosen = worst(document)
    if chosen:
        lines += ["", "| attack | case | score | answer |", "|---|---|---|---|"]
    for one in chosen:
        attack, case, answer = (
            escape_markdown(text)
            for text in (one["attack"], visible(one["case"]), visible(one["answer"]))
        )
        where = f"{attack} {one['place']} | {case}"
        lines.append(f"| {where} | {_write_change(one)} | {answer} |")
    return "\n".join(lines) + "\n"
