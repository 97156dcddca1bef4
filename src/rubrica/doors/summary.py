"""What a person sees of a run: a line while it goes, a summary when it is over."""

import sys
import time
from collections import Counter
from typing import Any, Self

from rubrica.phases.test import Outcome
from rubrica.stores.run import RunInfo


class Ticker:
    """One line on a terminal that keeps up with a run; nothing anywhere else."""

    EVERY = 0.1

    def __init__(self, planned: int) -> None:
        self.planned, self.done, self.passed = planned, 0, 0
        self.others: Counter[str] = Counter()
        self._shown = sys.stderr.isatty()
        self._started = self._last = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, outcome: Outcome) -> None:
        self.done += 1
        self.passed += outcome.score.passed is True
        if outcome.score.status != "scored":
            self.others[str(outcome.score.status)] += 1
        if self._shown and time.monotonic() - self._last >= self.EVERY:
            self._last = time.monotonic()
            self._write()

    def _write(self) -> None:
        took = max(1e-9, self._last - self._started)
        others = "".join(f", {n} {status}" for status, n in sorted(self.others.items()))
        line = f"{self.done}/{self.planned}, {self.passed} passed{others}, {self.done / took:.0f}/s"
        sys.stderr.write(f"\r\x1b[K{line}")
        sys.stderr.flush()

    def close(self) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


def show(info: RunInfo, document: dict[str, Any], seconds: float | None = None) -> None:
    """The summary of a run on stdout."""
    say = sys.stdout.write
    title = f"run {info.id}" + (f" ({info.name})" if info.name else "")
    say(f"{title}: {info.agent}\n")
    parts = " + ".join(f"{n} {status}" for status, n in document["statuses"].items() if n)
    say(f"{document['planned']} planned = {parts or 'nothing'}\n")
    say(f"pass rate      {_rate(document['pass_rate'], document['pass_rate_interval'])}")
    say(f"   {document['passed']} of {document['total_tests']}\n")
    average = document["average_score"]
    if average is not None:
        interval = _ends(document["average_score_interval"], "{:.3f}")
        say(f"average score  {average:.3f}{interval}   n={document['average_score_n']}\n")
    wide = max((len(name) for name in document["dimensions"]), default=0)
    for name, line in document["dimensions"].items():
        if line["average"] is None:
            say(f"  {name:{wide}}  not applicable\n")
            continue
        bar = "█" * round(20 * line["average"])
        say(f"  {name:{wide}}  {line['average']:.3f} {bar:20} n={line['n']}\n")
    for kind in ("pass@k", "pass^k"):
        if kind in document:
            rates = ", ".join(f"{k}: {line['rate']:.3f}" for k, line in document[kind].items())
            say(f"{kind}         {rates}\n")
    for title, groups in (("tag", document["by_tag"]), ("complexity", document["by_complexity"])):
        if len(groups) > 1:
            for name, line in list(groups.items())[:10]:
                rate = _rate(line["pass_rate"], line["pass_rate_interval"])
                say(f"  {title} {_plain(name)}: {rate}   n={line['total_tests']}\n")
    for failure in document["failures"][:5]:
        say(f"  failed: {_plain(failure['id'])} (repeat {failure['repeat']})\n")
    for gate in document.get("gates", []):
        say(f"gate {'passed' if gate['met'] else 'FAILED'}: {_plain(gate['reason'])}\n")
    took = f"   {seconds:.1f} s" if seconds is not None else ""
    say(f"rubrica show {info.id} explains{took}\n")


def _rate(rate: float | None, interval: list[float] | None) -> str:
    return "not measured" if rate is None else f"{rate:.1%}{_ends(interval, '{:.1%}')}"


def _ends(interval: list[float] | None, form: str) -> str:
    if interval is None:
        return ""
    low, high = (form.format(end) for end in interval)
    return f" [{low}, {high}]"


def _plain(text: str) -> str:
    """Foreign text on a terminal: no escapes, no lines of its own."""
    return text if text.isprintable() else repr(text)[1:-1]
