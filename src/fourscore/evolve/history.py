"""`History`: the versions and decisions, computed from the events of a log.

A version is a `candidate` until the decision about it; then it is `active`, `rejected`, or a
`branch`: accepted for exploration, it has to win a decision before it can become active. A version
that was active before is `retired`.
"""

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Literal, NamedTuple

import msgspec

from fourscore.core import DataError
from fourscore.evolve.decision import Decision, expected_false
from fourscore.evolve.limits import Mutation, Risk
from fourscore.evolve.log import (
    REFUSED,
    AnyEvent,
    Decided,
    Executed,
    Log,
    Noted,
    Promoted,
    Proposed,
    RolledBack,
    Started,
    Withdrawn,
    decode_event,
    encode_event,
    parse_time,
)
from fourscore.evolve.mutations.strategies import MutationRecord, Try

Status = Literal["active", "candidate", "branch", "rejected", "withdrawn", "retired"]


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One version of the prompt. `score` is the mean over the n cases it was run on."""

    number: int
    parent: int | None
    digest: str
    strategy: str
    risk: Risk | None
    why: str
    at: str
    status: Status
    score: float | None = None
    n: int = 0


class StrategyRecord(msgspec.Struct, frozen=True):
    """How many proposals of a strategy were decided about, and how many were accepted."""

    tried: int = 0
    accepted: int = 0


class History:
    """Built by `add`, event by event; an event that contradicts earlier ones is a `ValueError`."""

    def __init__(self) -> None:
        self.versions: dict[int, Version] = {}
        self.active = 0
        self.lines = 0
        self.decisions: list[Decided] = []
        self.executions: list[Executed] = []
        self.mutations: list[Mutation] = []
        self.was_active: list[int] = []
        self._since_mutation = 0
        self._since_active = 0

    def add(self, event: AnyEvent) -> None:
        if isinstance(event, Started) == bool(self.versions):
            raise ValueError("event: expected init on the first line and on no other line")
        match event:
            case Started():
                self._new(event.version, None, event.digest, "init", None, event.source, event.at)
                self._activate(1)
            case Proposed():
                self._proposed(event)
            case Decided():
                self._decided(event)
            case Withdrawn():
                self._expect(event.version, "candidate")
                self._set(event.version, "withdrawn")
            case Executed():
                self._known(event.version)
                self.executions.append(event)
                self._since_mutation += 1
                self._measure(event.version, event.score, event.n)
            case Promoted():
                self._known(event.version)
                self._activate(event.version)
            case RolledBack():
                if event.left != self.active:
                    raise ValueError(f"left: version {event.left} was not active")
                if event.version not in self.was_active or event.version == self.active:
                    raise ValueError(f"version: {event.version} is no earlier active version")
                self._activate(event.version)
        self.lines += 1

    @property
    def next_number(self) -> int:
        return len(self.versions) + 1

    @property
    def pending(self) -> Version | None:
        """The newest candidate without a decision."""
        waiting = [each for each in self.versions.values() if each.status == "candidate"]
        return waiting[-1] if waiting else None

    @property
    def branches(self) -> tuple[int, ...]:
        return tuple(n for n, each in self.versions.items() if each.status == "branch")

    @property
    def best(self) -> int:
        """The best version among all that were ever active; ties go to the active one."""
        return max(
            dict.fromkeys(self.was_active),
            key=lambda n: (self._score(n), n == self.active, n),
        )

    @property
    def rollback_target(self) -> int | None:
        """The version that a rollback goes to: the best, else the one that was active before."""
        if self.best != self.active and self.versions[self.best].score is not None:
            return self.best
        before = [n for n in self.was_active if n != self.active]
        return before[-1] if before else None

    @property
    def scores(self) -> list[float]:
        """The scores of the active version's executions since it became active, newest last."""
        return [each.score for each in self._running()]

    @property
    def error_rate(self) -> float | None:
        running = self._running()
        return running[-1].error_rate if running else None

    @property
    def since_mutation(self) -> int:
        return self._since_mutation

    @property
    def strategy_records(self) -> dict[str, StrategyRecord]:
        found: dict[str, StrategyRecord] = {}
        for event in self.decisions:
            strategy = self.versions[event.version].strategy
            was = found.get(strategy, StrategyRecord())
            won = event.decision.accepted
            found[strategy] = StrategyRecord(was.tried + 1, was.accepted + won)
        return found

    @property
    def expected_false(self) -> float:
        """The expected number of false acceptances so far if no candidate were better."""
        return expected_false(each.decision for each in self.decisions)

    @property
    def accepted(self) -> int:
        return sum(each.decision.accepted for each in self.decisions)

    def find_kept(self, newest: int) -> set[int]:
        """Return the versions whose files stay in `versions/`; the others are archived."""
        held = {self.active, self.best, *self.branches}
        held |= {n for n, each in self.versions.items() if each.status == "candidate"}
        return held | set(sorted(self.versions)[-newest:])

    def _proposed(self, event: Proposed) -> None:
        if event.version != self.next_number:
            raise ValueError(f"version: expected {self.next_number}, got {event.version}")
        self._known(event.parent, "parent")
        why, at = event.why, event.at
        self._new(event.version, event.parent, event.digest, event.strategy, event.risk, why, at)
        self.mutations.append(Mutation(parse_time(at), event.risk))
        self._since_mutation = 0

    def _decided(self, event: Decided) -> None:
        self._expect(event.version, "candidate", "branch")
        self._known(event.against, "against")
        decision = event.decision
        if event.result != decide_result(decision):
            raise ValueError(f"result: {event.result} does not follow from the decision")
        self.decisions.append(event)
        if decision.n:
            for number, score in ((event.against, decision.old), (event.version, decision.new)):
                if score is not None:
                    self._measure(number, score, decision.n)
        if event.result == "promoted":
            self._activate(event.version)
        else:
            self._set(event.version, "branch" if event.result == "branched" else "rejected")

    def _new(
        self,
        number: int,
        parent: int | None,
        digest: str,
        strategy: str,
        risk: Risk | None,
        why: str,
        at: str,
    ) -> None:
        self.versions[number] = Version(
            number=number,
            parent=parent,
            digest=digest,
            strategy=strategy,
            risk=risk,
            why=why,
            at=at,
            status="candidate",
        )

    def _activate(self, number: int) -> None:
        if self.active:
            self._set(self.active, "retired")
        self._set(number, "active")
        self.active = number
        self.was_active.append(number)
        self._since_active = len(self.executions)

    def _set(self, number: int, status: Status) -> None:
        self.versions[number] = msgspec.structs.replace(self.versions[number], status=status)

    def _measure(self, number: int, score: float, n: int) -> None:
        was = self.versions[number]
        total = was.n + n
        mean = score if was.score is None else was.score + (score - was.score) * n / total
        self.versions[number] = msgspec.structs.replace(was, score=mean, n=total)

    def _score(self, number: int) -> float:
        score = self.versions[number].score
        return -1.0 if score is None else score

    def _running(self) -> list[Executed]:
        since = self.executions[self._since_active :]
        return [each for each in since if each.version == self.active]

    def _known(self, number: int, field: str = "version") -> None:
        if number not in self.versions:
            raise ValueError(f"{field}: there is no version {number}")

    def _expect(self, number: int, *statuses: Status) -> None:
        self._known(number)
        found = self.versions[number].status
        if found not in statuses:
            raise ValueError(f"version: {number} is {found}, expected {' or '.join(statuses)}")


