"""Why an output has no reward: what a reply may say of it, and what the server's log says.

A judge explains itself with what it compared ("the box holds '7', the reference is '8'"), and an
exception may quote anything. A trainer's machine that can read references can be trained on them.
So a reply names only the kind of failure; the judge's own text goes to the server's log.
"""

import logging
import time

from fourscore.core import Score
from fourscore.train.trainer_output import describe_failure

LOG = logging.getLogger("fourscore.server")
#: Characters of a judge's text in one line of the log.
MAX_LOGGED = 500


def get_reason(score: Score) -> str:
    """Return why there is no reward, for a reply; empty where there is one."""
    return "" if score.reward is not None else describe_failure(score)


def get_fault_kind(score: Score) -> str | None:
    """Return the kind of the first fault among the signals of a score."""
    return next((signal.fault.kind for signal in score.signals if signal.fault is not None), None)


class FailureLog:
    """Logs why outputs have no reward, at most one line a second: a broken judge fills disks."""

    def __init__(self) -> None:
        self._next_line, self._suppressed = 0.0, 0

    def add(self, task_id: str, score: Score) -> None:
        now = time.monotonic()
        if now < self._next_line:
            self._suppressed += 1
            return
        more = f" ({self._suppressed} more since the last line)" if self._suppressed else ""
        self._next_line, self._suppressed = now + 1.0, 0
        # repr: the text may hold line breaks and terminal codes from the answer.
        text = score.reason[:MAX_LOGGED]
        LOG.warning("task %r: %s: %r%s", task_id[:80], score.status, text, more)
