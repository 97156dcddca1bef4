"""Which strategy is next: one that answers the weakest signal, else by their record.

Among several the choice is a roulette in which a strategy's share is how often it was accepted,
with one success and one failure to begin with. Where all that answer the signal have had their
chances and none was ever accepted, the others get theirs.
"""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from fourscore.evolve.mutations.failure import Failure, weakest
from fourscore.evolve.mutations.record import Record
from fourscore.evolve.mutations.strategies import Strategy

#: Tries without success after which a strategy is no longer preferred for its signal.
PATIENCE = 3


class Choice(NamedTuple):
    """`signal` is the weakest one, whether or not the strategy answers it."""

    strategy: Strategy
    signal: str
    why: str


def choose(
    failures: Sequence[Failure], record: Record, rng: Random, among: Sequence[Strategy]
) -> Choice:
    """One of the strategies, of which there has to be one."""
    found = weakest(failures)
    if found is None:
        return Choice(roulette(among, record, rng), "", "no signal was measured: by their record")
    signal, mean = found
    over = "1 failure" if len(failures) == 1 else f"{len(failures)} failures"
    told = f"{_short(signal)} is the weakest signal ({mean:.2f} over {over})"
    answering = [one for one in among if signal in one.answers]
    if not answering:
        return Choice(roulette(among, record, rng), signal, f"{told}: by their record")
    if all(_given_up(one, record) for one in answering):
        others = [one for one in among if one not in answering] or answering
        why = f"{told}, and what answers it never helped: by their record"
        return Choice(roulette(others, record, rng), signal, why)
    return Choice(roulette(answering, record, rng), signal, told)


def roulette(among: Sequence[Strategy], record: Record, rng: Random) -> Strategy:
    """By (accepted + 1) / (tried + 2)."""
    shares = [share(one.name, record) for one in among]
    return rng.choices(among, weights=shares)[0]


def share(name: str, record: Record) -> float:
    tally = record.of(name)
    return (tally.accepted + 1) / (tally.tried + 2)


def _given_up(one: Strategy, record: Record) -> bool:
    tally = record.of(one.name)
    return tally.tried >= PATIENCE and not tally.accepted


def _short(signal: str) -> str:
    """A name that may come from anywhere, on one line."""
    return "".join(c if c.isprintable() else " " for c in signal)[:60]
