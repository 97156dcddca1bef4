"""The loop: who sees which cases, who is asked how often, and what stops it."""

import asyncio
import json
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fourscore.core import Case
from fourscore.evolve.decision import decide_by_scores
from fourscore.evolve.evaluator import EvaluationSetup, Evaluator
from fourscore.evolve.folder import Evolution
from fourscore.evolve.limits import Risk
from fourscore.evolve.log import Noted
from fourscore.evolve.loop import MOST_REFUSED, EvolutionLoop, LoopOptions, LoopResult
from fourscore.evolve.mutations.failures import Failure
from fourscore.evolve.mutations.proposers import Proposal, Refusal, make_diff
from fourscore.evolve.mutations.strategies import MutationRecord, digest_prompt
from fourscore.evolve.prompted_agent import PromptedAgents
from fourscore.evolve.split import find_part, split
from fourscore.formats.cases import CaseFile
from fourscore.judges.rubric_file import read_rubric
from fourscore.models.messages import ModelError
from fourscore.stores.sqlite import Store
from fourscore.test.run import RunPlan

NOW = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
#: The prompt says how well it does: a share of cases, as `right: 0.4`.
AGENT = """
import hashlib, pathlib
CALLS = pathlib.Path(__file__).with_name("calls")

async def answer(question, prompt):
    with CALLS.open("a") as out:
        out.write(f"{prompt}|{question}\\n")
    if "break" in prompt:
        raise ValueError("broken")
    right = float(prompt.rpartition("right: ")[2])
    if "fading" in prompt:
        right -= 0.12 * (CALLS.read_text().count(f"|{question}\\n") - 1)
    dice = hashlib.blake2b(question.encode(), digest_size=4).digest()
    return "yes" if int.from_bytes(dice, "big") / 2**32 < right else "no"
"""
RUBRIC = "pass_threshold: 0.5\ndimensions:\n  right: {judge: checks.py->right, weight: 1}\n"
CHECKS = """
import pathlib
from fourscore import judge

@judge
def right(case, trace):
    if pathlib.Path(__file__).with_name("away").exists():
        raise OSError("the judge is away")
    return trace.answer == case.expected
"""
FREE = "{mutations_per_day: null, high_risk_per_day: null, cool_down: 0, stable_runs: null}"


class ScriptedProposer:
    """Proposes what it was told to, one after the other; remembers what it was shown."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.shown: list[str] = []
        self.records: list[MutationRecord] = []
        self.parents: list[str] = []

    async def propose(
        self,
        parent_text: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],
        record: MutationRecord,
        rng: Random,
    ) -> Any:
        self.shown += [failure.case for failure in failures]
        self.records.append(record)
        self.parents.append(parent_text)
        if not self.script:
            return Refusal(reason="the script is over")
        lines = self.script.pop(0)
        if isinstance(lines, Exception):
            raise lines
        if isinstance(lines, Refusal):
            return lines
        text, risk = lines if isinstance(lines, tuple) else (lines, "low")
        return Proposal(
            text=text,
            strategy="persona_adjust" if risk == "high" else "emphasis_shift",
            risk=risk,
            parent=digest_prompt(parent_text),
            why="as told",
            diff=make_diff(parent_text, text),
        )


class Bench:
    """An evolution with an agent in a file, and steps of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines: list[str] = []
        (folder / "agent.py").write_text(AGENT)
        (folder / "checks.py").write_text(CHECKS)
        (folder / "rubric.yaml").write_text(RUBRIC)
        cases = [{"id": f"c{n}", "input": f"question {n}", "expected": "yes"} for n in range(200)]
        (folder / "cases.jsonl").write_text("".join(f"{json.dumps(c)}\n" for c in cases))

    def begin(self, text: str = "right: 0.4", settings: str = f"limits: {FREE}\n") -> None:
        Evolution.begin(self.folder / "evolution", text, settings, now=lambda: NOW).close()

    def step(
        self,
        proposer: Any,
        generations: int = 1,
        *,
        rule: Any = "paired",
        most: int | None = None,
        seed: int = 0,
        choose_strategy: Callable[[Risk], Any] | None = None,
    ) -> LoopResult:
        folder = self.folder
        rubric = read_rubric(str(folder / "rubric.yaml"))
        with self.opened() as evolution, Store(folder / "runs.db") as store:
            setup = EvaluationSetup(
                agents=PromptedAgents(f"{folder / 'agent.py'}:answer"),
                rubric=rubric,
                rubric_text=RUBRIC,
                cases_path="cases.jsonl",
                plan=RunPlan(repeats=evolution.settings.repeats),
                show_progress=_silent,
                max_attempts=most,
            )
            cases = split(CaseFile(folder / "cases.jsonl").cases(), evolution.settings.split)
            way = LoopOptions(
                rule=rule,
                seed=seed,
                proposer=choose_strategy or (lambda _: proposer),
                report=self.lines.append,
            )
            evaluator = Evaluator(evolution, store, setup)
            return asyncio.run(EvolutionLoop(evolution, evaluator, cases, way).run(generations))

    def opened(self) -> Evolution:
        return Evolution(self.folder / "evolution", now=lambda: NOW)

    @property
    def calls(self) -> list[str]:
        file = self.folder / "calls"
        return file.read_text().splitlines() if file.exists() else []


