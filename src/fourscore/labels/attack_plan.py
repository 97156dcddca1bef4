"""What is tried on a judge: each text of a family, in each place and on each case, or a sample."""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from fourscore.core import Case
from fourscore.judges.llm.attacks import PLACES, Attack, AttackFamily, Place, read_wrong_answer


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How much is tried, and how. `per_family` None is everything."""

    per_family: int | None = 50
    seed: int = 0
    concurrency: int = 16
    deadline: float = 60.0


class Attempt(msgspec.Struct, frozen=True):
    """One attack on the answer to one case."""

    attack: Attack
    case: Case
    place: Place

    @property
    def name(self) -> str:
        return f"{self.attack.name} {self.place} {self.case.id}"


def planned(
    families: Sequence[AttackFamily], cases: Callable[[], Iterable[Case]], plan: Plan
) -> Iterator[Attempt]:
    """What is tried: everything, or so many of each family, drawn by the seed and the names."""
    for family in families:
        every = _every(family, cases())
        if plan.per_family is None:
            yield from every
        else:
            keyed = ((_draw(plan.seed, one.name), one) for one in every)
            for _, one in heapq.nsmallest(plan.per_family, keyed, key=lambda pair: pair[0]):
                yield one


def _every(family: AttackFamily, cases: Iterable[Case]) -> Iterator[Attempt]:
    for case in cases:
        places = PLACES if read_wrong_answer(case) is not None else ("alone",)
        for attack in family.attacks:
            for place in places:
                yield Attempt(attack, case, place)


def _draw(seed: int, name: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=16).digest()
