"""`TestSet` and `EvaluationRunner`: test sets as plain Python lists and dictionaries.

They keep everything in memory; `fourscore run` is for large sets, stored runs and resuming.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fourscore.agents.agent import attempt_case, load_agent, open_agent
from fourscore.core import (
    Case,
    FunctionJudge,
    JudgeError,
    Rubric,
    Score,
    Signal,
    Status,
    Trace,
    digest,
    score,
    thaw,
)
from fourscore.core.answer import read_answer
from fourscore.core.faults import make_fault_signals
from fourscore.core.rubric import SLACK
from fourscore.executors.local import LocalExecutor
from fourscore.executors.portal import PORTAL
from fourscore.formats.case_fields import parse_case
from fourscore.judges.checks.case_checks import add_case_checks
from fourscore.judges.rubric_file import judge_from_mapping, rubric_from_mapping
from fourscore.stats.summary import Summary

PASS_THRESHOLD = 0.7
#: A test as it was added: a Case, or the fields of one.
Test = Case | Mapping[str, Any]


class TestSet:
    """A list of tests, each a mapping or a Case as it was added, with an index of their tags."""

    __test__ = False  # not a test of pytest's

    def __init__(self, name: str) -> None:
        self.name = name
        self.tests: list[Test] = []
        self.tags: dict[str, list[int]] = {}

    def add_test(self, test_case: Test) -> None:
        """Add a test, and its tags to the index."""
        for tag in get_field(test_case, "tags") or ():
            self.tags.setdefault(tag, []).append(len(self.tests))
        self.tests.append(test_case)

    def filter(self, **criteria: object) -> list[Test]:
        """Return the tests with these fields; a test without the field does not match."""
        return [
            test
            for test in self.tests
            if all(get_field(test, key, criteria) == value for key, value in criteria.items())
        ]

    def get_complexity_distribution(self) -> dict[str, int]:
        """Return the number of tests of each complexity; a test without one is medium."""
        counts: dict[str, int] = {}
        for test in self.tests:
            complexity = get_field(test, "complexity") or "medium"
            counts[complexity] = counts.get(complexity, 0) + 1
        return counts

    def __len__(self) -> int:
        return len(self.tests)

    def __iter__(self) -> Iterator[Test]:
        return iter(self.tests)


def get_field(test: Test, key: str, missing: object = None) -> Any:
    """Return a field of a test, or a key of the metadata of a Case."""
    if isinstance(test, Case):
        if key in test.__struct_fields__:
            return getattr(test, key)
        return test.metadata.get(key, missing)
    return test.get(key, missing)


def make_case(test: Test) -> Case:
    """Convert a test to a case; keys that a case does not have go to its metadata."""
    return test if isinstance(test, Case) else parse_case(test)


def calculate_overall_score(
    dimension_scores: Mapping[str, float], rubric: Mapping[str, Any]
) -> float:
    """Return the weighted mean over the rubric's dimensions; 0 if no weight is above 0."""
    weights = {name: rubric[name]["weight"] for name in dimension_scores if name in rubric}
    total = sum(weights.values())
    if not total > 0:
        return 0
    gained = sum(dimension_scores[name] * weight for name, weight in weights.items())
    return float(gained / total)


class Evaluation(dict[str, Any]):
    """An evaluation as a dictionary, with the score and the trace that it was made from."""

    def __init__(self, scored: Score, trace: Trace) -> None:
        values = {signal.name: signal.value for signal in scored.signals}
        super().__init__(
            overall_score=scored.value,
            dimension_scores={name: value for name, value in values.items() if value is not None},
            passed=scored.passed,
        )
        self.scored, self.trace = scored, trace

    @property
    def is_unchanged(self) -> bool:
        """Whether the dictionary still says what the score says."""
        return self == Evaluation(self.scored, self.trace)


