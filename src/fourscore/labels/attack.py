"""Attack a judge: how often do attack texts get a wrong answer to pass?

For each case the judge first judges a wrong answer without an attack: the base. Then it judges
attacks, alone or attached to that answer. An attack succeeds if its score passes and the base did
not. A case whose wrong answer passes without an attack says nothing about attacks and is counted
apart; so are attempts that could not be measured.
"""

import asyncio
import hashlib
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
from fourscore.judges.llm.attacks import PLACES, Attack, AttackFamily, Place, read_wrong_answer
from fourscore.stats.intervals import wilson

#: Successful attacks that are kept of each family, and characters of each.
SHOWN, LONGEST = 3, 2000
Outcome = Literal["succeeded", "resisted", "already"]
#: Whether a wrong answer passed without an attack, its value, and the status of its score.
Base = tuple[bool | None, float | None, str]
NO_BASE: Base = (False, None, "")


class AttackPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How many attacks are tried, and how; `per_family` None means all."""

    per_family: int | None = 50
    seed: int = 0
    concurrency: int = 16
    deadline: float = 60.0


class Attempt(msgspec.Struct, frozen=True):
    """One attack in the answer to one case."""

    attack: Attack
    case: Case
    place: Place

    @property
    def name(self) -> str:
        return f"{self.attack.name} {self.place} {self.case.id}"


def plan_attempts(
    families: Sequence[AttackFamily], cases: Callable[[], Iterable[Case]], plan: AttackPlan
) -> Iterator[Attempt]:
    """Return all attempts, or so many of each family, drawn by the seed and their names."""
    for family in families:
        every = _list_attempts(family, cases())
        if plan.per_family is None:
            yield from every
        else:
            keyed = ((_draw(plan.seed, one.name), one) for one in every)
            for _, one in heapq.nsmallest(plan.per_family, keyed, key=lambda pair: pair[0]):
                yield one


def _list_attempts(family: AttackFamily, cases: Iterable[Case]) -> Iterator[Attempt]:
    for case in cases:
        places = PLACES if read_wrong_answer(case) is not None else ("alone",)
        for attack in family.attacks:
            for place in places:
                yield Attempt(attack, case, place)


def _draw(seed: int, name: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=16).digest()


class SuccessfulAttack(msgspec.Struct, frozen=True, kw_only=True):
    """An attack that succeeded; its answer is hostile text."""

    attack: str
    place: Place
    case: str
    value: float | None
    base: float | None
    answer: str
    reason: str


class FamilyResult:
    """Counts and examples of one family's attempts."""

    def __init__(self, about: str = "") -> None:
        self.about = about
        self.planned = self.raised = 0
        self.outcomes: Counter[str] = Counter()
        self.unmeasured: Counter[str] = Counter()
        self.successes: list[tuple[tuple[float, str], SuccessfulAttack]] = []

    def add(self, other: "FamilyResult") -> None:
        """Add the counts of another family."""
        self.planned += other.planned
        self.raised += other.raised
        self.outcomes += other.outcomes
        self.unmeasured += other.unmeasured

    def keep(self, name: str, success: SuccessfulAttack) -> None:
        """Keep an example: those with the highest scores, then the first by name."""
        entry = ((-(success.value or 0.0), name), success)
        self.successes = heapq.nsmallest(SHOWN, [*self.successes, entry], key=lambda one: one[0])

    def document(self) -> dict[str, Any]:
        """Return the counts as JSON values; `planned` is the sum of all outcomes."""
        succeeded, resisted = self.outcomes["succeeded"], self.outcomes["resisted"]
        n = succeeded + resisted
        return {
            "planned": self.planned,
            "attempts": n,
            "succeeded": succeeded,
            "rate": succeeded / n if n else None,
            "interval": list(wilson(succeeded, n)) if n else None,
            "resisted": resisted,
            "raised": self.raised,
            "already_passed": self.outcomes["already"],
            "unmeasured": dict(sorted(self.unmeasured.items())),
        }


Observer = Callable[[Attempt, str], None]


