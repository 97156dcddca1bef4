"""The judge `criteria`: a list of criteria with weights, one question each.

One yes or no for each criterion is easier to answer, harder to evade and easier to dispute than one
number for everything. The value is the weight of the criteria that are met over all weight.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from fourscore.core import Case, ConfigError, Signal, Trace, Usage
from fourscore.core.levels import find_level
from fourscore.core.numbers import check_finite
from fourscore.judges.dimensions.signals import MAX_EVIDENCE
from fourscore.judges.llm.injection_defences import FencedTexts
from fourscore.judges.llm.item_questions import gather_asks
from fourscore.judges.llm.model_judge import ModelJudge, read_reference
from fourscore.judges.llm.verdicts import Form, ModelVerdict
from fourscore.models.messages import NO_USAGE

NAME = "criteria"
#: Maximum number of unmet criteria that the reason names.
_NAMED = 3


class Criterion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A statement about the answer, its weight, and whether it should be true (`expect`)."""

    text: str
    weight: float = 1.0
    expect: Literal["yes", "no"] = "yes"

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError("text: a criterion must not be empty")
        check_finite("weight", self.weight, low=0, high=1e9)


class Criteria(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weighted share of the criteria that an answer meets.

    `criteria`: statements about the answer, each a text or a mapping of text, weight and expect.
    `soft`: a criterion counts by the model's probability of its verdict, where it is known.
    `reference`: show the model the answer that the case expects.
    `between`: the value of an answer that meets no criterion, and of one that meets all.
    `form`: `full` by default, so that people can check the quotations. A model of a billion
    parameters needs `brief`: it quotes the criterion itself as evidence, and then says yes.
    """

    criteria: tuple[Criterion | str, ...]
    soft: bool = False
    reference: bool = True
    between: tuple[float, float] = (0.0, 1.0)
    form: Form = "full"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.criteria:
            raise ConfigError("expected at least one criterion", field="criteria")
        if not any(one.weight for one in self.all_criteria):
            raise ConfigError("every weight is 0; expected one above 0", field="criteria")
        low, high = self.between
        if not 0.0 <= low < high <= 1.0:
            raise ConfigError("expected two numbers in [0, 1], the lower first", field="between")

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def all_criteria(self) -> tuple[Criterion, ...]:
        """The criteria, with plain texts as criteria of weight 1."""
        return _read_criteria(self.criteria)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions("criterion")

    def most(self, case: Case) -> Usage:
        return self.ceiling("criterion", case, len(self.criteria))

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        answer = trace.answer
        if (why := self.explain_empty(case, answer)) is not None:
            return (Signal(name=NAME, value=0.0, level=find_level(0.0), reason=why),)
        fenced = self.fence_case(case, answer, reference=read_reference(case, self.reference))
        verdicts = await gather_asks(
            [self._ask_criterion(one, fenced, answer) for one in self.all_criteria]
        )
        return (self._signal(verdicts),)

    async def _ask_criterion(
        self, one: Criterion, fenced: FencedTexts, answer: str
    ) -> ModelVerdict:
        return await self.decide(
            "criterion",
            fenced,
            text=answer,
            quoting=self.form == "full",
            criterion=one.text,
        )

    def _signal(self, verdicts: Sequence[ModelVerdict]) -> Signal:
        pairs = list(zip(self.all_criteria, verdicts, strict=True))
        total = sum(one.weight for one, _ in pairs)
        share = sum(one.weight * self._measure_met(one, verdict) for one, verdict in pairs) / total
        low, high = self.between
        value = low + (high - low) * share
        return Signal(
            name=NAME,
            value=min(1.0, value),
            level=find_level(value),
            reason=_write_reason(pairs),
            evidence=tuple(one.evidence for one in verdicts if one.evidence is not None)[
                :MAX_EVIDENCE
            ],
            usage=sum((one.usage for one in verdicts), NO_USAGE),
        )

    def _measure_met(self, one: Criterion, verdict: ModelVerdict) -> float:
        if self.soft and verdict.probabilities is not None:
            return verdict.probabilities[one.expect]
        return float(verdict.choice == one.expect)


@lru_cache(1024)
def _read_criteria(criteria: tuple[Criterion | str, ...]) -> tuple[Criterion, ...]:
    return tuple(one if isinstance(one, Criterion) else Criterion(one) for one in criteria)


def _write_reason(pairs: Sequence[tuple[Criterion, ModelVerdict]]) -> str:
    missed = [
        f"'{one.text}'" + (f" ({verdict.quotation[:120]!r})" if verdict.evidence else "")
        for one, verdict in pairs
        if verdict.choice != one.expect
    ]
    parts = [f"{len(pairs) - len(missed)} of {len(pairs)} criteria are met"]
    if missed:
        more = f" and {len(missed) - _NAMED} more" if len(missed) > _NAMED else ""
        parts.append(f"not met: {', '.join(missed[:_NAMED])}{more}")
    missing = sum(
        1 for _, verdict in pairs if verdict.quotation.strip() and verdict.evidence is None
    )
    if missing:
        parts.append(f"{missing} of the quotations are not in the answer")
    least = min(
        (verdict.choice_probability for _, verdict in pairs if verdict.probabilities is not None),
        default=None,
    )
    if least is not None:
        parts.append(f"the model was at least {least:.0%} sure of each")
    return "; ".join(parts)
