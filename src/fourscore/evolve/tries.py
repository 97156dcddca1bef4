"""What an evolution has tried, read from its log: what a proposer has to remember."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from fourscore.evolve.events import AnyEvent, Begun, Decided, Noted, Proposed
from fourscore.evolve.mutations.proposal import Refused
from fourscore.evolve.mutations.record import Record, Try

#: What notes in the log are about.
REFUSED, HELD_OUT = "refused", "held_out"


class Tries(NamedTuple):
    """`made` are all that were proposed, whatever became of them."""

    record: Record
    made: int


def tries_of(events: Iterable[AnyEvent]) -> Tries:
    """A text that stands in the history by whatever way is never proposed again."""
    events = list(events)
    won = {
        event.version
        for event in events
        if isinstance(event, Decided) and event.result == "promoted"
    }
    found = list(_tries(events, won))
    return Tries(Record.of_tries(found), sum(bool(one.strategy) for one in found))


def _tries(events: Iterable[AnyEvent], won: set[int]) -> Iterator[Try]:
    for event in events:
        if isinstance(event, Begun):
            yield Try("", event.digest)
        elif isinstance(event, Proposed):
            yield Try(event.strategy, event.digest, accepted=event.version in won)
        elif isinstance(event, Noted) and event.about == REFUSED:
            told = event.data
            strategy, digest = str(told.get("strategy", "")), str(told.get("digest", ""))
            yield Try(strategy, digest, refused=True)


def note_of(refused: Refused) -> dict[str, Any]:
    """What the log keeps of a refusal, what it cost among it."""
    told: dict[str, Any] = msgspec.to_builtins(refused)
    return told
