"""`Evolution`: versions of a prompt in a folder that a person can read and commit.

    evolution/
        evolution.yaml    the settings
        log.jsonl         every step with its evidence, a line each: the source of truth
        state.json        the current position: active, best, branches, what is pending
        versions/0007.md  the texts in use: active, best, branches, the newest five
        archive/0001.md   all others

A step is first prepared (a new text is written under a hidden name), then appended to the log as
one line, then applied to the other files (texts are renamed or archived, state.json is rewritten).
A process that is killed before the line is written has changed nothing. If it is killed after the
line, the step is done: whoever opens the folder next brings the other files up to date.
"""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fourscore.core import ConfigError, DataError
from fourscore.core.frozen import replace_surrogates
from fourscore.evolve import atomic_files as files
from fourscore.evolve.decision import Decision
from fourscore.evolve.history import (
    StrategyRecord,
    Version,
    decide_result,
    extend_history,
    read_history,
)
from fourscore.evolve.limits import Risk, Ruling, may_mutate
from fourscore.evolve.log import (
    AnyEvent,
    Decided,
    Executed,
    Log,
    Noted,
    Promoted,
    Proposed,
    Result,
    RolledBack,
    Started,
    Withdrawn,
    encode_event,
    format_time,
)
from fourscore.evolve.rollback import must_roll_back
from fourscore.evolve.settings import NAME, Settings, read_settings
from fourscore.evolve.state import check_state, encode_state, make_state, read_state
from fourscore.evolve.version_texts import VersionTexts, check_text

#: The most characters of a reason, which a model may have written.
LONGEST = 2000
_IGNORED = b".lock\n*.tmp\nruns.db*\n"


def _now() -> datetime:
    return datetime.now(UTC)


