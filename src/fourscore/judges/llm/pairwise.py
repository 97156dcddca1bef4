"""The judge `pairwise`: which of two answers is better, asked in both orders.

If the model names the same answer both times, that one wins; if it changes its choice with the
order, it is a tie. In a group every answer is compared with every other, and the value is the share
of comparisons won, a tie counting half.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import msgspec

from fourscore.core import Case, JudgeError, Signal, Trace, Usage
from fourscore.core.numbers import check_whole
from fourscore.judges.llm.comparison import ComparisonJudge
from fourscore.judges.llm.item_questions import gather_asks
from fourscore.models.messages import NO_USAGE

NAME, PROMPT = "pairwise", "pairwise"
CHOICES = ("A", "B", "tie")
TITLES = {"answer": "A", "other": "B"}


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two candidates, the result of the first (1 won, 0 lost, 0.5 tied), and the usage.

    `is_order_dependent`: the model preferred another answer when their order was swapped.
    """

    first: int
    second: int
    won: float
    is_order_dependent: bool = False
    is_asked: bool = False
    usage: Usage = NO_USAGE


class Pairwise(ComparisonJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ranks the traces of a case by comparing every pair of them.

    `most_candidates`: more traces than this are an error.
    """

    most_candidates: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("most_candidates", self.most_candidates, low=2)

    @property
    def name(self) -> str:
        return NAME

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions(PROMPT)

    def most(self, case: Case, n: int = 2) -> Usage:
        return self.ceiling(PROMPT, case, n * (n - 1), other_bytes=3 * self.max_chars)

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        if len(traces) > self.most_candidates:
            most = self.most_candidates
            message = f"{len(traces)} answers to compare in pairs, at most {most} are allowed"
            raise JudgeError(f"{message}; set `most_candidates` or use the judge `listwise`")
        comparisons: list[Comparison] = await gather_asks(
            [self.compare(case, traces, a, b) for a, b in combinations(range(len(traces)), 2)]
        )
        changed = sum(one.is_order_dependent for one in comparisons)
        asked = sum(one.is_asked for one in comparisons)
        note = f"{changed} of {asked} comparisons changed with the order" if asked else ""
        return [self._make_signal(at, comparisons, note) for at in range(len(traces))]

    async def compare(self, case: Case, traces: Sequence[Trace], a: int, b: int) -> Comparison:
        """Compare two answers in both orders. An empty answer loses without asking the model."""
        first, second = traces[a].answer, traces[b].answer
        empty = [self.explain_empty(case, text) is not None for text in (first, second)]
        if any(empty) or first == second:
            won = 0.5 if empty[0] == empty[1] else float(empty[1])
            return Comparison(first=a, second=b, won=won)
        reference = self.read_shown_reference(case)
        asks = [
            self.decide(
                PROMPT,
                self.fence_case(case, one, reference=reference, titles=TITLES, other=other),
                CHOICES,
                criterion=self.used_criterion,
            )
            for one, other in ((first, second), (second, first))
        ]
        there, back = await gather_asks(asks)
        forward = {"A": 1.0, "B": 0.0, "tie": 0.5}[there.choice]
        backward = {"A": 0.0, "B": 1.0, "tie": 0.5}[back.choice]
        return Comparison(
            first=a,
            second=b,
            won=forward if forward == backward else 0.5,
            is_order_dependent={forward, backward} == {0.0, 1.0},
            is_asked=True,
            usage=there.usage + back.usage,
        )

    def _make_signal(self, at: int, comparisons: Sequence[Comparison], note: str) -> Signal:
        mine = [one for one in comparisons if at in (one.first, one.second)]
        won = [one.won if one.first == at else 1.0 - one.won for one in mine]
        counts = [won.count(1.0), won.count(0.5), won.count(0.0)]
        words = f"won {counts[0]}, tied {counts[1]}, lost {counts[2]}"
        # A comparison belongs to two signals: its usage counts once, with the first.
        usage = sum((one.usage for one in mine if one.first == at), NO_USAGE)
        return Signal(
            name=NAME,
            value=sum(won) / len(won),
            reason=f"{words}; {note}" if note else words,
            relative=True,
            usage=usage,
        )
