"""What every proposed text goes through before an agent sees it.

The first thing that is wrong is the reason of the refusal. Nothing is repaired: a text that lost a
placeholder may have lost more.
"""

import re
from collections.abc import Sequence

import msgspec

from fourscore.core import ConfigError, Usage
from fourscore.core.numbers import check_finite
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.copying import copied
from fourscore.evolve.mutations.failure import Failure
from fourscore.evolve.mutations.forbidden import SHIPPED, compiled, forbidden
from fourscore.evolve.mutations.placeholders import wrong_places
from fourscore.evolve.mutations.proposal import Proposal, Refused, diff_of
from fourscore.evolve.mutations.record import Record, text_digest
from fourscore.models.messages import FREE


class Checks(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`shortest` and `longest` are shares of the parent's length. `required` are lines that have to
    stay, `placeholders` texts that have to stay beside those that are found. `forbidden` are
    expressions; `shipped` False leaves the ones that ship out."""

    shortest: float = 0.5
    longest: float = 2.0
    required: tuple[str, ...] = ()
    placeholders: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()
    shipped: bool = True

    def __post_init__(self) -> None:
        check_finite("shortest", self.shortest, low=0, high=1)
        check_finite("longest", self.longest, low=1)
        if any("\n" in line or not line.strip() for line in self.required):
            raise ConfigError("expected whole lines, one by one", field="required")
        if not all(self.placeholders):
            raise ConfigError("expected texts such as {name}", field="placeholders")
        compiled(self.forbidden)

    def refusal(
        self,
        parent: str,
        text: str,
        record: Record,
        failures: Sequence[Failure] = (),
        number: str = "",
    ) -> str | None:
        """Why the text may not be used, if anything. `number` is that of the fence it came from."""
        if (why := self._size(parent, text)) is not None:
            return why
        if text_digest(text) == text_digest(parent):
            return "it is the parent, unchanged"
        if record.knows(text):
            return "it was tried before"
        if (why := wrong_places(parent, text, self.placeholders)) is not None:
            return why
        lines = {line.strip() for line in text.split("\n")}
        for line in self.required:
            if line.strip() not in lines:
                return f"the required line is gone: {line.strip()[:80]}"
        if number and number in text.lower():
            return "it carries the number of the fence"
        if (why := forbidden(parent, text, self.rules)) is not None:
            return why
        words = [piece for failure in failures for piece in failure.words]
        if copied(parent, text, words) is not None:
            return "it repeats what stands in a failure word for word"
        return None

    @property
    def rules(self) -> dict[str, re.Pattern[str]]:
        return {**(SHIPPED if self.shipped else {}), **compiled(self.forbidden)}

    def _size(self, parent: str, text: str) -> str | None:
        had, has = len(parent.strip()), len(text.strip())
        if not has:
            return "it is empty"
        if not self.shortest * had <= has <= self.longest * had:
            low, high = self.shortest * had, self.longest * had
            return f"it has {has} characters, expected {low:.0f} to {high:.0f}"
        return None

    def outcome(
        self,
        parent: str,
        text: str,
        record: Record,
        failures: Sequence[Failure],
        made: "Made",
    ) -> Proposal | Refused:
        """The proposal with its diff, or the try that was refused."""
        why = self.refusal(parent, text, record, failures, made.number)
        if why is None:
            return Proposal(
                text=text,
                strategy=made.strategy,
                risk=made.risk,
                parent=text_digest(parent),
                why=made.why,
                diff=diff_of(parent, text),
                usage=made.usage,
            )
        digest = text_digest(text) if text.strip() else ""
        return Refused(
            reason=why, strategy=made.strategy, risk=made.risk, digest=digest, usage=made.usage
        )


class Made(msgspec.Struct, frozen=True):
    """How a text came about."""

    strategy: str
    risk: Risk
    why: str = ""
    usage: Usage = FREE
    number: str = ""
