"""Which interactions are looked at: decided by the id alone, so that every process decides alike.

An interaction is taken when the digest of its id, read as a number in [0, 1), is below its rate.
So 1% is the same 1% in every process and on every machine, and the 1% are part of the 5%. Without
an id, or with `kind="random"`, a generator decides.

The rate is that of the interaction's tags, the highest where several have one, else the general
one. What is taken with probability p stands for 1/p interactions: the weight of its sample.

Rules take more than that: whatever they name is looked at, but does not count as drawn, unless the
digest would have taken it too. If it counted, a service would look the worse the more closely its
failures are watched.
"""

from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from random import Random
from typing import Any, Literal

from fourscore.core import ConfigError, suggest_known
from fourscore.core.numbers import to_finite_float

Kind = Literal["hash", "random"]
#: Rules by name; a rule of one's own is a function of the interaction.
RULES = ("errors", "thumbs_down")

#: Bytes of a digest: 64 bits tell rates apart to the 19th digit.
SIZE = 8


def digest(id: str) -> bytes:  # noqa: A002
    """Where an id stands among all ids; compares like the number that it is."""
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()


def limit(rate: float) -> bytes:
    """What digests have to be below; at a rate of 1 all are."""
    if rate >= 1:
        return b"\xff" * (SIZE + 1)
    return int(rate * 2 ** (8 * SIZE)).to_bytes(SIZE, "big")


class Sampling:
    """Rates, the generator, and which rules hold; `highest` and `ceiling` are for a quick no."""

    def __init__(
        self,
        rate: float,
        rates: Mapping[str, float] | None = None,
        always: Iterable[str | Callable[[Any], bool]] = RULES,
        kind: Kind = "hash",
        seed: int | None = None,
    ) -> None:
        self.rate = _rate(rate, "sample_rate")
        self.rates = {tag: _rate(own, f"rates.{tag}") for tag, own in (rates or {}).items()}
        if kind not in ("hash", "random"):
            raise ConfigError(f"{kind!r}: expected hash or random", field="sampling")
        self.hashed = kind == "hash"
        self.random = Random(seed).random  # noqa: S311
        self.highest = max(self.rate, *self.rates.values()) if self.rates else self.rate
        self.ceiling = limit(self.highest)
        rules = (always,) if isinstance(always, str) or callable(always) else tuple(always)
        self.errors, self.thumbs_down = "errors" in rules, "thumbs_down" in rules
        self.rules = tuple(rule for rule in rules if not isinstance(rule, str))
        for rule in rules:
            if rule not in RULES and not callable(rule):
                known = suggest_known(str(rule), RULES)
                raise ConfigError(f"{rule!r}: no such rule; {known}", field="always")

    def rate_of(self, tags: Iterable[str]) -> float:
        """The probability with which an interaction of these tags is drawn."""
        if not self.rates:
            return self.rate
        return max((self.rates[tag] for tag in tags if tag in self.rates), default=self.rate)

    def draws(self, id: str | None, tags: Iterable[str]) -> bool:  # noqa: A002
        """Whether the interaction is drawn; rules are not asked."""
        rate = self.rate_of(tags)
        if id is None or not self.hashed:
            return self.random() < rate
        return digest(id) < limit(rate)


def _rate(rate: Any, field: str) -> float:
    number = to_finite_float(rate)
    if number is None or not 0 <= number <= 1:
        raise ConfigError(f"{rate!r}: expected a number from 0 to 1", field=field)
    return number
