"""Base of the judges that compare answers: criterion, reference, order of the answers, ranks.

Models prefer the first or the last answer, whatever it says. So every comparison is made in several
orders, drawn by a hash of the answers: the same group is shown in the same orders every time.
"""

import hashlib
import random
from collections.abc import Sequence
from typing import Literal

from fourscore.core import Case
from fourscore.judges.llm.model_judge import ModelJudge, read_reference

#: The criterion where the option `criterion` is empty.
BETTER = {
    "en": "which answers the question better: right, to the point, complete",
    "zh": "哪一个更好地回答了问题：正确、切题、完整",
}
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class ComparisonJudge(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of judges that compare answers.

    `criterion`: what makes an answer better.
    `reference`: show the model the answer that the case expects.
    """

    criterion: str = ""
    reference: bool = True
    form: Literal["full"] = "full"

    @property
    def used_criterion(self) -> str:
        """The option `criterion`, or the default one."""
        return self.criterion or BETTER[self.language]

    def read_shown_reference(self, case: Case) -> str:
        """Return the expected answer if it is shown, else ""."""
        return read_reference(case, self.reference)


def draw_orders(n: int, count: int, seed: str) -> list[tuple[int, ...]]:
    """Return `count` orders of n candidates: a random one, its reverse, another random one, ..."""
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
    """Return ranks from 1 for the highest score; equal scores share the mean of their ranks."""
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
    """Return `(n - rank) / (n - 1)`: 1 for the best, 0 for the last, 1 for a single answer."""
    return 1.0 if n < 2 else (n - rank) / (n - 1)
