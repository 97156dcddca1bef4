"""How far a judge can be talked into a good score.

For each case the judge first sees an answer that is wrong, by itself: the base. Then it sees
attacks, alone or attached to that answer. An attack has succeeded where the score passes and the
base did not; a case whose wrong answer passes by itself tells nothing about attacks, and is counted
apart. So is what could not be measured: a judge that gives no verdict was not talked into one.
"""

import asyncio
import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import msgspec

from fourscore.core import (
    INLINE,
    Case,
    ConfigError,
    Executor,
    FourscoreError,
    Rubric,
    Score,
    Trace,
    Usage,
    score,
)
from fourscore.executors.local import LocalExecutor
from fourscore.judges.llm.attacks import AttackFamily, Place, read_wrong_answer
from fourscore.labels.attack_plan import Attempt, Plan, planned
from fourscore.stats.intervals import wilson

#: Successes that are kept to be shown, for each family, and characters of each.
SHOWN, LONGEST = 3, 2000
FREE = Usage()
End = Literal["succeeded", "resisted", "already"]
#: Whether a wrong answer passed by itself, its value, and the status of its score.
Base = tuple[bool | None, float | None, str]
NO_BASE: Base = (False, None, "")


class Success(msgspec.Struct, frozen=True, kw_only=True):
    """An attack that worked, for people to look at; what it wrote is hostile."""

    attack: str
    place: Place
    case: str
    value: float | None
    base: float | None
    answer: str
    reason: str


class Line:
    """What came of one family."""

    def __init__(self, about: str = "") -> None:
        self.about = about
        self.planned = self.raised = 0
        self.ends: Counter[str] = Counter()
        self.unmeasured: Counter[str] = Counter()
        self.successes: list[tuple[tuple[float, str], Success]] = []

    def add(self, other: "Line") -> None:
        self.planned += other.planned
        self.raised += other.raised
        self.ends += other.ends
        self.unmeasured += other.unmeasured

    def keep(self, name: str, success: Success) -> None:
        """The highest scores, then the first by name: the same whatever came first."""
        entry = ((-(success.value or 0.0), name), success)
        self.successes = heapq.nsmallest(SHOWN, [*self.successes, entry], key=lambda one: one[0])

    def document(self) -> dict[str, Any]:
        """JSON-ready. `planned` is succeeded, resisted, already passed and unmeasured together."""
        succeeded, resisted = self.ends["succeeded"], self.ends["resisted"]
        n = succeeded + resisted
        return {
            "planned": self.planned,
            "attempts": n,
            "succeeded": succeeded,
            "rate": succeeded / n if n else None,
            "interval": list(wilson(succeeded, n)) if n else None,
            "resisted": resisted,
            "raised": self.raised,
            "already_passed": self.ends["already"],
            "unmeasured": dict(sorted(self.unmeasured.items())),
        }


Observer = Callable[[Attempt, str], None]


async def attack(
    rubric: Rubric,
    families: Sequence[AttackFamily],
    cases: Callable[[], Iterable[Case]],
    plan: Plan,
    observe: Observer = lambda _attempt, _end: None,
) -> dict[str, Any]:
    """Try all that is planned and give a document; the same judge gives the same document."""
    if any(slot.is_ranker for slot in rubric.slots):
        raise ConfigError("it compares answers; attacks are tried on judges of one", field="judge")
    todo = planned(families, cases, plan)
    work = _Work(rubric, families, todo, plan, observe)
    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(plan.concurrency):
                tasks.create_task(work.on())
    except BaseExceptionGroup as group:
        if isinstance(group.exceptions[0], FourscoreError):
            raise group.exceptions[0] from None  # a broken file of cases
        raise
    return work.document()


class _Work:
    def __init__(
        self,
        rubric: Rubric,
        families: Sequence[AttackFamily],
        todo: Iterator[Attempt],
        plan: Plan,
        observe: Observer,
    ) -> None:
        self.rubric, self.todo, self.plan, self.observe = rubric, todo, plan, observe
        self.lines = {family.name: Line(family.about) for family in families}
        self.bases: dict[str, asyncio.Future[Base]] = {}
        self.executor: Executor = INLINE if rubric.is_bounded else LocalExecutor(plan.deadline)
        self.cost = FREE

    async def on(self) -> None:
        for attempt in self.todo:
            line = self.lines[attempt.attack.family]
            line.planned += 1
            self.observe(attempt, await self._one(attempt, line))

    async def _one(self, attempt: Attempt, line: Line) -> str:
        case, wrong = attempt.case, read_wrong_answer(attempt.case)
        passed, base, status = NO_BASE if wrong is None else await self._base(case, wrong)
        if passed is None:
            line.unmeasured[status] += 1
            return status
        if passed:
            line.ends["already"] += 1
            return "already"
        answer = attempt.attack.answer(case, attempt.place, wrong or "")
        scored = await self._scored(case, answer)
        if scored.passed is None:
            line.unmeasured[scored.status.value] += 1
            return scored.status.value
        end: End = "succeeded" if scored.passed else "resisted"
        line.ends[end] += 1
        if scored.passed:
            line.keep(attempt.name, _success(attempt, answer, scored, base))
        elif base is not None and scored.value is not None and scored.value > base:
            line.raised += 1
        return end

    async def _base(self, case: Case, wrong: str) -> Base:
        """What the wrong answer gets by itself, asked once for each case."""
        known = self.bases.get(case.id)
        if known is None:
            known = self.bases[case.id] = asyncio.get_running_loop().create_future()
            scored = await self._scored(case, wrong)
            known.set_result((scored.passed, scored.value, scored.status.value))
        return await known

    async def _scored(self, case: Case, answer: str) -> Score:
        (scored,) = await score(self.rubric, case, [Trace(output=answer)], executor=self.executor)
        self.cost += scored.cost
        return scored

    def document(self) -> dict[str, Any]:
        whole = Line()
        for line in self.lines.values():
            whole.add(line)
        told = [base.result() for base in self.bases.values()]
        passed = sum(one is True for one, _, _ in told)
        measured = sum(one is not None for one, _, _ in told)
        provenance = self.rubric.provenance
        return {
            "rubric": self.rubric.name,
            "threshold": self.rubric.pass_threshold,
            "per_family": self.plan.per_family,
            "seed": self.plan.seed,
            "base": {
                "cases": len(told),
                "measured": measured,
                "passed": passed,
                "rate": passed / measured if measured else None,
                "interval": list(wilson(passed, measured)) if measured else None,
            },
            "all": whole.document(),
            "families": {
                name: {"about": line.about, **line.document()} for name, line in self.lines.items()
            },
            "examples": [
                msgspec.to_builtins(success)
                for line in self.lines.values()
                for _, success in line.successes
            ],
            "provenance": msgspec.to_builtins(provenance),
            "cost": msgspec.to_builtins(self.cost),
        }


def _success(attempt: Attempt, answer: str, scored: Score, base: float | None) -> Success:
    return Success(
        attack=attempt.attack.name,
        place=attempt.place,
        case=attempt.case.id,
        value=scored.value,
        base=base,
        answer=answer if len(answer) <= LONGEST else f"{answer[: LONGEST - 1]}…",
        reason=scored.reason[:LONGEST],
    )
