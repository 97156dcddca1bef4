"""What a store hands out: what is known of a run, a row of it, a person's verdict."""

import time
from secrets import token_hex
from typing import Any

import msgspec

from fourscore.core import Case, Score, Trace


def new_run_id(now: float | None = None) -> str:
    """An id that sorts by time: 20260131-142233-123-9f3a, in UTC."""
    now = time.time() if now is None else now
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return f"{stamp}-{int(now % 1 * 1000):03d}-{token_hex(2)}"


class RunInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All that is needed to say what a run was, and to do it again.

    `rubric` is the JSON text of the rubric's file form, `options` whatever the command was given.
    `finished` is filled in by the store.
    """

    id: str = msgspec.field(default_factory=new_run_id)
    name: str = ""
    created: float = msgspec.field(default_factory=time.time)
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    agent: str = ""
    agent_version: str | None = None
    git_commit: str | None = None
    cases_digest: str = ""
    cases_path: str = ""
    rubric_fingerprint: str = ""
    rubric: str = ""
    repeats: int = 1
    planned: int = 0
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    argv: tuple[str, ...] = ()
    finished: float | None = None

    def __post_init__(self) -> None:
        # It names a file beside the store, and people type it.
        if not self.id or len(self.id) > 80 or not set(self.id) <= _ID:
            raise ValueError(f"id: {self.id!r}: expected up to 80 letters, digits, '-' and '_'")


_ID = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


class StoredRow(msgspec.Struct, frozen=True, kw_only=True):
    """One case × repeat. `score` is None where no such judge has judged the trace.

    `attempt` counts how often the trace was made: 2 after one retry.
    """

    position: int
    repeat: int
    attempt: int
    case: Case
    trace: Trace
    score: Score | None


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """A person's verdict on one stored output; `stale` where a retry has replaced that output."""

    case_id: str
    repeat: int
    who: str
    verdict: str
    note: str
    created: float
    stale: bool
