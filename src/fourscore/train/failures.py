"""What a trainer is told of answers that could not be judged: warnings, a rate, and an end.

One answer without a reward says little, and must not end a run of days. All answers without one
mean that the judge or the data is broken: trained on, they would teach nothing and cost everything.
"""

import logging
import threading
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from fourscore.core import ConfigError, JudgeError, Score, Status

LOG = logging.getLogger("fourscore.train")
#: What happens where nothing could be judged: an exception, or only the warnings.
OnAllFailed = Literal["raise", "none"]
#: Answers in a row that were not judged, after which the judge counts as broken: before the first
#: judged answer, and later, when a model's endpoint may be away for a moment.
FIRST_IN_A_ROW, IN_A_ROW = 32, 256
#: Kinds of failure that are told apart; a judge may raise a new text each time.
MAX_KINDS = 50


class FailureLog:
    """Counts the answers of one adapter that were not judged. Threads may share it.

    Each kind of failure is logged as a warning at its first answer, then at the 10th, 100th, ….
    Before any answer was judged, a call of several answers none of which could be judged raises,
    and so do `FIRST_IN_A_ROW`; later only `IN_A_ROW`, over however many calls. Answers to which
    the rubric does not apply are no failures.
    """

    def __init__(self, name: str, on_all_failed: OnAllFailed = "raise") -> None:
        if on_all_failed not in ("raise", "none"):
            raise ConfigError("expected raise or none", field="on_all_failed")
        self.name, self.on_all_failed = name, on_all_failed
        self.asked = self.failed = self._in_a_row = 0
        self._has_judged = False
        self._kinds: Counter[str] = Counter()
        self._lock = threading.Lock()

    @property
    def rate(self) -> float:
        """The share of all answers so far that could not be judged."""
        return self.failed / self.asked if self.asked else 0.0

    def add(self, scores: Sequence[Score], *, may_raise: bool = True) -> None:
        """Count the scores of one call; log warnings; raise where nothing could be judged."""
        failed = [s for s in scores if s.reward is None and s.status is not Status.SKIPPED]
        judged = any(score.reward is not None for score in scores)
        with self._lock:
            self._in_a_row = 0 if judged else self._in_a_row + len(failed)
            self._has_judged |= judged
            has_judged = self._has_judged
            self.asked += len(scores)
            self.failed += len(failed)
            warnings = [self._count(score) for score in failed]
            in_a_row, rate = self._in_a_row, self.rate
        for warning in dict.fromkeys(filter(None, warnings)):
            share = f"{self.failed} of {self.asked} answers so far ({rate:.1%})"
            LOG.warning("%s: not judged: %s; %s", self.name, warning, share)
        if self.on_all_failed == "none" or not failed or not may_raise:
            return
        whole_call = not has_judged and len(failed) == len(scores) > 1
        if whole_call or in_a_row >= (IN_A_ROW if has_judged else FIRST_IN_A_ROW):
            why = describe_kind(failed[-1])
            raise JudgeError(
                f"{self.name}: none of {in_a_row} answers could be judged: {why}; "
                "on_all_failed: none goes on without"
            )

    def _count(self, score: Score) -> str:
        """Count a failure; return its warning where its count is 1, 10, 100, …"""
        kind = describe_kind(score)
        if kind not in self._kinds and len(self._kinds) >= MAX_KINDS:
            kind = "other reasons"
        self._kinds[kind] += 1
        n = self._kinds[kind]
        if n == 10 ** (len(str(n)) - 1):
            return f"{kind} ({n} {'times' if n > 1 else 'time'})"
        return ""

    def __reduce__(self) -> tuple[object, ...]:
        return (FailureLog, (self.name, self.on_all_failed))


def describe_kind(score: Score) -> str:
    """Return why an answer was not judged, without the task's name, at most 200 characters."""
    for signal in score.signals:
        if signal.fault is not None:
            message = signal.fault.message
            if message.startswith("task ") and "': " in message:
                message = message.partition("': ")[2]
            return f"{signal.name}: {' '.join(message.split())[:200]}"
    return f"{score.status}: {' '.join(score.reason.split())[:200]}"
