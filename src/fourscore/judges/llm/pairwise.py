"""Which of two answers is better, asked in both orders.

A model that names the same answer both times has decided; one that changes its mind with the order
has not, and that is a tie. In a group everybody meets everybody, and the value is the share of the
meetings won, a tie being half of one.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from fourscore.core import Case, JudgeError, Signal, Trace, Usage
from fourscore.core.numbers import check_whole
from fourscore.judges.llm.comparison import Comparing
from fourscore.judges.llm.model_judge import together
from fourscore.judges.llm.openers import explain_empty
from fourscore.models.messages import FREE

NAME, PROMPT = "pairwise", "pairwise"
CHOICES = ("A", "B", "tie")
TITLES = {"answer": "A", "other": "B"}


class Meeting(NamedTuple):
    """Two candidates, who won (1, 0, or a half each), and whether the orders disagreed."""

    first: int
    second: int
    won: float
    turned: bool
    asked: bool
    usage: Usage


class Pairwise(Comparing, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ranks the traces of a case by comparing each with each."""

    most_candidates: int = 16

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("most_candidates", self.most_candidates, low=2)

    @property
    def name(self) -> str:
        return NAME

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.versions(PROMPT)

    def most(self, case: Case, n: int = 2) -> Usage:
        return self.ceiling(PROMPT, case, n * (n - 1), own=3 * self.max_chars)

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        if len(traces) > self.most_candidates:
            most = self.most_candidates
            raise JudgeError(
                f"{len(traces)} candidates: at most {most} are compared, each with each"
            )
        meetings: list[Meeting] = await together(
            [self.meet(case, traces, a, b) for a, b in combinations(range(len(traces)), 2)]
        )
        turned = sum(one.turned for one in meetings)
        asked = sum(one.asked for one in meetings)
        share = f"{turned} of {asked} comparisons turned with the order" if asked else ""
        return [self._signal(at, meetings, share) for at in range(len(traces))]

    async def meet(self, case: Case, traces: Sequence[Trace], a: int, b: int) -> Meeting:
        """One comparison, in both orders. Who says nothing loses, and nobody is asked."""
        first, second = traces[a].answer, traces[b].answer
        empty = [explain_empty(case, text) is not None for text in (first, second)]
        if any(empty) or first == second:
            won = 0.5 if empty[0] == empty[1] else float(empty[1])
            return Meeting(a, b, won, False, False, FREE)
        reference = self.read_shown_reference(case)
        asks = [
            self.decide(
                PROMPT,
                self.material(case, one, reference=reference, titles=TITLES, other=other),
                CHOICES,
                criterion=self.used_criterion,
            )
            for one, other in ((first, second), (second, first))
        ]
        there, back = await together(asks)
        forward = {"A": 1.0, "B": 0.0, "tie": 0.5}[there.choice]
        backward = {"A": 0.0, "B": 1.0, "tie": 0.5}[back.choice]
        turned = {forward, backward} == {0.0, 1.0}
        won = forward if forward == backward else 0.5
        return Meeting(a, b, won, turned, True, there.usage + back.usage)

    def _signal(self, at: int, meetings: Sequence[Meeting], share: str) -> Signal:
        mine = [one for one in meetings if at in (one.first, one.second)]
        won = [one.won if one.first == at else 1.0 - one.won for one in mine]
        counts = [won.count(1.0), won.count(0.5), won.count(0.0)]
        words = f"won {counts[0]}, tied {counts[1]}, lost {counts[2]}"
        # A comparison belongs to two: its cost is booked once, with the first.
        usage = sum((one.usage for one in mine if one.first == at), FREE)
        return Signal(
            name=NAME,
            value=sum(won) / len(won),
            reason=f"{words}; {share}" if share else words,
            relative=True,
            usage=usage,
        )
