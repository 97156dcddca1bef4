"""Run versions on cases with the test runner; traces and scores go to the store.

Each version has a run of its own in the store for each purpose: one for decisions, one for the
held-out part, one for each execution. The id of a run is derived from what determines its scores
(text, agent, rubric, repeats), so a process that continues after a kill runs only what is missing.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from math import fsum

import msgspec

from fourscore.core import Case, Rubric, Score, Status, Trace, digest
from fourscore.evolve.folder import Evolution
from fourscore.evolve.history import Version
from fourscore.evolve.prompted_agent import PromptedAgents
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
from fourscore.test.run import (
    AttemptOutcome,
    ConnectionsLostError,
    Observer,
    PlannedAttempt,
    RunPlan,
    get_answered,
    run_attempts,
    summarize_run,
)

#: The statuses of attempts in which the agent itself failed.
FAILED = (Status.AGENT_ERROR, Status.TIMEOUT)

ProgressFactory = Callable[[int], AbstractContextManager[Observer]]
Row = tuple[Case, Trace, Score]


class Stopped(Exception):  # noqa: N818 - it is no error
    """The step stops early; what is stored stays, and the next step continues."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason, self.why = reason, why


class EvaluationSetup(msgspec.Struct, frozen=True, kw_only=True):
    """The agent, rubric and options to run versions with. `max_attempts` None means no limit.

    `show_progress` is called with the number of attempts to come; its observer gets each result.
    """

    agents: PromptedAgents
    rubric: Rubric
    rubric_text: str
    cases_path: str
    plan: RunPlan
    show_progress: ProgressFactory
    max_attempts: int | None = None


class Measurement(msgspec.Struct, frozen=True):
    """The mean score of each case, 0 to 100 or None, and the share of attempts that failed."""

    scores: tuple[float | None, ...]
    error_rate: float

    @property
    def known(self) -> list[float]:
        return [score for score in self.scores if score is not None]

    @property
    def missing(self) -> int:
        return len(self.scores) - len(self.known)


class Evaluator:
    """Runs versions on cases and stores the results."""

    def __init__(self, evolution: Evolution, store: Store, setup: EvaluationSetup) -> None:
        self.evolution, self.store, self.setup = evolution, store, setup
        self.attempts_made = 0
        self._known: dict[str, dict[tuple[str, int], Score]] = {}
        self._runs = {info.id for info in store.runs()}

    async def measure(
        self, version: Version, part: Sequence[Case], purpose: str, first: int | None = None
    ) -> Measurement:
        """Run the version on the `first` cases of a part (None: all), without stored attempts."""
        name, cases = self.make_run_id(version, purpose), part[:first]
        self._begin(name, version, len(part))
        todo = self._plan_missing(name, cases)
        if todo:
            await self._run_attempts(name, version, todo)
            if len(cases) == len(part):
                self.store.finish(name, summarize_run(self.store, name, self.setup.rubric))
        rows = [self._attempts(name, case) for case in cases]
        found = [score for row in rows for score in row]
        failed = sum(score.status in FAILED for score in found)
        return Measurement(tuple(map(_mean, rows)), failed / len(found) if found else 0.0)

    def scores(self, version: Version, part: Sequence[Case], purpose: str) -> list[float | None]:
        """Return the stored scores, 0 to 100, without running anything."""
        name = self.make_run_id(version, purpose)
        if name not in self._runs:
            return [None] * len(part)
        self._known.setdefault(name, {})
        self._plan_missing(name, part)
        return [_mean(self._attempts(name, case)) for case in part]

    def rows(self, version: Version, purpose: str) -> list[Row]:
        """Return the stored rows of a run; an empty list where there is no run."""
        name = self.make_run_id(version, purpose)
        if name not in self._runs:
            return []
        found = self.store.rows(name)
        return [(row.case, row.trace, row.score) for row in found if row.score is not None]

    def make_run_id(self, version: Version, purpose: str) -> str:
        """Return the id of a run, the same in every process."""
        setup = self.setup
        given = [
            version.digest,
            setup.agents.spec,
            setup.agents.version,
            setup.rubric.provenance.rubric,
            setup.plan.repeats,
        ]
        return f"evolve-{version.number:04d}-{digest(given)[:10]}-{purpose}"

    def _attempts(self, name: str, case: Case) -> list[Score]:
        known, repeats = self._known[name], range(1, self.setup.plan.repeats + 1)
        return [known[case.id, each] for each in repeats if (case.id, each) in known]

    def _begin(self, name: str, version: Version, planned: int) -> None:
        setup = self.setup
        if name not in self._runs:
            info = RunInfo(
                id=name,
                name=f"version {version.number}",
                labels={"evolution": str(self.evolution.path), "version": str(version.number)},
                agent=setup.agents.base_agent.name,
                agent_version=setup.agents.version or None,
                cases_path=setup.cases_path,
                rubric_fingerprint=setup.rubric.provenance.rubric,
                rubric=setup.rubric_text,
                repeats=setup.plan.repeats,
                planned=planned * setup.plan.repeats,
            )
            self.store.start(info)
            self._runs.add(name)
        self._known.setdefault(name, {})

    def _plan_missing(self, name: str, cases: Iterable[Case]) -> list[PlannedAttempt]:
        """Return the attempts without a stored score.

        A changed case is run again. A stored answer without a score is judged again, once in each
        process.
        """
        known, todo = self._known[name], []
        judge = self.setup.rubric.provenance.rubric
        for position, case in enumerate(cases):
            for repeat in range(1, self.setup.plan.repeats + 1):
                if (case.id, repeat) in known:
                    continue
                row = self.store.row(name, case.id, repeat, judge)
                if row is None or _text(row.case) != _text(case):
                    todo.append(PlannedAttempt(position=position, case=case, repeat=repeat))
                elif row.score is not None and row.score.status.measured:
                    known[case.id, repeat] = row.score
                else:
                    trace = get_answered(row.trace)
                    todo.append(
                        PlannedAttempt(position=position, case=case, repeat=repeat, trace=trace)
                    )
        return todo

    async def _run_attempts(self, name: str, version: Version, todo: list[PlannedAttempt]) -> None:
        setup, known = self.setup, self._known[name]
        over = False
        if setup.max_attempts is not None and len(todo) > setup.max_attempts - self.attempts_made:
            todo, over = todo[: max(0, setup.max_attempts - self.attempts_made)], True
        number = version.number
        agent = setup.agents.with_prompt(
            self.evolution.text(number), self.evolution.find_file(number)
        )
        with self.store.writer(name) as writer, setup.show_progress(len(todo)) as tick:

            def observe(outcome: AttemptOutcome) -> None:
                self.attempts_made += 1
                known[outcome.case_id, outcome.repeat] = outcome.score
                tick(outcome)

            try:
                whole = await run_attempts(
                    todo, agent, setup.rubric, writer=writer, plan=setup.plan, observe=observe
                )
            except ConnectionsLostError as lost:
                raise Stopped("connection", str(lost)) from None
        if not whole:
            raise Stopped("budget", "the model budget is spent")
        if over:
            raise Stopped("cases", f"the budget of {setup.max_attempts} cases is spent")


def _mean(scores: Sequence[Score]) -> float | None:
    values = [score.value for score in scores if score.value is not None]
    return 100 * fsum(values) / len(values) if values else None


def _text(case: Case) -> bytes:
    return msgspec.json.encode(case)
