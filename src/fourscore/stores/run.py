"""What a store returns: the description of a run, and its rows."""

import time
from secrets import token_hex
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from fourscore.core import Case, Score, Trace
from fourscore.core.secrets import hide_in_options, hide_in_spec, hide_known


def new_run_id(now: float | None = None) -> str:
    """Return an id that sorts by time: 20260131-142233-123-9f3a, in UTC."""
    now = time.time() if now is None else now
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return f"{stamp}-{int(now % 1 * 1000):03d}-{token_hex(2)}"


class RunInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The description of a run: all that is needed to repeat it.

    `rubric` is the JSON text of the rubric's file form, `options` the options of the command.
    `agent_digest` identifies agent and options of models without their secrets; `config` is the
    path of the configuration file. `finished` is filled in by the store.
    """

    id: str = msgspec.field(default_factory=new_run_id)
    name: str = ""
    created: float = msgspec.field(default_factory=time.time)
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    agent: str = ""
    agent_version: str | None = None
    agent_digest: str = ""
    git_commit: str | None = None
    cases_digest: str = ""
    cases_path: str = ""
    rubric_fingerprint: str = ""
    rubric: str = ""
    repeats: int = 1
    planned: int = 0
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    config: str = ""
    argv: tuple[str, ...] = ()
    finished: float | None = None

    def __post_init__(self) -> None:
        # It is part of a file name beside the store, and people type it.
        if not self.id or len(self.id) > 80 or not set(self.id) <= _ID:
            raise ValueError(f"id: {self.id!r}: expected up to 80 letters, digits, '-' and '_'")
        # What was typed may hold a password or a key; a store, a report and an export hold none.
        force_setattr(self, "agent", hide_in_spec(self.agent))
        force_setattr(self, "name", _hide(self.name))
        force_setattr(self, "labels", {key: _hide(text) for key, text in self.labels.items()})
        force_setattr(self, "argv", tuple(map(_hide, self.argv)))
        force_setattr(self, "options", {k: _hide_option(k, v) for k, v in self.options.items()})
        force_setattr(self, "rubric", hide_known(self.rubric))


def _hide_option(name: str, value: Any) -> Any:
    """Return a setting without secrets; conditions that choose cases stay as they are."""
    if name in ("labels", "name"):
        return hide_in_options(value, remember=False)
    return hide_in_options(value) if name in ("agent", "models") else value


def _hide(text: str) -> str:
    """Return text that people chose without secrets; what it says may stand in answers too."""
    return hide_in_spec(text, remember=False)


class SummaryFields(msgspec.Struct, frozen=True, kw_only=True):
    """The fields of a stored summary that are read again, where it has them."""

    pass_rate: float | None = None
    average_score: float | None = None
    total_tests: int = 0
    dimensions: dict[str, Any] = {}


_ID = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


class StoredRow(msgspec.Struct, frozen=True, kw_only=True):
    """One case × repeat. `score` is None where the judge has not scored the trace.

    `attempt` counts how often the agent was run: 2 after one retry.
    """

    position: int
    repeat: int
    attempt: int
    case: Case
    trace: Trace
    score: Score | None