@contextmanager
def _silent(_planned: int) -> Any:
    yield lambda _outcome: None


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_accepts_better_and_rejects_worse_version(bench: Bench) -> None:
    bench.begin()
    ended = bench.step(ScriptedProposer("right: 0.1", "right: 0.9", "right: 0.5"), 3)
    assert (ended.generations, ended.reason) == (3, "done")
    with bench.opened() as evolution:
        assert [each.status for each in evolution.versions()] == [
            "retired",
            "rejected",
            "active",
            "rejected",
        ]
        assert all(each.decision.rule == "paired" for each in evolution.history.decisions)
    assert ended.held_out is not None
    assert (ended.held_out.delta or 0) > 30
    assert (ended.held_out.low or 0) > 0


def test_parts_of_split_are_used_separately(bench: Bench) -> None:
    bench.begin()
    proposer = ScriptedProposer("right: 0.9", "right: 0.8")
    bench.step(proposer, 2)
    assert {find_part(case) for case in proposer.shown} == {"inform"}
    with Store(bench.folder / "runs.db") as store:
        for info in store.runs():
            purpose = info.id.rpartition("-")[2]
            part = "inform" if purpose.startswith("x") else purpose
            assert {find_part(row.case.id) for row in store.rows(info.id)} == {part}


def test_clear_difference_needs_few_cases(bench: Bench) -> None:
    bench.begin("right: 0.9")
    bench.step(ScriptedProposer("right: 0.01"))
    with bench.opened() as evolution:
        (decision,) = [event.decision for event in evolution.history.decisions]
    assert (decision.look, decision.n) == (1, decision.n)
    assert sum(call.startswith("right: 0.01|") for call in bench.calls) == decision.n < 30


def test_active_version_runs_each_case_once(bench: Bench) -> None:
    bench.begin("right: 0.5")
    bench.step(ScriptedProposer("right: 0.12", "right: 0.23", "right: 0.34"), 3)
    attempts_made = [call for call in bench.calls if call.startswith("right: 0.5|")]
    assert len(attempts_made) == len(set(attempts_made))


def test_refusal_is_recorded_and_remembered(bench: Bench) -> None:
    bench.begin()
    digest = digest_prompt("right: 7")
    refused = Refusal(reason="too long", strategy="format_change", risk="low", digest=digest)
    bench.step(ScriptedProposer(refused, "right: 0.9"))
    with bench.opened() as evolution:
        notes = [event for event in evolution.events() if isinstance(event, Noted)]
        assert notes[0].about == "refused"
        assert notes[0].data["reason"] == "too long"
    again = ScriptedProposer()
    ended = bench.step(again)
    assert again.records[0].get_tally("format_change").refused == 1
    assert again.records[0].has_text("right: 7")
    assert again.records[0].has_text("right: 0.4")
    assert again.records[0].get_tally("emphasis_shift").accepted == 1
    assert (ended.reason, ended.generations) == ("nothing_left", 0)
    assert "the script is over" in ended.why


