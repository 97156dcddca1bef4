"""Does the answer cover what was asked? The weighted share of aspects it says something about."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from rubrica.core import Case, Signal, Trace
from rubrica.judges.dimensions.coverage.matching import covers
from rubrica.judges.dimensions.coverage.plan import Plan, plan_of
from rubrica.judges.dimensions.coverage.reading import Cover
from rubrica.judges.dimensions.finding import READ, Sure, finding, inapplicable, quote

_NAME = "completeness"
#: Aspects that a reason names, and characters of each.
_NAMES, _SHORT = 8, 60


class Completeness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The share of `expected.aspects` of which something of substance is said.

    Without any, the parts of the question are the aspects. Named, promised, refused or pasted from
    the question is not covered.
    """

    @property
    def names(self) -> tuple[str, ...]:
        return (_NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        plan = plan_of(case)
        if not sum(aspect.weight for aspect in plan.aspects):
            return (inapplicable(_NAME, "no expected.aspects, and no question to take them from"),)
        answer = trace.answer
        if not answer.strip():
            return (finding(_NAME, 0.0, "the answer is empty", "high"),)
        return (_found(plan, answer),)


def _found(plan: Plan, answer: str) -> Signal:
    found = covers(answer[:READ], plan)
    pairs = list(zip(plan.aspects, found, strict=True))
    whole = sum(aspect.weight for aspect in plan.aspects)
    value = sum(aspect.weight for aspect, cover in pairs if cover) / whole
    missing = [aspect.text for aspect, cover in pairs if not cover]
    reason = f"{len(found) - len(missing)} of {len(found)} aspects covered"
    if missing:
        reason += f"; nothing of substance on {_named(missing)}"
    if len(answer) > READ:
        reason += f"; only the first {READ} of {len(answer)} characters were read"
    evidence = [quote(answer, cover.start, cover.end) for cover in found if cover]
    return finding(_NAME, value, reason, _sure(plan, found), evidence)


def _named(missing: Sequence[str]) -> str:
    names = [text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}..." for text in missing]
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(f"'{name}'" for name in names[:_NAMES]) + more


def _sure(plan: Plan, found: Sequence[Cover | None]) -> Sure:
    """As sure as of the least sure aspect; those cut from the question are never quite."""
    ranks = {cover.sure for cover in found if cover}
    if "low" in ranks:
        return "low"
    if "medium" in ranks or any(aspect.derived for aspect in plan.aspects) or None in found:
        return "medium"
    return "high"
