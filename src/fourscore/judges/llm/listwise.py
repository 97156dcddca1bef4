"""All answers at once, put in order by a model, in several orders of showing them.

The rank of an answer is its mean over the orders; equal means share their ranks. The value is
`(n - rank) / (n - 1)`, which trainers take as a group reward.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from statistics import mean
from typing import Any

from fourscore.core import Case, JudgeError, Signal, Trace, Usage
from fourscore.core.frozen import EMPTY
from fourscore.core.numbers import check_whole
from fourscore.judges.llm.comparison import Comparing
from fourscore.judges.llm.model_judge import together
from fourscore.judges.llm.openers import explain_empty
from fourscore.judges.llm.order import LETTERS, compute_shared_ranks, convert_rank, orders
from fourscore.judges.llm.verdicts import numbered, written
from fourscore.models.messages import FREE, Response

NAME, PROMPT = "listwise", "listwise"
#: Candidates of which every order is spelled out to a grammar: 24 of them.
SPELLED = 4


class Listwise(Comparing, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Ranks the traces of a case together, in `permutations` orders."""

    permutations: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("permutations", self.permutations, low=1)

    @property
    def name(self) -> str:
        return NAME

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.versions(PROMPT)

    def most(self, case: Case, n: int = 2) -> Usage:
        return self.ceiling(PROMPT, case, self.permutations, own=3 * self.max_chars * (n - 1))

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]:
        answers = [trace.answer for trace in traces]
        if len(answers) > len(LETTERS):
            raise JudgeError(f"{len(answers)} candidates: at most {len(LETTERS)} can be ranked")
        silent = [explain_empty(case, answer) for answer in answers]
        shown = [at for at, why in enumerate(silent) if why is None]
        asks = orders(len(shown), self.permutations, "\0".join(answers)) if len(shown) > 1 else []
        replies = await together([self._ranked(case, [answers[shown[i]] for i in o]) for o in asks])
        places: dict[int, list[int]] = {at: [] for at in shown}
        for order, (_, ranking) in zip(asks, replies, strict=True):
            for place, letter in enumerate(ranking):
                places[shown[order[LETTERS.index(letter)]]].append(place)
        # Whoever says nothing comes after all others.
        scores = [
            -mean(places[at] or [0]) if at in places else -float(len(traces))
            for at in range(len(traces))
        ]
        spent = sum((reply.usage for reply, _ in replies), FREE)
        return _signals(scores, silent, places, spent)

    async def _ranked(self, case: Case, answers: Sequence[str]) -> tuple[Response, list[str]]:
        letters = LETTERS[: len(answers)]
        candidates = dict(zip(letters, answers, strict=True))
        reference = self.read_shown_reference(case)
        material = self.material(case, "", reference=reference, titles=EMPTY, **candidates)
        number = material.number if self.bind == "schema" else None
        shown = "\n\n".join(material.texts[letter] or f"{letter}: -" for letter in letters)
        reply = await self.ask(
            PROMPT,
            material,
            make_ranking_schema(letters, number),
            check=lambda value: _incomplete(_ranking(value), letters),
            candidates=shown,
            letters=", ".join(letters),
            criterion=self.used_criterion,
        )
        return reply, _ranking(reply.value)


def _ranking(value: Any) -> list[str]:
    given = value["ranking"]
    return given.split(" > ") if isinstance(given, str) else list(given)


def _incomplete(ranking: Sequence[str], letters: str) -> str | None:
    if sorted(ranking) == list(letters):
        return None
    return f"the ranking {', '.join(ranking)} does not name each of {', '.join(letters)} once"


@lru_cache(maxsize=64)
def make_ranking_schema(letters: str, number: str | None) -> dict[str, Any]:
    """Reasons, then the letters from best to worst.

    Where a grammar binds the model and there are few candidates, it binds it to whole orders.
    """
    ranking: dict[str, Any] = {
        "type": "array",
        "items": {"type": "string", "enum": list(letters)},
        "minItems": len(letters),
        "maxItems": len(letters),
    }
    if number is not None and len(letters) <= SPELLED:
        ranking = {"type": "string", "enum": [" > ".join(one) for one in permutations(letters)]}
    return numbered({"evidence": written(number), "ranking": ranking}, number)


def _signals(
    scores: Sequence[float],
    silent: Sequence[str | None],
    places: Mapping[int, Sequence[int]],
    spent: Usage,
) -> list[Signal]:
    ranks, n = compute_shared_ranks(scores), len(scores)
    signals = []
    for at, rank in enumerate(ranks):
        seen = ", ".join(str(place + 1) for place in places.get(at, ()))
        why = silent[at] or (f"ranked {seen} in {len(places[at])} orders" if seen else "alone")
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
