"""Which interactions are sampled: decided by the id alone, so that every process decides alike.

An interaction is taken when the digest of its id, read as a number in [0, 1), is below its rate.
So 1% is the same 1% in every process and on every machine, and the 1% are part of the 5%. Without
an id, or with `method="random"`, a generator decides.

The rate is that of the interaction's tags, the highest where several have one, else the general
one. What is taken with probability p stands for 1/p interactions: the weight of its sample.

Rules sample more than that: what they name is scored, but does not count as drawn, unless the
digest would have taken it too. If it counted, a service would look the worse the more closely its
failures are watched.
"""

from collections.abc import Iterable
from hashlib import blake2b
from random import Random
from typing import Any

from fourscore.core import ConfigError, suggest_known
from fourscore.core.numbers import to_finite_float
from fourscore.monitor.settings import RULES, SamplingSettings

#: Bytes of a digest: 64 bits separate rates to the 19th digit.
SIZE = 8


def digest(id: str) -> bytes:  # noqa: A002
    """Return the digest of an id; digests compare like the numbers that they are."""
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()


def make_ceiling(rate: float) -> bytes:
    """Return the value that digests must be below to be sampled; at a rate of 1 all are."""
    if rate >= 1:
        return b"\xff" * (SIZE + 1)
    return int(rate * 2 ** (8 * SIZE)).to_bytes(SIZE, "big")


class Sampling:
    """Decides what is sampled. `highest` and `ceiling` are the highest rate, to reject quickly."""

    def __init__(self, rate: float, settings: SamplingSettings | None = None) -> None:
        given = settings or SamplingSettings()
        self.rate = _check_rate(rate, "sample_rate")
        self.rates = {tag: _check_rate(own, f"rates.{tag}") for tag, own in given.rates.items()}
        self.is_hashed = given.method == "hash"
        self.random = Random(given.seed).random  # noqa: S311
        self.highest = max(self.rate, *self.rates.values()) if self.rates else self.rate
        self.ceiling = make_ceiling(self.highest)
        always = given.always
        rules = (always,) if isinstance(always, str) or callable(always) else tuple(always)
        self.wants_errors, self.wants_thumbs_down = "errors" in rules, "thumbs_down" in rules
        self.rules = tuple(rule for rule in rules if not isinstance(rule, str))
        for rule in rules:
            if rule not in RULES and not callable(rule):
                known = suggest_known(str(rule), RULES)
                raise ConfigError(f"{rule!r}: no such rule; {known}", field="always")

    def rate_of(self, tags: Iterable[str]) -> float:
        """Return the probability with which an interaction of these tags is drawn."""
        if not self.rates:
            return self.rate
        return max((self.rates[tag] for tag in tags if tag in self.rates), default=self.rate)

    def draws(self, id: str | None, tags: Iterable[str]) -> bool:  # noqa: A002
        """Return whether the interaction is drawn; rules are not asked."""
        rate = self.rate_of(tags)
        if id is None or not self.is_hashed:
            return self.random() < rate
        return digest(id) < make_ceiling(rate)


def _check_rate(rate: Any, field: str) -> float:
    number = to_finite_float(rate)
    if number is None or not 0 <= number <= 1:
        raise ConfigError(f"{rate!r}: expected a number from 0 to 1", field=field)
    return number
