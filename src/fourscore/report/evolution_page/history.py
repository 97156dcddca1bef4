"""The history on the page: what the log says about each version, and the figures above the tree.

The log is read in one pass, and every list has a maximum length.
"""

from collections import defaultdict, deque
from collections.abc import Iterable
from typing import Any

import msgspec

from fourscore.evolve.comparison import HeldOut
from fourscore.evolve.decision import Decision
from fourscore.evolve.folder import Evolution
from fourscore.evolve.lineage import VersionTree
from fourscore.evolve.log import (
    HELD_OUT,
    REFUSED,
    AnyEvent,
    Decided,
    Executed,
    Noted,
    Promoted,
    RolledBack,
    Withdrawn,
)
from fourscore.report.run_page.detail import shorten

#: Refused proposals and rollbacks of all that are shown, and steps of one version: the newest.
REFUSALS, ROLLBACKS, EACH = 200, 200, 20
#: What the drawing of a decision needs.
NUMBERS = ("accepted", "delta", "low", "high", "n", "old", "new")
#: Characters of a reason.
WORDS = 2000


class PageHistory:
    """The events of an evolution, by version. `left` are versions that were rolled back from."""

    def __init__(self, events: Iterable[AnyEvent]) -> None:
        self.held_out: HeldOut | None = None
        self.refusals: deque[dict[str, str]] = deque(maxlen=REFUSALS)
        self.rollbacks: deque[dict[str, Any]] = deque(maxlen=ROLLBACKS)
        self.refused = self.returned = 0
        self.left: set[int] = set()
        self.begun = self.newest = ""
        self._decided: defaultdict[int, deque[Decided]] = defaultdict(_make_short_deque)
        self._others: defaultdict[int, deque[dict[str, Any]]] = defaultdict(_make_short_deque)
        self._executed: defaultdict[int, deque[Executed]] = defaultdict(_make_short_deque)
        for event in events:
            self.begun, self.newest = self.begun or event.at, event.at
            self._add(event)

    def decisions(self, number: int) -> list[Decided]:
        return list(self._decided.get(number, ()))

    def executions(self, number: int) -> list[Executed]:
        return list(self._executed.get(number, ()))

    def others(self, number: int) -> list[dict[str, Any]]:
        """Return the rollbacks, promotions and withdrawals of a version."""
        return list(self._others.get(number, ()))

    def _add(self, event: AnyEvent) -> None:
        match event:
            case Decided():
                self._decided[event.version].append(event)
            case Executed():
                self._executed[event.version].append(event)
            case Promoted():
                self.left.discard(event.version)
                self._add_change(event.version, "promotion", event)
            case Withdrawn():
                self._add_change(event.version, "withdrawal", event)
            case RolledBack():
                self.returned += 1
                self.left = (self.left | {event.left}) - {event.version}
                self.rollbacks.append(self._add_change(event.left, "rollback", event))
                self._add_change(event.version, "return", event)
            case Noted(about="refused") | Noted(about="held_out"):
                self._note(event)

    def _add_change(
        self, number: int, kind: str, event: Promoted | Withdrawn | RolledBack
    ) -> dict[str, Any]:
        document: dict[str, Any] = {"kind": kind, "at": event.at, "why": shorten(event.why, WORDS)}
        if isinstance(event, RolledBack):
            document.update(left=event.left, to=event.version, rule=shorten(event.reason))
        self._others[number].append(document)
        return document

    def _note(self, event: Noted) -> None:
        if event.about == REFUSED:
            self.refused += 1
            names = ("strategy", "risk", "reason")
            document = {name: shorten(str(event.data.get(name, "")), WORDS) for name in names}
            self.refusals.append({"at": event.at, **document})
        if event.about == HELD_OUT:
            try:
                self.held_out = msgspec.convert(event.data, HeldOut)
            except msgspec.ValidationError:  # somebody else's note of the same name
                return


def _make_short_deque() -> deque[Any]:
    return deque(maxlen=EACH)


#: Strategies in the table, and decisions in the drawing: the newest.
STRATEGIES, DRAWN = 100, 400


def make_headline(evolution: Evolution, family: VersionTree, steps: PageHistory) -> dict[str, Any]:
    """Return the figures above and below the tree; every list has a maximum length."""
    history, settings = evolution.history, evolution.settings
    active, held = evolution.active, steps.held_out
    record = sorted(history.strategy_records.items(), key=lambda each: (-each[1].tried, each[0]))
    return {
        "name": shorten(evolution.path.resolve().name),
        "source": shorten(history.versions[1].why),
        "begun": steps.begun,
        "newest": steps.newest,
        "active": {"number": active.number, "score": rounded(active.score), "n": active.n},
        "best": history.best,
        "versions": len(history.versions),
        "left_out": family.left_out,
        "decisions": len(history.decisions),
        "accepted": history.accepted,
        "promoted": sum(each.result == "promoted" for each in history.decisions),
        "expected_false": rounded(history.expected_false),
        "without_level": sum(each.decision.level is None for each in history.decisions),
        "held_out": None if held is None else {**held.to_document(), "words": held.summary},
        "course": [
            {"version": each.version, "result": each.result, **numbers(each.decision)}
            for each in history.decisions[-DRAWN:]
        ],
        "strategies": [
            [shorten(name), one.tried, one.accepted] for name, one in record[:STRATEGIES]
        ],
        "refused": steps.refused,
        "refusals": list(steps.refusals)[::-1],
        "returned": steps.returned,
        "rollbacks": list(steps.rollbacks)[::-1],
        "rule": {
            "rule": settings.rule,
            "budget": settings.budget,
            "looks": list(settings.plan.sizes),
            "level": settings.level,
            "margin": settings.margin,
        },
    }


def numbers(decision: Decision) -> dict[str, Any]:
    return {name: rounded(getattr(decision, name)) for name in NUMBERS}


def rounded(value: float | None) -> float | None:
    """Return a number with four decimals, which halves the size of the page."""
    return round(value, 4) if isinstance(value, float) else value
