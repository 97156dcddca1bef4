"""The judge `rating`: one number for the whole answer, the baseline for all other judges.

The model is asked for evidence and then for a whole number on a scale. This is cheap and coarse:
models use few of the numbers, and rarely the same ones as people do.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from fourscore.core import Case, ConfigError, Signal, Trace, Usage
from fourscore.core.levels import find_level
from fourscore.core.numbers import check_whole
from fourscore.judges.llm.comparison import BETTER
from fourscore.judges.llm.model_judge import ModelJudge, read_reference
from fourscore.judges.llm.verdicts import make_reply_schema, make_text_schema

NAME, PROMPT = "rating", "rating"


class Rating(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rates an answer by a whole number from `min_score` to `max_score`, scaled to [0, 1].

    `min_score`, `max_score`: the lowest and the highest number.
    `criterion`: what is rated; by default how well the answer answers the question.
    `reference`: show the model the answer that the case expects.
    """

    min_score: int = 0
    max_score: int = 10
    criterion: str = ""
    reference: bool = True
    form: Literal["full"] = "full"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_whole("min_score", self.min_score)
        check_whole("max_score", self.max_score)
        if self.min_score >= self.max_score:
            message = f"expected less than max_score ({self.max_score})"
            raise ConfigError(message, field="min_score")

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions(PROMPT)

    def most(self, case: Case) -> Usage:
        return self.ceiling(PROMPT, case, 1)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        answer = trace.answer
        if (why := self.explain_empty(case, answer)) is not None:
            return (Signal(name=NAME, value=0.0, level=find_level(0.0), reason=why),)
        fenced = self.fence_case(case, answer, reference=read_reference(case, self.reference))
        number = fenced.number if self.bind == "schema" else None
        reply = await self.ask(
            PROMPT,
            fenced,
            make_rating_schema(self.min_score, self.max_score, number),
            criterion=self.criterion or BETTER[self.language],
            low=str(self.min_score),
            high=str(self.max_score),
        )
        score, quotation = reply.value["score"], reply.value["evidence"]
        value = (score - self.min_score) / (self.max_score - self.min_score)
        found = self.find_quotation(quotation, answer, "output")
        return (
            Signal(
                name=NAME,
                value=value,
                level=find_level(value),
                reason=f"{score} of {self.min_score} to {self.max_score}: {quotation[:300]}",
                evidence=() if found is None else (found,),
                usage=reply.usage,
            ),
        )


@lru_cache(maxsize=64)
def make_rating_schema(low: int, high: int, number: str | None) -> dict[str, Any]:
    """Return the JSON Schema of a rating: check number, evidence, score, in this order."""
    score = {"type": "integer", "minimum": low, "maximum": high}
    return make_reply_schema({"evidence": make_text_schema(number), "score": score}, number)
