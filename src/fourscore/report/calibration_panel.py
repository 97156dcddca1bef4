"""Show a calibration in a terminal and as Markdown: every line has value, interval and n."""

import sys
import time
from collections.abc import Iterator
from typing import Self

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from fourscore.formats.plain_text import make_printable
from fourscore.judges.calibrated_rate import METHODS
from fourscore.labels.calibrate import Calibration
from fourscore.report.exports import escape_markdown
from fourscore.report.streams import show_progress
from fourscore.report.terminal import make_console, print_panel
from fourscore.stats.intervals import IntervalEstimate
from fourscore.stats.judge_bias import GroupBias

WORDS = {
    "people": "people pass",
    "judge": "judge passes",
    "judge_on_the_rest": "judge passes, without labels",
    "better_than_chance": "sens. + spec. - 1",
    "none": "kappa",
    "linear": "kappa, linear",
    "quadratic": "kappa, quadratic",
    "auc": "AUC of pass over fail",
    "pearson": "Pearson's r",
    "spearman": "Spearman's rho",
    "kendall": "Kendall's tau",
    "f1": "F1",
}
#: A heading and its lines: name, figure and format.
Part = tuple[str, list[tuple[str, IntervalEstimate, str]]]
SHARE, NUMBER, SIGNED = "{:.1%}", "{:.3f}", "{:+.3f}"


class ProgressLine:
    """A progress line on a terminal; nothing is printed anywhere else."""

    EVERY = 0.1

    def __init__(self, planned: int) -> None:
        self.planned, self.done = planned, 0
        self._shown, self._last = sys.stderr.isatty(), 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            show_progress()

    def __call__(self) -> None:
        self.done += 1
        if self._shown and time.monotonic() - self._last >= self.EVERY:
            self._last = time.monotonic()
            show_progress(f"{self.done}/{self.planned} judged")


def show(found: Calibration, to: Console | None = None) -> None:
    """Print the calibration."""
    out = to or make_console()
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", "value", "95% interval", "n"):
        table.add_column(name, justify="left" if not name else "right")
    for heading, lines in parts(found):
        table.add_row(Text(heading, "bold"), "", "", "")
        for name, figure, form in lines:
            table.add_row(
                f"  {make_printable(name, 40)}", *_write_cells(figure, form), str(figure.n)
            )
    errors = found.errors
    shown: list[RenderableType] = [
        *(Text(line, "bold") for line in headline(found)),
        table,
        Text(f"people pass: judge passes {errors.true_pass}, fails {errors.false_fail}"),
        Text(f"people fail: judge passes {errors.false_pass}, fails {errors.true_fail}"),
    ]
    if found.left_out:
        left_out = ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in found.left_out.items())
        shown.append(Text(f"left out: {left_out}"))
    title = f"{make_printable(found.judge or 'judge', 60)} against people"
    print_panel(
        out, title, shown, "green" if found.corrected or not found.uncorrected else "yellow"
    )


def markdown(found: Calibration) -> str:
    """Return the calibration as Markdown."""
    lines = [f"# {escape_markdown(found.judge or 'A judge')} against people", ""]
    lines += [f"{escape_markdown(line)}  " for line in headline(found)]
    for heading, figures in parts(found):
        lines += ["", f"## {heading}", "", "| | value | 95% interval | n |", "|---|---|---|---|"]
        for name, figure, form in figures:
            cells = " | ".join((escape_markdown(name), *_write_cells(figure, form), str(figure.n)))
            lines.append(f"| {cells} |")
    errors = found.errors
    lines += ["", "| | judge passes | judge fails |", "|---|---|---|"]
    lines.append(f"| people pass | {errors.true_pass} | {errors.false_fail} |")
    lines.append(f"| people fail | {errors.false_pass} | {errors.true_fail} |")
    if found.left_out:
        left_out = ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in found.left_out.items())
        lines += ["", f"Left out: {left_out}."]
    return "\n".join(lines) + "\n"


def headline(found: Calibration) -> Iterator[str]:
    """Yield the corrected pass rate, or why there is none, and the number of labels."""
    rate = found.corrected
    if rate is not None:
        ends = "[{:.1%}, {:.1%}]".format(*rate.interval)
        yield f"corrected pass rate  {rate.value:.1%} {ends}   n={rate.n}, {METHODS[rate.method]}"
    else:
        yield f"no corrected pass rate: {found.uncorrected}"
    several = f" by {found.people} people" if found.people > 1 else ""
    yield f"from {found.n} outputs labelled{several}"


def parts(found: Calibration) -> Iterator[Part]:
    """Yield all figures by heading, in the order in which they are shown."""
    yield "pass rates", _name_figures(found.rates, SHARE)
    shown = {name: figure for name, figure in found.verdicts.items() if name != "recall"}
    yield "pass and fail", _name_figures(shown, NUMBER, {"sensitivity": "recall (sensitivity)"})
    yield "agreement", _name_figures(found.kappa, NUMBER)
    yield "Krippendorff's alpha, people and judge", _name_figures(found.alpha, NUMBER)
    if found.alpha_people:
        yield "Krippendorff's alpha, people alone", _name_figures(found.alpha_people, NUMBER)
    yield "values", _name_figures(found.values, NUMBER)
    yield "judge minus people", [("by log length", found.by_length, SIGNED)]
    for heading, groups in (("position", found.by_position), ("family", found.by_family)):
        if groups:
            yield f"judge minus people, by {heading}", list(_list_groups(groups))


def _list_groups(groups: list[GroupBias]) -> Iterator[tuple[str, IntervalEstimate, str]]:
    for group in groups:
        yield group.name, group.difference, SIGNED
        if group.excess.value is not None:
            yield f"{group.name}, minus the other groups", group.excess, SIGNED


def _name_figures(
    figures: dict[str, IntervalEstimate], form: str, words: dict[str, str] | None = None
) -> list[tuple[str, IntervalEstimate, str]]:
    known = {**WORDS, **(words or {})}
    return [
        (known.get(name, name.replace("_", " ")), figure, form) for name, figure in figures.items()
    ]


def _write_cells(figure: IntervalEstimate, form: str) -> tuple[str, str]:
    value = "–" if figure.value is None else form.format(figure.value)
    ends = "–"
    if figure.interval is not None:
        ends = "[{}, {}]".format(*(form.format(end) for end in figure.interval))
    return value, ends