def test_step_ends_after_many_refusals(bench: Bench) -> None:
    bench.begin()
    refused = Refusal(reason="no", strategy="format_change")
    ended = bench.step(ScriptedProposer(*[refused] * (MOST_REFUSED + 5)))
    assert ended.reason == "refused"
    with bench.opened() as evolution:
        about = [event.about for event in evolution.events() if isinstance(event, Noted)]
        assert about.count("refused") == MOST_REFUSED


def test_unreachable_model_does_not_count_as_try(bench: Bench) -> None:
    bench.begin()
    ended = bench.step(ScriptedProposer(ModelError("connection", "no route")), 2)
    assert (ended.reason, ended.generations) == ("model", 0)
    assert "no route" in ended.why
    assert bench.step(ScriptedProposer("right: 0.9")).reason == "done"
    with bench.opened() as evolution:
        assert evolution.active.number == 2
        assert evolution.history.decisions[0].version == 2


def test_random_choices_repeat_after_kill(bench: Bench) -> None:
    bench.begin()

    class Dice(ScriptedProposer):
        async def propose(
            self,
            parent_text: str,
            failures: Sequence[Failure],
            passed: Sequence[Case],
            record: MutationRecord,
            rng: Random,
        ) -> Any:
            self.script.append(rng.random())
            raise ModelError("connection", "no route")

    one, other, seeded = Dice(), Dice(), Dice()
    bench.step(one)
    bench.step(other)
    bench.step(seeded, seed=1)
    assert one.script == other.script != seeded.script


# Limits


def test_daily_limit_ends_step(bench: Bench) -> None:
    bench.begin(settings="limits: {mutations_per_day: 2, cool_down: 0}\n")
    ended = bench.step(ScriptedProposer("right: 0.1", "right: 0.2", "right: 0.3"), 5)
    assert (ended.reason, ended.generations) == ("per_day", 2)
    assert ended.why == "no mutation: 2 mutations today: the daily limit is reached"


def test_high_risk_limit_allows_lower_risks(bench: Bench) -> None:
    bench.begin(settings="limits: {high_risk_per_day: 1, cool_down: 0}\n")
    attempts_made: list[str] = []
    proposer = ScriptedProposer(("right: 0.1", "high"), "right: 0.2")

    def choose_strategy(risk: Risk) -> Any:
        attempts_made.append(risk)
        return proposer

    assert bench.step(proposer, 2, choose_strategy=choose_strategy).reason == "done"
    assert attempts_made == ["high", "medium"]
    ended = bench.step(None, choose_strategy=lambda risk: None)
    assert (ended.reason, ended.why) == (
        "high_risk",
        "no mutation: 1 high-risk mutations today: the daily limit is reached",
    )


def test_cool_down_runs_executions(bench: Bench) -> None:
    bench.begin(settings="limits: {cool_down: 3}\n")
    bench.step(ScriptedProposer("right: 0.1", "right: 0.2"), 2)
    with bench.opened() as evolution:
        kinds = [type(event).__name__ for event in evolution.events()]
    first, second = (at for at, kind in enumerate(kinds) if kind == "Proposed")
    assert kinds[:first].count("Executed") == 1
    assert kinds[first:second].count("Executed") == 3
    assert any("cool-down: 2 executions" in line for line in bench.lines)


def test_stable_version_is_not_mutated(bench: Bench) -> None:
    bench.begin("right: 1.0", settings="limits: {stable_runs: 2, cool_down: 2}\n")
    ended = bench.step(ScriptedProposer("right: 0.1", "right: 0.2"), 5)
    assert (ended.reason, ended.generations) == ("stable", 1)
    assert "mean 100.00" in ended.why


# The way back


