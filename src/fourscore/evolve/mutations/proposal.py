"""What a proposer gives back: a text to try, or a try that was refused, with the reason."""

from collections.abc import Sequence
from difflib import unified_diff
from random import Random
from typing import Protocol

import msgspec

from fourscore.core import Case, Usage
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.failure import Failure
from fourscore.evolve.mutations.record import Record, text_digest
from fourscore.models.messages import FREE


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A text that passed the checks. `parent` is the digest of the text it was made from."""

    text: str
    strategy: str
    risk: Risk
    parent: str
    why: str
    diff: str
    usage: Usage = FREE

    @property
    def digest(self) -> str:
        return text_digest(self.text)


class Refused(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A try that came to nothing. The text is not kept: a key may stand in it. `digest` is empty
    where there was no text, `strategy` where there was nothing left to try."""

    reason: str
    strategy: str = ""
    risk: Risk = "low"
    digest: str = ""
    usage: Usage = FREE


class Proposer(Protocol):
    """Whoever proposes. `passed` are cases that the parent does well on; `rng` is the only chance
    there is. A model that cannot be reached raises `ModelError`: that is nobody's try."""

    async def propose(
        self,
        parent_text: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],
        record: Record,
        rng: Random,
    ) -> Proposal | Refused: ...


def remembered(record: Record, outcome: Proposal | Refused, *, accepted: bool = False) -> Record:
    """The record with what became of an outcome; one without a strategy was no try."""
    if not outcome.strategy:
        return record
    refused = isinstance(outcome, Refused)
    return record.after(outcome.strategy, outcome.digest, accepted=accepted, refused=refused)


def diff_of(parent: str, text: str) -> str:
    """What changed, as a unified diff."""
    lines = unified_diff(parent.split("\n"), text.split("\n"), "parent", "proposal", lineterm="")
    return "\n".join(lines)
