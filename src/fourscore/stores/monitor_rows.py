"""What goes into the store of a monitor and comes out of it; the JSON inside is the caller's."""

from collections.abc import Callable, Sequence
from typing import NamedTuple


class SampleRow(NamedTuple):
    """One sample to be kept. `body` and `text` are JSON; None is a text that is not kept.

    `drawn` is one that the sampling took, which counts; the others were kept for their own sake.
    """

    id: str
    at: float
    drawn: bool
    status: str
    passed: bool | None
    value: float | None
    body: bytes
    text: bytes | None = None


class NewAlert(NamedTuple):
    """An alert that a fold gives: it ends the former one of its stream, and may open a new one."""

    stream: str
    at: float
    open: bool
    body: bytes


class StoredSample(NamedTuple):
    """A sample as it was kept; `text` only where a single one was asked for, and still there."""

    number: int
    id: str
    drawn: bool
    body: bytes
    text: bytes | None = None


class Spending(NamedTuple):
    """Model calls, tokens and dollars; a difference may be negative."""

    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0

    def plus(self, other: "Spending", sign: int = 1) -> "Spending":
        calls, tokens, dollars = other
        return Spending(
            self.calls + sign * calls, self.tokens + sign * tokens, self.dollars + sign * dollars
        )


#: The state before (None at first) and the new samples that count; the state after, and alerts.
Fold = Callable[[bytes | None, Sequence[SampleRow]], tuple[bytes, Sequence[NewAlert]]]