def test_rolls_back_version_that_breaks_agent(bench: Bench) -> None:
    bench.begin()
    with bench.opened() as evolution:
        new = evolution.add("break right: 1", strategy="s", risk="low")
        evolution.promote(new.number)
    ended = bench.step(ScriptedProposer("right: 0.9"))
    assert ended.reason == "rolled_back"
    assert ended.why == (
        "rolled back from version 2 to 1: 100% of the cases failed, 50% are allowed"
    )
    with bench.opened() as evolution:
        assert evolution.active.number == 1
    assert bench.step(ScriptedProposer("right: 0.9")).reason == "done"


def test_rolls_back_after_two_drops(bench: Bench) -> None:
    bench.begin("right: 0.1", settings="limits: {cool_down: 5}\n")
    with bench.opened() as evolution:
        new = evolution.add("fading right: 1.0", strategy="s", risk="low")
        evolution.decide(new.number, decide_by_scores(10, 90))
    ended = bench.step(ScriptedProposer("right: 0.9"))
    assert (ended.reason, ended.why[:36]) == ("rolled_back", "rolled back from version 2 to 1: 2 d")
    with bench.opened() as evolution:
        assert evolution.active.number == 1


def test_drops_within_noise_count_only_with_literal_rule(bench: Bench) -> None:
    (bench.folder / "agent.py").write_text(AGENT.replace(
        'hashlib.blake2b(question.encode(), digest_size=4)',
        'hashlib.blake2b(f"{question}{CALLS.read_text().count(question)}".encode(), digest_size=4)',
    ))  # fmt: skip
    settings = "limits: {cool_down: 12}\nrollback: {share_of_best: null}\n"
    bench.begin("right: 0.1", settings)
    with bench.opened() as evolution:
        new = evolution.add("right: 0.50", strategy="s", risk="low")
        evolution.promote(new.number)
    assert bench.step(ScriptedProposer("right: 0.9")).reason == "done"
    assert any("within the noise of" in line for line in bench.lines)
    literal = bench.folder / "literal"
    literal.mkdir()
    other = Bench(literal)
    (literal / "agent.py").write_text((bench.folder / "agent.py").read_text())
    other.begin("right: 0.1", settings)
    with other.opened() as evolution:
        new = evolution.add("right: 0.50", strategy="s", risk="low")
        evolution.promote(new.number)
    assert other.step(ScriptedProposer("right: 0.9"), rule="literal").reason == "rolled_back"


# The literal rule


def test_children_of_branch_must_win_by_paired_rule(bench: Bench) -> None:
    bench.begin("right: 0.50")
    seed = next(n for n in range(100) if Random(f"{n} version 2").random() < 0.2)
    proposer = ScriptedProposer("right: 0.495", "right: 0.51", "right: 0.52")
    bench.step(proposer, rule="literal", seed=seed)
    with bench.opened() as evolution:
        assert evolution.version(2).status == "branch"
        assert evolution.active.number == 1
    bench.step(proposer, rule="literal", seed=seed)
    with bench.opened() as evolution:
        child = evolution.version(3)
        assert (child.parent, child.status) == (2, "rejected")
        assert evolution.history.decisions[-1].decision.rule == "paired"
        assert evolution.history.decisions[-1].against == 1
    bench.step(proposer, rule="literal", seed=seed)
    assert proposer.parents == ["right: 0.50", "right: 0.495", "right: 0.50"]


# Going on


def test_continues_after_spent_budget_without_repeating_cases(bench: Bench) -> None:
    bench.begin()
    proposer, steps = ScriptedProposer("right: 0.9"), 0
    while bench.step(proposer, most=23).reason == "cases":
        steps += 1
        assert len(bench.calls) == 23 * steps
    assert len(bench.calls) == len(set(bench.calls))
    with bench.opened() as evolution:
        assert evolution.active.number == 2
    whole = bench.folder / "whole"
    whole.mkdir()
    other = Bench(whole)
    other.begin()
    other.step(ScriptedProposer("right: 0.9"))
    logs = [
        (each.folder / "evolution" / "log.jsonl").read_text().splitlines()
        for each in (bench, other)
    ]
    assert logs[0][:4] == logs[1][:4]
    assert logs[0][-1] == logs[1][-1]


