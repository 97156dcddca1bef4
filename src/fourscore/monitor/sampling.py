"""Decides which interactions are sampled, by the id alone, so that every process decides the same.

An interaction is drawn when the digest of its id, read as a number in [0, 1), is below its rate.
So 1% is the same 1% in every process and on every machine, and is part of the 5%. Without an id,
or with `method="random"`, a random generator decides.

The rate is the highest rate of the interaction's tags, or the general one if no tag has its own. An
interaction drawn with probability p stands for 1/p interactions: that is the weight of its sample.

Rules add samples: an interaction that a rule wants is scored, but does not count in the rates,
unless it is also drawn. If it counted, a service would look worse the more of its failures are
kept.
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
    """Return the digest of an id; digests compare like numbers."""
    return blake2b(id.encode("utf-8", "surrogatepass"), digest_size=SIZE).digest()


def make_ceiling(rate: float) -> bytes:
    """Return the value that a digest must be below to be drawn; at a rate of 1 every digest is."""
    if rate >= 1:
        return b"\xff" * (SIZE + 1)
    return int(rate * 2 ** (8 * SIZE)).to_bytes(SIZE, "big")


class Sampling:
    """Decides what is sampled. The `highest` rate and its `ceiling` reject most ids quickly."""

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
        """Return the probability with which an interaction with these tags is drawn."""
        if not self.rates:
            return self.rate
        return max((self.rates[tag] for tag in tags if tag in self.rates), default=self.rate)

    def draws(self, id: str | None, tags: Iterable[str]) -> bool:  # noqa: A002
        """Return whether an interaction is drawn, without regard to the rules."""
        rate = self.rate_of(tags)
        if id is None or not self.is_hashed:
            return self.random() < rate
        return digest(id) < make_ceiling(rate)


def _check_rate(rate: Any, field: str) -> float:
    number = to_finite_float(rate)
    if number is None or not 0 <= number <= 1:
        raise ConfigError(f"{rate!r}: expected a number from 0 to 1", field=field)
    return number