class Evolution:
    """An open evolution folder; `write=False` takes no lock and repairs nothing."""

    def __init__(
        self, path: str | Path, *, write: bool = True, now: Callable[[], datetime] = _now
    ) -> None:
        self.path, self._now = Path(path), now
        self._log, self._texts = Log(self.path / "log.jsonl"), VersionTexts(self.path)
        self._lock: files.Lock | None = None
        if not self._log.path.is_file():
            message = f"there is no log.jsonl in it; fourscore evolve init {self.path} creates one"
            raise DataError(message, file=str(self.path))
        try:
            self._lock = files.Lock(self.path / ".lock") if write else None
            if write:
                self._settle_settings()
            self.settings: Settings = read_settings(self.path / NAME)
            state = read_state(self._state)  # before the log, which may grow
            self.history = read_history(self._log)
            current = state is not None and check_state(self._state, state, self.history)
            if write:
                self._update_files(current=current)
            self._check_texts()
        except BaseException:
            self.close()
            raise

    @classmethod
    def begin(
        cls,
        path: str | Path,
        text: str,
        settings: str = "",
        *,
        source: str = "",
        now: Callable[[], datetime] = _now,
    ) -> Self:
        """Start an evolution in a new folder with `text` as version 1.

        `settings` is the text of evolution.yaml; an existing evolution.yaml is not changed.
        """
        path = Path(path)
        check_text(text)
        path.mkdir(parents=True, exist_ok=True)
        lock = files.Lock(path / ".lock")
        log = path / "log.jsonl"
        try:
            if log.exists() and not files.drop_partial_line(log):
                raise DataError("there is an evolution in it already", file=str(path))
            files.write(path / ".gitignore", _IGNORED)
            if (path / NAME).exists():
                read_settings(path / NAME)
            else:
                read_settings(files.prepare(path / NAME, settings.encode()))
            digest = VersionTexts(path).prepare(1, text)
            event = Started(at=format_time(now()), digest=digest, source=source)
            files.append(log, encode_event(event))
        finally:
            lock.release()
        return cls(path, now=now)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    # Reading

    @property
    def active(self) -> Version:
        return self.history.versions[self.history.active]

    @property
    def best(self) -> Version:
        return self.history.versions[self.history.best]

    @property
    def pending(self) -> Version | None:
        """The candidate without a decision; an interrupted step continues with it."""
        return self.history.pending

    @property
    def strategy_records(self) -> dict[str, StrategyRecord]:
        """The tried and accepted proposals of each strategy."""
        return self.history.strategy_records

    def versions(self) -> list[Version]:
        return list(self.history.versions.values())

    def version(self, number: int) -> Version:
        found = self.history.versions.get(number)
        if found is None:
            last = len(self.history.versions)
            message = f"there is no version {number}; expected 1 to {last}"
            raise ConfigError(message, file=str(self.path), field="version")
        return found

    def text(self, number: int | None = None) -> str:
        """Return the text of a version, of the active one by default."""
        version = self.active if number is None else self.version(number)
        return self._texts.read(version)

    def find_file(self, number: int) -> Path:
        """Return the path of the text of a version."""
        return self._texts.find_file(number)

    def events(self) -> Iterator[AnyEvent]:
        """Yield all events, oldest first."""
        for _, event in self._log.events():
            yield event

    def may_mutate(self, risk: Risk = "low") -> Ruling:
        found = self.history
        return may_mutate(
            risk,
            found.mutations,
            found.scores,
            found.since_mutation,
            self._now(),
            self.settings.limits,
        )

    def must_roll_back(self) -> Ruling:
        """Return whether to roll back the active version; no where there is no earlier version."""
        found = self.history
        if found.rollback_target is None:
            return Ruling(False, "first", "there is no earlier version")
        rules = self.settings.rollback
        return must_roll_back(found.scores, self.best.score, found.error_rate, rules)

    # Changes

    def add(
        self, text: str, *, strategy: str, risk: Risk, why: str = "", parent: int | None = None
    ) -> Version:
        """Add a candidate, which then waits for a decision."""
        check_text(text)
        self._require_lock()
        number = self.history.next_number
        parent = self.history.active if parent is None else self.version(parent).number
        event = Proposed(
            at=self._at(),
            version=number,
            parent=parent,
            digest=self._texts.prepare(number, text),
            strategy=strategy,
            risk=risk,
            why=replace_surrogates(why)[:LONGEST],
        )
        self._step(event)
        return self.history.versions[number]

    def decide(self, number: int, decision: Decision, against: int | None = None) -> Result:
        """Record a decision. An accepted version becomes active, an exploration a branch.

        `against` is the version that it was compared with, by default the active one.
        """
        if not decision.final:
            raise ValueError(f"decision: it is not final: {decision.more} more pairs are needed")
        result = decide_result(decision)
        event = Decided(
            at=self._at(),
            version=self.version(number).number,
            against=self.history.active if against is None else against,
            decision=decision,
            result=result,
        )
        self._step(event)
        return result

    def withdraw(self, number: int, why: str = "") -> None:
        self._step(Withdrawn(at=self._at(), version=number, why=why))

    def promote(self, number: int, why: str = "") -> Version:
        """Make a version active on a person's request."""
        self._step(Promoted(at=self._at(), version=self.version(number).number, why=why))
        return self.active

    def rollback(self, number: int | None = None, *, reason: str = "", why: str = "") -> Version:
        """Return to an earlier version: the one named, else the best, else the previous one."""
        found = self.history
        target = found.rollback_target if number is None else self.version(number).number
        if target is None:
            message = "there is no earlier version to go back to"
            raise ConfigError(message, file=str(self.path))
        if target == found.active:
            message = f"version {target} is already active"
            raise ConfigError(message, file=str(self.path), field="version")
        if target not in found.was_active:
            before = ", ".join(map(str, sorted({*found.was_active} - {found.active}))) or "none"
            message = f"version {target} was never active; versions to go back to: {before}"
            raise ConfigError(message, file=str(self.path), field="version")
        left = found.active
        self._step(RolledBack(at=self._at(), version=target, left=left, reason=reason, why=why))
        return self.active

    def record_execution(
        self, score: float, *, error_rate: float = 0.0, n: int = 1, version: int | None = None
    ) -> None:
        """Record that a version, by default the active one, was run on n cases."""
        number = self.history.active if version is None else self.version(version).number
        event = Executed(at=self._at(), version=number, score=score, error_rate=error_rate, n=n)
        self._step(event)

    def add_note(self, about: str, data: dict[str, Any]) -> None:
        self._step(Noted(at=self._at(), about=about, data=data))

    # Files

    @property
    def _state(self) -> Path:
        return self.path / "state.json"

    def _at(self) -> str:
        return format_time(self._now())

    def _require_lock(self) -> None:
        if self._lock is None:
            raise DataError("it was opened for reading, or is closed", file=str(self.path))

    def _step(self, event: AnyEvent) -> None:
        self._require_lock()
        self.history = extend_history(self.history, event, self._log)
        self._update_files(current=False)

    def _update_files(self, *, current: bool) -> None:
        """Bring all files in line with the log."""
        files.drop_partial_line(self._log.path)
        found = self.history
        self._texts.place(found.versions.values(), found.find_kept(self.settings.keep))
        for draft in self.path.glob(".*.tmp"):
            draft.unlink()
        if not current:
            files.write(self._state, encode_state(make_state(self.history)))

    def _settle_settings(self) -> None:
        """Rename the draft of evolution.yaml that an interrupted `begin` has left."""
        path = self.path / NAME
        if not path.exists() and files.get_draft_path(path).exists():
            files.move_into_place(files.get_draft_path(path), path)

    def _check_texts(self) -> None:
        """Check the texts in use; an archived text is checked when it is read."""
        for number in sorted(self.history.find_kept(self.settings.keep)):
            self._texts.read(self.history.versions[number])
