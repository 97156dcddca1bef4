"""Show a learning run in a terminal: its plan, its progress and its result."""

import sys
import time
from collections.abc import Mapping
from typing import Any

from fourscore.formats.plain_text import make_printable
from fourscore.models.budget import Cost
from fourscore.models.model_pool import ModelPool
from fourscore.report.streams import print_message, show_progress

#: Seconds between two updates of the counter.
EVERY = 0.2
_FIGURES = {
    "spearman": "Spearman",
    "kendall": "Kendall",
    "kappa": "kappa of pass and fail",
    "first_right": "the best one found",
    "mean_absolute_error": "mean absolute error",
}


class ProgressCounter:
    """Prints to stderr: a count of verdicts on a terminal, and one line per round anywhere."""

    def __init__(self, at_most: int) -> None:
        self.at_most, self.done = at_most, 0
        self._shown, self._live = 0.0, sys.stderr.isatty()

    def step(self) -> None:
        self.done += 1
        if self._live and time.monotonic() - self._shown >= EVERY:
            self._shown = time.monotonic()
            show_progress(f"{self.done} verdicts, of {self.at_most} at most")

    def log(self, words: str) -> None:
        self.clear()
        print_message(words)

    def clear(self) -> None:
        if self._live:
            show_progress()


def format_plan(plan: Mapping[str, Any], model: str, pool: ModelPool) -> list[str]:
    """Return lines with the planned cost, and whether it fits the budget."""
    dollars = plan["dollars_about"]
    money = f"no price known for {model}" if dollars is None else f"about ${dollars:.2f}"
    seconds = plan["seconds_about"]
    tokens = f"about {plan['tokens_about']:,} tokens"
    calls = f"at most {plan['calls_at_most']:,} calls of {model}"
    lines = [f"plan: {calls}, {tokens}, {money}, {_duration(seconds)} at 2 s a call"]
    if pool.budget is not None:
        spent = pool.budget.spent
        whole = Cost(plan["calls_at_most"], plan["tokens_about"], dollars or 0.0)
        over = pool.budget.limits.exceeded(spent.plus(whole))
        if over is not None:
            lines.append(f"the budget of {over} may stop it earlier")
        if spent.calls:
            lines.append(f"of the budget {spent.calls} calls were spent before")
    return lines


def format_report(document: Mapping[str, Any]) -> list[str]:
    """Return lines with what was learned and its figures on held-out labels."""
    learned = document["learned"]
    figures = learned["figures"]
    lines = [f"{learned['outcome']}: {learned['why']}"]
    if "learned" in figures:
        ours, theirs = figures["learned"], figures["plain"]
        lines.append(f"held-out labels, n={ours['n']}: learned | plain prompt")
        for key, name in _FIGURES.items():
            if key in ours:
                lines.append(f"  {name}: {_figure(ours[key])} | {_figure(theirs[key])}")
        lines.append(
            f"  better than the plain prompt: p = {figures['better_p']:.4f}; "
            f"than shuffled labels: p = {figures['agreement_p']:.4f}; level {figures['level']:g}"
        )
    for name, dimension in document["dimensions"].items():
        options = dimension["with"]
        for one in options.get("criteria", ()):
            not_so = " (a no is good)" if one.get("expect") == "no" else ""
            lines.append(f"  {one['weight']:.3f}  {make_printable(one['text'])}{not_so}  [{name}]")
        if options.get("criterion"):
            lines.append(f"  {make_printable(options['criterion'])}")
    lines.append(f"stopped: {learned['stopped']}")
    return lines


def _figure(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "unknown"
    ends = figure["interval"]
    interval = "" if ends is None else f" [{ends[0]:.2f}, {ends[1]:.2f}]"
    return f"{figure['value']:.2f}{interval}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