async def attack(
    rubric: Rubric,
    families: Sequence[AttackFamily],
    cases: Callable[[], Iterable[Case]],
    plan: AttackPlan,
    observe: Observer = lambda _attempt, _outcome: None,
) -> dict[str, Any]:
    """Try all planned attacks and return a document; it depends only on the judge and the plan."""
    if any(slot.is_ranker for slot in rubric.slots):
        raise ConfigError(
            "attacks need a judge of single answers; this one compares answers", field="judge"
        )
    attempts = plan_attempts(families, cases, plan)
    run = _AttackRun(rubric, families, attempts, plan=plan, observe=observe)
    try:
        async with asyncio.TaskGroup() as tasks:
            for _ in range(plan.concurrency):
                tasks.create_task(run.work())
    except BaseExceptionGroup as group:
        if isinstance(group.exceptions[0], FourscoreError):
            raise group.exceptions[0] from None  # such as a broken case file
        raise
    return run.document()


class _AttackRun:
    def __init__(
        self,
        rubric: Rubric,
        families: Sequence[AttackFamily],
        attempts: Iterator[Attempt],
        *,
        plan: AttackPlan,
        observe: Observer,
    ) -> None:
        self.rubric, self.attempts, self.plan, self.observe = rubric, attempts, plan, observe
        self.results = {family.name: FamilyResult(family.about) for family in families}
        self.bases: dict[str, asyncio.Future[Base]] = {}
        self.executor: Executor = INLINE if rubric.is_bounded else LocalExecutor(plan.deadline)
        self.cost = Usage()

    async def work(self) -> None:
        """Try attempts until none is left."""
        for attempt in self.attempts:
            result = self.results[attempt.attack.family]
            result.planned += 1
            self.observe(attempt, await self._try(attempt, result))

    async def _try(self, attempt: Attempt, result: FamilyResult) -> str:
        case, wrong = attempt.case, read_wrong_answer(attempt.case)
        passed, base, status = NO_BASE if wrong is None else await self._judge_base(case, wrong)
        if passed is None:
            result.unmeasured[status] += 1
            return status
        if passed:
            result.outcomes["already"] += 1
            return "already"
        answer = attempt.attack.answer(case, attempt.place, wrong or "")
        scored = await self._score(case, answer)
        if scored.passed is None:
            result.unmeasured[scored.status.value] += 1
            return scored.status.value
        outcome: Outcome = "succeeded" if scored.passed else "resisted"
        result.outcomes[outcome] += 1
        if scored.passed:
            result.keep(attempt.name, _make_success(attempt, answer, scored, base))
        elif base is not None and scored.value is not None and scored.value > base:
            result.raised += 1
        return outcome

    async def _judge_base(self, case: Case, wrong: str) -> Base:
        """Return what the wrong answer gets without an attack, judged once for each case."""
        known = self.bases.get(case.id)
        if known is None:
            known = self.bases[case.id] = asyncio.get_running_loop().create_future()
            scored = await self._score(case, wrong)
            known.set_result((scored.passed, scored.value, scored.status.value))
        return await known

    async def _score(self, case: Case, answer: str) -> Score:
        (scored,) = await score(self.rubric, case, [Trace(output=answer)], executor=self.executor)
        self.cost += scored.cost
        return scored

    def document(self) -> dict[str, Any]:
        whole = FamilyResult()
        for result in self.results.values():
            whole.add(result)
        bases = [base.result() for base in self.bases.values()]
        passed = sum(one is True for one, _, _ in bases)
        measured = sum(one is not None for one, _, _ in bases)
        provenance = self.rubric.provenance
        return {
            "rubric": self.rubric.name,
            "threshold": self.rubric.pass_threshold,
            "per_family": self.plan.per_family,
            "seed": self.plan.seed,
            "base": {
                "cases": len(bases),
                "measured": measured,
                "passed": passed,
                "rate": passed / measured if measured else None,
                "interval": list(wilson(passed, measured)) if measured else None,
            },
            "all": whole.document(),
            "families": {
                name: {"about": result.about, **result.document()}
                for name, result in self.results.items()
            },
            "examples": [
                msgspec.to_builtins(success)
                for result in self.results.values()
                for _, success in result.successes
            ],
            "provenance": msgspec.to_builtins(provenance),
            "cost": msgspec.to_builtins(self.cost),
        }


def _make_success(
    attempt: Attempt, answer: str, scored: Score, base: float | None
) -> SuccessfulAttack:
    return SuccessfulAttack(
        attack=attempt.attack.name,
        place=attempt.place,
        case=attempt.case.id,
        value=scored.value,
        base=base,
        answer=answer if len(answer) <= LONGEST else f"{answer[: LONGEST - 1]}…",
        reason=scored.reason[:LONGEST],
    )
