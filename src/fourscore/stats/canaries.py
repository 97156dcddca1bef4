"""Canaries of a run: how many each judge was asked about, and how many it passed."""

from typing import Any

from fourscore.core import Score, Signal


class Canaries:
    """Feed it with signals, or with a whole score."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int]] = {}

    def add(self, signal: Signal) -> None:
        if signal.canary is not None:
            counts = self._counts.setdefault(signal.name, [0, 0])
            counts[0] += 1
            counts[1] += signal.canary.passed

    def add_all(self, score: Score) -> None:
        for signal in score.signals:
            self.add(signal)

    def document(self) -> dict[str, Any]:
        """Nothing where none were asked. One that passed is reason enough to look at the judge."""
        if not self._counts:
            return {}
        counts = sorted(self._counts.items())
        return {
            "canaries": {name: {"asked": n, "passed": passed} for name, (n, passed) in counts},
            "judge_compromised": any(passed for _, (_, passed) in counts),
        }
