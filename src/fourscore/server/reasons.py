"""The reasons that may leave the server: our own words, never a judge's.

A judge explains itself with what it compared ("the box holds '7', the reference is '8'"), and an
exception may quote anything. A trainer's machine that can read references can be trained on them.
So a reply says only what kind of thing happened; the judge's own words go to the server's log.
"""

import logging
import time

from fourscore.core import Score
from fourscore.train.trainer_output import describe_failure

LOG = logging.getLogger("fourscore.server")
#: Characters of a judge's words in one line of the log.
MOST = 500


def reason_of(score: Score) -> str:
    """Why there is no reward; empty where there is one."""
    return "" if score.reward is not None else describe_failure(score)


def fault_kind(score: Score) -> str | None:
    """What kept a score from being measured, where a judge said so."""
    return next((signal.fault.kind for signal in score.signals if signal.fault is not None), None)


class Diary:
    """Tells the operator why judges fail: a line a second at most, or a broken one fills disks."""

    def __init__(self) -> None:
        self._next, self._kept_back = 0.0, 0

    def note(self, task_id: str, score: Score) -> None:
        now = time.monotonic()
        if now < self._next:
            self._kept_back += 1
            return
        more = f" ({self._kept_back} more since the last line)" if self._kept_back else ""
        self._next, self._kept_back = now + 1.0, 0
        # repr: the words may hold line breaks and terminal codes of whoever wrote the answer.
        LOG.warning("task %r: %s: %r%s", task_id[:80], score.status, score.reason[:MOST], more)
