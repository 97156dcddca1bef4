"""Candidates side by side: the orders in which they are shown, and what ranks are worth.

Models prefer what stands first, or last, whatever it says. So every comparison is made in more than
one order, drawn from the material: the same group is shown in the same orders every time.
"""

import hashlib
import random
from collections.abc import Sequence

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def orders(n: int, count: int, seed: str) -> list[tuple[int, ...]]:
    """`count` orders of n candidates: one by chance, its reverse, and so on by pairs."""
    number = int.from_bytes(
        hashlib.blake2b(seed.encode("utf-8", "replace"), digest_size=8).digest()
    )
    chance = random.Random(number)  # noqa: S311 - an order is no secret
    found: list[tuple[int, ...]] = []
    while len(found) < count:
        order = list(range(n))
        chance.shuffle(order)
        found += [tuple(order), tuple(reversed(order))]
    return found[:count]


def compute_shared_ranks(scores: Sequence[float]) -> list[float]:
    """Ranks from 1 for the highest; those that are level share the mean of their ranks."""
    order = sorted(range(len(scores)), key=lambda at: -scores[at])
    ranks = [0.0] * len(scores)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and abs(scores[order[end]] - scores[order[start]]) < 1e-9:
            end += 1
        for at in order[start:end]:
            ranks[at] = (start + 1 + end) / 2
        start = end
    return ranks


def convert_rank(rank: float, n: int) -> float:
    """`(n - rank) / (n - 1)`: 1 for the best, 0 for the last, 1 where there is no other."""
    return 1.0 if n < 2 else (n - rank) / (n - 1)