def test_unmeasurable_candidate_is_withdrawn_at_second_try(bench: Bench) -> None:
    bench.begin()
    with bench.opened() as evolution:
        evolution.add("right: 0.9", strategy="s", risk="low")
    (bench.folder / "away").touch()
    ended = bench.step(ScriptedProposer())
    assert ended.reason == "unmeasured"
    with bench.opened() as evolution:
        assert evolution.version(2).status == "withdrawn"
        new = evolution.add("right: 0.95", strategy="s", risk="low")
    (bench.folder / "away").unlink()
    assert bench.step(ScriptedProposer()).reason == "done"
    with bench.opened() as evolution:
        assert evolution.active == evolution.version(new.number)


def test_unmeasured_candidate_is_compared_again(bench: Bench) -> None:
    bench.begin()
    away = bench.folder / "away"

    class Leaving(ScriptedProposer):
        async def propose(self, *given: Any) -> Any:
            away.touch()
            return await super().propose(*given)

    ended = bench.step(Leaving("right: 0.9"), 2)
    assert (ended.reason, ended.generations) == ("unmeasured", 0)
    assert ended.why.endswith("cases were not measured: too few pairs for a decision")
    with bench.opened() as evolution:
        assert evolution.pending == evolution.version(2)
    away.unlink()
    assert bench.step(ScriptedProposer()).reason == "done"
    with bench.opened() as evolution:
        assert evolution.active.number == 2
    assert len(bench.calls) == len(set(bench.calls))


def test_unjudged_answer_is_judged_without_new_run(bench: Bench) -> None:
    bench.begin()
    (bench.folder / "away").touch()
    ended = bench.step(ScriptedProposer("right: 0.9"))
    assert (ended.reason, ended.generations) == ("unmeasured", 0)
    with bench.opened() as evolution:
        assert not evolution.history.executions
    assert bench.calls
    (bench.folder / "away").unlink()
    assert bench.step(ScriptedProposer("right: 0.9")).reason == "done"
    assert len(bench.calls) == len(set(bench.calls))


def test_changed_case_is_run_again(bench: Bench) -> None:
    bench.begin("right: 0.5")
    bench.step(ScriptedProposer("right: 0.1"))
    text = (bench.folder / "cases.jsonl").read_text()
    (bench.folder / "cases.jsonl").write_text(text.replace('"question ', '"new question '))
    before = len(bench.calls)
    bench.step(ScriptedProposer("right: 0.2"))
    assert all("new question" in call for call in bench.calls[before:])


def test_repeats_count_as_one_pair(bench: Bench) -> None:
    bench.begin(settings=f"limits: {FREE}\nrepeats: 2\n")
    bench.step(ScriptedProposer("right: 0.9"))
    with bench.opened() as evolution:
        (decided,) = evolution.history.decisions
    with Store(bench.folder / "runs.db") as store:
        runs = [info for info in store.runs() if info.id.endswith("-decide")]
        assert [len(list(store.rows(info.id))) for info in runs] == [2 * decided.decision.n] * 2
    assert len(bench.calls) == 2 * len(set(bench.calls))


def test_held_out_result_is_noted_once(bench: Bench) -> None:
    bench.begin()
    first = bench.step(ScriptedProposer())
    assert first.held_out is not None
    assert first.held_out.summary.startswith("version 1: ")
    bench.step(ScriptedProposer())
    bench.step(ScriptedProposer("right: 0.9"))
    with bench.opened() as evolution:
        notes = [each for each in evolution.events() if isinstance(each, Noted)]
    assert [(each.data["first"], each.data["active"]) for each in notes] == [(1, 1), (1, 2)]


def test_reports_gain_missing_on_held_out_cases(bench: Bench) -> None:
    bench.begin("right: 0.9")
    with bench.opened() as evolution:
        evolution.promote(evolution.add("right: 0.2", strategy="s", risk="low").number)
    ended = bench.step(ScriptedProposer())
    assert ended.held_out is not None
    assert "no gain here: the accepted versions are overfitted" in ended.held_out.summary
