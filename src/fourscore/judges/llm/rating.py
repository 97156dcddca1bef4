"""One number for the whole answer: the plain prompt that everything else has to beat.

A model is asked for evidence and then for a whole number between two others. It is cheap, and
coarse: models use few of the numbers, and rarely the same ones as people do.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Literal

from fourscore.core import Case, ConfigError, Signal, Trace, Usage
from fourscore.core.levels import find_level
from fourscore.core.numbers import check_whole
from fourscore.judges.llm.comparison import BETTER
from fourscore.judges.llm.model_judge import ModelJudge, reference_of
from fourscore.judges.llm.openers import explain_empty
from fourscore.judges.llm.quotations import find_quotation
from fourscore.judges.llm.verdicts import numbered, written

NAME, PROMPT = "rating", "rating"


class Rating(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A whole number from `min_score` to `max_score`; the value is its place between them.

    `criterion` says what is rated; without one, how well the answer answers the question.
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
        return self.versions(PROMPT)

    def most(self, case: Case) -> Usage:
        return self.ceiling(PROMPT, case, 1)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        answer = trace.answer
        if (why := explain_empty(case, answer)) is not None:
            return (Signal(name=NAME, value=0.0, level=find_level(0.0), reason=why),)
        material = self.material(case, answer, reference=reference_of(case, self.reference))
        number = material.number if self.bind == "schema" else None
        reply = await self.ask(
            PROMPT,
            material,
            make_rating_schema(self.min_score, self.max_score, number),
            criterion=self.criterion or BETTER[self.language],
            low=str(self.min_score),
            high=str(self.max_score),
        )
        score, said = reply.value["score"], reply.value["evidence"]
        value = (score - self.min_score) / (self.max_score - self.min_score)
        found = find_quotation(said, answer, "output")
        return (
            Signal(
                name=NAME,
                value=value,
                level=find_level(value),
                reason=f"{score} of {self.min_score} to {self.max_score}: {said[:300]}",
                evidence=() if found is None else (found,),
                usage=reply.usage,
            ),
        )


@lru_cache(maxsize=64)
def make_rating_schema(low: int, high: int, number: str | None) -> dict[str, Any]:
    """Number, evidence, score, in this order."""
    score = {"type": "integer", "minimum": low, "maximum": high}
    return numbered({"evidence": written(number), "score": score}, number)