def decide_result(decision: Decision) -> Literal["promoted", "rejected", "branched"]:
    """Return the result of a decision for the version; an exploration becomes a branch."""
    if not decision.accepted:
        return "rejected"
    return "branched" if decision.exploration else "promoted"


def read_history(log: Log) -> History:
    """Return the history of a log; a `DataError` names a line that contradicts those before it."""
    history = History()
    for number, event in log.events():
        try:
            history.add(event)
        except ValueError as error:
            field, _, message = str(error).partition(": ")
            raise DataError(message, file=str(log.path), line=number, field=field) from None
    if not history.lines:
        message = f"it is empty; fourscore evolve init {log.path.parent} creates one"
        raise DataError(message, file=str(log.path))
    return history


def extend_history(history: History, event: AnyEvent, log: Log) -> History:
    """Append an event to the log and return the new history; an invalid event changes nothing."""
    longer = copy(history)
    for name, value in vars(history).items():
        if isinstance(value, dict | list):
            setattr(longer, name, value.copy())
    # Add the event as it will be read from the file.
    longer.add(decode_event(encode_event(event), log.path, history.lines + 1))
    log.append(event)
    return longer


class Tries(NamedTuple):
    """The mutation record for proposers, and the number of all proposals."""

    record: MutationRecord
    made: int


def read_tries(events: Iterable[AnyEvent]) -> Tries:
    """Return the tried mutations in the events; none of their texts is proposed again."""
    events = list(events)
    won = {
        event.version
        for event in events
        if isinstance(event, Decided) and event.result == "promoted"
    }
    found = list(_tries(events, won))
    return Tries(MutationRecord.from_tries(found), sum(bool(one.strategy) for one in found))


def _tries(events: Iterable[AnyEvent], won: set[int]) -> Iterator[Try]:
    for event in events:
        if isinstance(event, Started):
            yield Try("", event.digest)
        elif isinstance(event, Proposed):
            yield Try(event.strategy, event.digest, accepted=event.version in won)
        elif isinstance(event, Noted) and event.about == REFUSED:
            data = event.data
            strategy, digest = str(data.get("strategy", "")), str(data.get("digest", ""))
            yield Try(strategy, digest, refused=True)
