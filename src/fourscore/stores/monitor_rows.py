"""Rows of a monitor's store; the JSON inside them is the caller's."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec


class SampleRow(msgspec.Struct, frozen=True, kw_only=True):
    """One sample to be stored. `body` and `text` are JSON; `text` is None where it is not kept.

    A sample that is not `drawn` was selected by a rule, and does not count in the state.
    """

    id: str
    at: float
    drawn: bool
    status: str
    passed: bool | None
    value: float | None
    body: bytes
    text: bytes | None = None


class NewAlert(msgspec.Struct, frozen=True, kw_only=True):
    """An alert from a fold: it ends the former one of its stream, and may open a new one."""

    stream: str
    at: float
    open: bool
    body: bytes


class StoredSample(msgspec.Struct, frozen=True, kw_only=True):
    """A stored sample; `text` only where a single one was read and its text has not expired."""

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


#: From the state before (None at first) and the new drawn samples to the state after and alerts.
Fold = Callable[[bytes | None, Sequence[SampleRow]], tuple[bytes, Sequence[NewAlert]]]
