"""A list of criteria with weights, each a question of its own: the judge for whatever has no rule.

One yes or no for each criterion is easier to answer, harder to talk around and easier to dispute
than one number for everything. The value is the weight of what is met over all weight.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from fourscore.core import Case, ConfigError, Signal, Trace, Usage
from fourscore.core.levels import find_level
from fourscore.core.numbers import check_finite
from fourscore.judges.dimensions.signals import MAX_EVIDENCE
from fourscore.judges.llm.injection_defences import Material
from fourscore.judges.llm.model_judge import ModelJudge, Verdict, reference_of, together
from fourscore.judges.llm.openers import explain_empty
from fourscore.judges.llm.verdicts import Form
from fourscore.models.messages import FREE

NAME = "criteria"
_TOLD = 3


class Criterion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A statement about the answer, and whether it should hold."""

    text: str
    weight: float = 1.0
    expect: Literal["yes", "no"] = "yes"

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError("text: a criterion says something")
        check_finite("weight", self.weight, low=0, high=1e9)


class Criteria(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weighted share of the criteria that an answer meets.

    With `soft` a criterion counts by how likely its verdict was to the model itself, where the
    model tells. `reference` shows it the case's expected answer. `between` are the values of an
    answer that meets nothing and of one that meets everything, for criteria that were fitted.
    Its form is `full` unless it is set: the quotation is what people dispute. A model of a billion
    parameters needs `brief`: it writes down the statement itself as evidence, and believes it.
    """

    criteria: tuple[Criterion | str, ...]
    soft: bool = False
    reference: bool = True
    between: tuple[float, float] = (0.0, 1.0)
    form: Form = "full"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.criteria:
            raise ConfigError("there is nothing to ask", field="criteria")
        if not any(one.weight for one in self.asked):
            raise ConfigError("every weight is 0: nothing would count", field="criteria")
        low, high = self.between
        if not 0.0 <= low < high <= 1.0:
            raise ConfigError("expected two numbers in [0, 1], the lower first", field="between")

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def asked(self) -> tuple[Criterion, ...]:
        return _read(self.criteria)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.versions("criterion")

    def most(self, case: Case) -> Usage:
        return self.ceiling("criterion", case, len(self.criteria))

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        answer = trace.answer
        if (why := explain_empty(case, answer)) is not None:
            return (Signal(name=NAME, value=0.0, level=find_level(0.0), reason=why),)
        material = self.material(case, answer, reference=reference_of(case, self.reference))
        verdicts = await together([self._verdict(one, material, answer) for one in self.asked])
        return (self._signal(verdicts),)

    async def _verdict(self, one: Criterion, material: Material, answer: str) -> Verdict:
        return await self.decide(
            "criterion",
            material,
            text=answer,
            quoting=self.form == "full",
            criterion=one.text,
        )

    def _signal(self, verdicts: Sequence[Verdict]) -> Signal:
        pairs = list(zip(self.asked, verdicts, strict=True))
        total = sum(one.weight for one, _ in pairs)
        share = sum(one.weight * self._met(one, verdict) for one, verdict in pairs) / total
        low, high = self.between
        value = low + (high - low) * share
        return Signal(
            name=NAME,
            value=min(1.0, value),
            level=find_level(value),
            reason=_reason(pairs),
            evidence=tuple(one.evidence for one in verdicts if one.evidence is not None)[
                :MAX_EVIDENCE
            ],
            usage=sum((one.usage for one in verdicts), FREE),
        )

    def _met(self, one: Criterion, verdict: Verdict) -> float:
        if self.soft and verdict.shares is not None:
            return verdict.shares[one.expect]
        return float(verdict.choice == one.expect)


@lru_cache(1024)
def _read(criteria: tuple[Criterion | str, ...]) -> tuple[Criterion, ...]:
    return tuple(one if isinstance(one, Criterion) else Criterion(one) for one in criteria)


def _reason(pairs: Sequence[tuple[Criterion, Verdict]]) -> str:
    missed = [
        f"'{one.text}'" + (f" ({verdict.said[:120]!r})" if verdict.evidence else "")
        for one, verdict in pairs
        if verdict.choice != one.expect
    ]
    said = [f"{len(pairs) - len(missed)} of {len(pairs)} criteria are met"]
    if missed:
        more = f" and {len(missed) - _TOLD} more" if len(missed) > _TOLD else ""
        said.append(f"not met: {', '.join(missed[:_TOLD])}{more}")
    unfound = sum(1 for _, verdict in pairs if verdict.said.strip() and verdict.evidence is None)
    if unfound:
        said.append(f"{unfound} of the quotations are not in the answer")
    least = min((verdict.share for _, verdict in pairs if verdict.shares is not None), default=None)
    if least is not None:
        said.append(f"the model was at least {least:.0%} sure of each")
    return "; ".join(said)
