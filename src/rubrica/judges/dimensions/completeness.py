"""Does the answer cover what was asked? The weighted share of aspects it says something about."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from rubrica.core import Case, Signal, Trace
from rubrica.judges.dimensions.coverage.matching import covers
from rubrica.judges.dimensions.coverage.plan import Plan, plan_of
from rubrica.judges.dimensions.coverage.reading import Cover
from rubrica.judges.dimensions.coverage.shapes import SHAPES
from rubrica.judges.dimensions.finding import READ, Sure, finding, inapplicable, quote
from rubrica.judges.openers import LONGEST, why_nothing
from rubrica.judges.visible import shown, visible

NAME = "completeness"
#: Aspects that a reason names, and characters of each.
_NAMES, _SHORT = 8, 60
#: Characters within which nearly all answers show that they are one.
_OPENING = 200


class Completeness(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The share of `expected.aspects` of which something of substance is said.

    Without any, the parts of the question are the aspects. Named, promised, refused or pasted from
    the question is not covered.
    """

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        plan = plan_of(case)
        if not sum(aspect.weight for aspect in plan.aspects):
            return (inapplicable(NAME, "no expected.aspects, and no question to take them from"),)
        answer = shown(trace.answer)
        if (nothing := _why_nothing(case, answer)) is not None and not _agrees(plan, answer):
            return (finding(NAME, 0.0, nothing, "high"),)
        return (_found(plan, answer),)


def _why_nothing(case: Case, answer: str) -> str | None:
    """Why the answer says nothing. Of a long one, what it opens with is enough to tell."""
    if len(answer) > _OPENING and len(visible(answer[:_OPENING]).strip()) > LONGEST:
        return None
    return why_nothing(case, answer)


def _agrees(plan: Plan, answer: str) -> bool:
    """`Of course!` opens an answer, and is one where a yes or a no was asked for."""
    opening = answer.strip()[:_OPENING]
    return bool(opening) and plan.asks_yes_no and SHAPES["answer"](opening, opening.lower())


def _found(plan: Plan, answer: str) -> Signal:
    found = covers(answer[:READ], plan)
    listed = [(aspect.text, aspect.weight) for aspect in plan.aspects]
    value, reason = told(listed, [cover is not None for cover in found])
    if len(answer) > READ:
        reason += f"; only the first {READ} of {len(answer)} characters were read"
    evidence = [quote(answer, cover.start, cover.end) for cover in found if cover]
    return finding(NAME, value, reason, _sure(plan, found), evidence)


def told(aspects: Sequence[tuple[str, float]], covered: Sequence[bool]) -> tuple[float, str]:
    """The weighted share of the aspects that are covered, and which are not."""
    pairs = list(zip(aspects, covered, strict=True))
    whole = sum(weight for _, weight in aspects)
    value = sum(weight for (_, weight), is_covered in pairs if is_covered) / whole
    missing = [text for (text, _), is_covered in pairs if not is_covered]
    reason = f"{len(pairs) - len(missing)} of {len(pairs)} aspects covered"
    return value, reason + (f"; nothing of substance on {_named(missing)}" if missing else "")


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
