"""The judge `listwise`: a model ranks all answers at once, shown in several orders.

The rank of an answer comes from its mean rank over the orders; equal means share a rank. The value
is `(n - rank) / (n - 1)`, which trainers use as a group reward.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from statistics import mean
from typing import Any

from fourscore.core import Case, JudgeError, Signal, Trace, Usage
from fourscore.core.frozen import EMPTY
from fourscore.core.numbers import check_whole
from fourscore.judges.llm.comparison import (
    LETTERS,
    ComparisonJudge,
    compute_shared_ranks,
    convert_rank,
    draw_orders,
)
from fourscore.judges.llm.item_questions import gather_asks
from fourscore.judges.llm.verdicts import make_reply_schema, make_text_schema
from fourscore.models.messages import NO_USAGE, Response

NAME, PROMPT = "listwise", "listwise"
#: For at most this many candidates the schema lists every possible ranking (4 have 24).
MAX_LISTED = 4


class Listwise(ComparisonJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ranks the traces of a case together.

    `permutations`: the number of orders in which the answers are shown.
    """

    permutations: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("permutations", self.permutations, low=1)

    @property
    def name(self) -> str:
        return NAME

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions(PROMPT)

    def most(self, case: Case, n: int = 2) -> Usage:
        return self.ceiling(
            PROMPT, case, self.permutations, other_bytes=3 * self.max_chars * (n - 1)
        )

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        answers = [trace.answer for trace in traces]
        if len(answers) > len(LETTERS):
            raise JudgeError(
                f"{len(answers)} answers to rank; `listwise` takes {len(LETTERS)} at most"
            )
        empty = [self.explain_empty(case, answer) for answer in answers]
        shown = [at for at, why in enumerate(empty) if why is None]
        orders: list[tuple[int, ...]] = []
        if len(shown) > 1:
            orders = draw_orders(len(shown), self.permutations, "\0".join(answers))
        replies = await gather_asks(
            [self._ask_ranking(case, [answers[shown[i]] for i in order]) for order in orders]
        )
        places: dict[int, list[int]] = {at: [] for at in shown}
        for order, (_, ranking) in zip(orders, replies, strict=True):
            for place, letter in enumerate(ranking):
                places[shown[order[LETTERS.index(letter)]]].append(place)
        # An answer without content ranks after all others.
        scores = [
            -mean(places[at] or [0]) if at in places else -float(len(traces))
            for at in range(len(traces))
        ]
        spent = sum((reply.usage for reply, _ in replies), NO_USAGE)
        return _make_signals(scores, empty, places, spent)

    async def _ask_ranking(self, case: Case, answers: Sequence[str]) -> tuple[Response, list[str]]:
        letters = LETTERS[: len(answers)]
        candidates = dict(zip(letters, answers, strict=True))
        reference = self.read_shown_reference(case)
        fenced = self.fence_case(case, "", reference=reference, titles=EMPTY, **candidates)
        number = fenced.number if self.bind == "schema" else None
        shown = "\n\n".join(fenced.texts[letter] or f"{letter}: -" for letter in letters)
        reply = await self.ask(
            PROMPT,
            fenced,
            make_ranking_schema(letters, number),
            check=lambda value: _find_mistake(_read_ranking(value), letters),
            candidates=shown,
            letters=", ".join(letters),
            criterion=self.used_criterion,
        )
        return reply, _read_ranking(reply.value)


def _read_ranking(value: Any) -> list[str]:
    given = value["ranking"]
    return given.split(" > ") if isinstance(given, str) else list(given)


def _find_mistake(ranking: Sequence[str], letters: str) -> str | None:
    if sorted(ranking) == list(letters):
        return None
    return f"the ranking {', '.join(ranking)} does not name each of {', '.join(letters)} once"


@lru_cache(maxsize=64)
def make_ranking_schema(letters: str, number: str | None) -> dict[str, Any]:
    """Return the JSON Schema of a ranking: evidence, then the letters from best to worst.

    If the server enforces it as a grammar and there are few candidates, it lists all rankings.
    """
    ranking: dict[str, Any] = {
        "type": "array",
        "items": {"type": "string", "enum": list(letters)},
        "minItems": len(letters),
        "maxItems": len(letters),
    }
    if number is not None and len(letters) <= MAX_LISTED:
        ranking = {"type": "string", "enum": [" > ".join(one) for one in permutations(letters)]}
    return make_reply_schema({"evidence": make_text_schema(number), "ranking": ranking}, number)


def _make_signals(
    scores: Sequence[float],
    empty: Sequence[str | None],
    places: Mapping[int, Sequence[int]],
    spent: Usage,
) -> list[Signal]:
    ranks, n = compute_shared_ranks(scores), len(scores)
    signals = []
    for at, rank in enumerate(ranks):
        seen = ", ".join(str(place + 1) for place in places.get(at, ()))
        why = empty[at] or (f"ranked {seen} in {len(places[at])} orders" if seen else "only answer")
        signals.append(
            Signal(
                name=NAME,
                value=convert_rank(rank, n),
                reason=f"rank {rank:g} of {n}: {why}",
                relative=True,
                usage=spent if at == 0 else None,
            )
        )
    return signals