class EvaluationRunner:
    """Runs an agent over a test set and evaluates what comes back, dimension by dimension.

    `rubric` is a `Rubric`, or a mapping from name to `{"weight": …, "judge": …}`, where the judge
    is a judge, a function of (case, trace), or a judge's name; without one, the dimension's name is
    the judge's. `agent` is anything that `fourscore run` takes, or an object with `run(input)`.
    `run_test`, `evaluate_output` and `evaluate_dimension` may be overridden.
    """

    def __init__(self, test_set: TestSet, rubric: Rubric | Mapping[str, Any], agent: Any) -> None:
        self.test_set, self.rubric, self.agent = test_set, rubric, agent
        self.results: list[dict[str, Any]] = []
        self._judges: dict[str, Any] = {}
        self._rubric: Rubric | None = None

    def run_all(self, verbose: bool = False) -> dict[str, Any]:
        """Run every test, one after the other; return the summary."""
        self.results = []
        for number, test in enumerate(self.test_set.tests, 1):
            if verbose:
                print(f"test {number} of {len(self.test_set.tests)}")  # noqa: T201
            self.results.append(self.run_test(test))
        return self.summarize()

    def run_test(self, test: Test) -> dict[str, Any]:
        """Run one test; return the test, its output and the evaluation."""
        case = make_case(test)
        trace = PORTAL.run(self._run_agent(case))
        output = thaw(trace.output)
        if trace.fault is not None:
            evaluation: dict[str, Any] = self._evaluate(trace, case, test)
        elif type(self).evaluate_output is EvaluationRunner.evaluate_output:
            evaluation = self.evaluate_output(trace, test)  # with its steps and its time
        else:
            evaluation = self.evaluate_output(output, test)
        return {"test": test, "output": output, "evaluation": evaluation}

    def evaluate_output(self, output: object, test: Test) -> dict[str, Any]:
        """Evaluate one output: `overall_score`, `dimension_scores` and `passed`."""
        return self._evaluate(_make_trace(output), make_case(test), test)

    def evaluate_dimension(
        self, output: Any, ground_truth: Any, dimension: str, config: Any
    ) -> float | None:
        """Score one dimension of one output; None where it does not apply.

        Override it for a rule of your own. `config` is the dimension's entry in a mapping rubric.
        """
        judge = self._get_judge(dimension, config)
        trace = _make_trace(output)
        case = Case(input=None, id=digest(ground_truth, 8), expected=ground_truth)
        (scored,) = PORTAL.run(
            score(Rubric.from_judge(judge), case, [trace], executor=LocalExecutor())
        )
        if scored.status.measured or scored.status == "skipped":
            return scored.value
        raise JudgeError(scored.reason)

    def summarize(self) -> dict[str, Any]:
        """Return the summary of all results; `{"error": …}` if there are none."""
        if not self.results:
            return {"error": "无结果"}  # the original words: callers compare them
        summary = Summary()
        for result in self.results:
            scored, trace = _read_evaluation(result["evaluation"])
            summary.add(make_case(result["test"]), 1, scored, trace)
        document = summary.document()
        verdicts = [result["evaluation"]["passed"] for result in self.results]
        document["failures"] = [
            result for result, passed in zip(self.results, verdicts, strict=True) if passed is False
        ]
        return document

    async def _run_agent(self, case: Case) -> Trace:
        agent = load_agent(self.agent)
        async with open_agent(agent):
            return await attempt_case(agent, case)

    def _evaluate(self, trace: Trace, case: Case, test: Test) -> Evaluation:
        overridden = type(self).evaluate_dimension is not EvaluationRunner.evaluate_dimension
        if isinstance(self.rubric, Mapping) and overridden and trace.fault is None:
            scored = _make_score(self._score_dimensions(trace, test, self.rubric), self.rubric)
        else:
            rubric = (
                Rubric.from_judge(FunctionJudge(_never_passes, name="agent"))
                if overridden
                else self._get_rubric()
            )
            if case.checks and not overridden:
                rubric = add_case_checks(rubric)
            (scored,) = PORTAL.run(score(rubric, case, [trace], executor=LocalExecutor()))
        return Evaluation(scored, trace)

    def _score_dimensions(
        self, trace: Trace, test: Test, rubric: Mapping[str, Any]
    ) -> tuple[Signal, ...]:
        """Return a signal per dimension; a judge that fails takes nothing from the others."""
        truth = get_field(test, "expected", {})
        signals: list[Signal] = []
        for name, config in rubric.items():
            try:
                value = self.evaluate_dimension(thaw(trace.output), truth, name, config)
            except JudgeError as error:
                signals += make_fault_signals((name,), error)
            else:
                signals.append(Signal(name=name, value=value))
        return tuple(signals)

    def _get_rubric(self) -> Rubric:
        """Return the rubric; a mapping is converted once."""
        if isinstance(self.rubric, Rubric):
            return self.rubric
        if self._rubric is None:
            self._rubric = rubric_from_mapping(self.rubric)
        return self._rubric

    def _get_judge(self, dimension: str, config: object) -> Any:
        if dimension not in self._judges:
            self._judges[dimension] = judge_from_mapping(dimension, config)
        return self._judges[dimension]


def _make_trace(output: object) -> Trace:
    return output if isinstance(output, Trace) else Trace(output=read_answer(output))


def _read_evaluation(evaluation: Mapping[str, Any]) -> tuple[Score, Trace | None]:
    """Return the score of an evaluation, and its trace if it is not the user's own dictionary."""
    if isinstance(evaluation, Evaluation) and evaluation.is_unchanged:
        return evaluation.scored, evaluation.trace
    values = evaluation.get("dimension_scores") or {}
    signals = tuple(Signal(name=name, value=value) for name, value in values.items())
    overall, passed = evaluation.get("overall_score"), evaluation.get("passed")
    if overall is None and passed is None:
        reason = "the evaluation has no overall_score"
        return Score(status=Status.SKIPPED, signals=signals, reason=reason), None
    if passed is None and overall is not None:
        passed = overall >= PASS_THRESHOLD - SLACK
    value = None if overall is None else float(overall)
    reward = float(bool(passed)) if value is None else value
    scored = Score(
        status=Status.SCORED,
        value=value,
        passed=bool(passed),
        reward=reward,
        coverage=1.0,
        signals=signals,
    )
    return scored, None


def _make_score(signals: tuple[Signal, ...], rubric: Mapping[str, Any]) -> Score:
    """Return the score of the values that an overridden `evaluate_dimension` returned."""
    for one in signals:
        if one.fault is not None:
            reason = f"{one.name}: {one.fault.message}"
            return Score(status=Status.JUDGE_ERROR, signals=signals, reason=reason)
    measured = {one.name: one.value for one in signals if one.value is not None}
    if not measured:
        return Score(status=Status.SKIPPED, signals=signals, reason="nothing applicable")
    overall = float(calculate_overall_score(measured, rubric))
    planned = sum(rubric[one.name]["weight"] for one in signals)
    weight = sum(rubric[name]["weight"] for name in measured)
    return Score(
        status=Status.SCORED,
        value=overall,
        passed=overall >= PASS_THRESHOLD - SLACK,
        reward=overall,
        coverage=weight / planned if planned else 0.0,
        signals=signals,
    )


def _never_passes(_case: Case, _trace: Trace) -> bool:
    return False


def evaluate_output(
    output: object, expected: object, rubric: Rubric | Mapping[str, Any]
) -> dict[str, Any]:
    """Evaluate one output against the expected answer, without a test set."""
    runner = EvaluationRunner(TestSet("one"), rubric, _never_passes)
    return runner.evaluate_output(output, {"input": None, "expected": expected})
