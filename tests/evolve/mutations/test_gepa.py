"""Proposals by the gepa package, the real one, with a scripted model behind it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.evolve.mutations.planted_failures import PARENT, failure, number_of

from fourscore.core import Case, ConfigError, JudgeError, Score, Signal, Status, Trace, Usage
from fourscore.evolve.mutations.gepa import NAME, GepaAdapter, GepaProposer
from fourscore.evolve.mutations.proposers import Proposal, Refusal, record_outcome
from fourscore.evolve.mutations.rule_proposer import RuleProposer
from fourscore.evolve.mutations.strategies import MutationRecord
from fourscore.models.messages import ModelError, Request
from fourscore.models.scripted import ScriptedModel

gepa = pytest.importorskip("gepa")
NEW = PARENT.replace("cite the policy you rely on", "name the policy you rely on, with its number")
WEAK = [failure("As we all know.", reason="no policy is named", citation_accuracy=0.1)] * 3


def reflecting(text: str, head: str = "{number}\n") -> ScriptedModel:
    """A reflection model that gives this prompt in a fence."""

    def answer(ask: Request) -> str:
        return f"{head.format(number=number_of(ask))}```\n{text}\n```\n"

    return ScriptedModel(answer)


def proposed(
    model: Any, record: MutationRecord | None = None, **settings: Any
) -> Proposal | Refusal:
    proposer = GepaProposer(model=model, **settings)
    return asyncio.run(proposer.propose(PARENT, WEAK, (), record or MutationRecord(), Random(1)))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_asks_model_and_reads_new_prompt_from_reply(language: str) -> None:
    model = reflecting(NEW.strip())
    found = proposed(model, language=language)
    assert isinstance(found, Proposal)
    assert (found.text, found.strategy, found.risk) == (NEW, NAME, "high")
    assert found.why == "a reflection on 3 of 3 failures"
    assert found.usage.calls == model.calls == 1
    user = model.requests[0].messages[1].content
    number = number_of(model.requests[0])
    assert "# Example 3\n## Inputs\n" in user  # gepa's own rendering
    assert "<curr_param>" not in user
    output = {"en": "OUTPUT", "zh": "输出"}[language]
    assert f"[{number} {output} 1]\nAs we all know.\n[{number} /{output} 1]" in user


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (reflecting(NEW, head=""), "the reply does not repeat the number of the request"),
        (ScriptedModel(["no fence at all"]), "the reply does not repeat the number of the request"),
        (reflecting(PARENT), "it is the parent, unchanged"),
        (reflecting("{shop} {question}"), "characters, expected"),
        (reflecting(f"{NEW}\nPlease the evaluator."), "it addresses a judge"),
    ],
)
def test_refuses_gepa_proposals_that_fail_checks(model: ScriptedModel, reason: str) -> None:
    found = proposed(model)
    assert isinstance(found, Refusal)
    assert reason in found.reason
    assert (found.strategy, found.usage.calls) == (NAME, 1)
    assert record_outcome(MutationRecord(), found).get_tally(NAME).refused == 1


def test_second_try_sends_a_different_request() -> None:
    model = reflecting(NEW)
    first = proposed(model)
    again = proposed(model, record_outcome(MutationRecord(), first))
    assert isinstance(again, Refusal)
    assert again.reason == "it was tried before"
    assert model.requests[0].digest != model.requests[1].digest  # no cache answers for it


def test_model_refusal_counts_as_try_and_connection_error_is_raised() -> None:
    found = proposed(ScriptedModel([ModelError("refused", "no", usage=Usage(calls=1))]))
    assert isinstance(found, Refusal)
    assert found.usage.calls == 1
    with pytest.raises(ModelError, match="away"):
        proposed(ScriptedModel([ModelError("connection", "away")]))


def test_asks_nothing_without_failures() -> None:
    model = reflecting(NEW)
    found = asyncio.run(
        GepaProposer(model=model).propose(PARENT, [], (), MutationRecord(), Random(1))
    )
    assert found == Refusal(reason="there is no failure to learn from")
    assert model.calls == 0


def test_rejects_mistakes_at_construction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = reflecting(NEW)
    with pytest.raises(ConfigError, match="risk: 'none' is none of"):
        GepaProposer(model=model, risk="none")  # type: ignore[arg-type]
    (tmp_path / "reflect.md").write_text("# system\n{{number}}\n# user\n<curr_param>")
    with pytest.raises(ConfigError, match=r"reflect\.md: Missing placeholder.*<side_info>"):
        GepaProposer(model=model, prompt_folder=str(tmp_path))
    monkeypatch.setattr("fourscore.core.extras.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'fourscore\[gepa\]'"):
        GepaProposer(model=model)


def run(text: str, cases: Sequence[Case]) -> list[tuple[Case, Trace, Score]]:
    """An agent that does well where its prompt has the number of the policy."""
    value = 1.0 if "with its number" in text else 0.2
    found = Signal(name="citation_accuracy", value=value, reason="no policy is named")
    score = Score(
        status=Status.SCORED, value=value, passed=value > 0.5, reward=value, signals=(found,)
    )
    return [(case, Trace(output=f"about {case.input}"), score) for case in cases]


def test_gepa_optimize_runs_with_adapter(tmp_path: Path) -> None:
    harmful = PARENT.replace("Be polite.", "Be polite to the grader.")
    replies = iter([harmful, NEW, NEW])

    def answer(ask: Request) -> str:
        return f"{number_of(ask)}\n```\n{next(replies)}\n```"

    adapter = GepaAdapter(run, GepaProposer(model=ScriptedModel(answer)), Random(1))
    cases = [Case(input=f"question {at}") for at in range(6)]
    result = gepa.optimize(
        {"prompt": PARENT},
        trainset=cases,
        valset=cases,
        adapter=adapter,
        max_metric_calls=30,
        reflection_minibatch_size=3,
        run_dir=str(tmp_path),
    )
    assert result.best_candidate == {"prompt": NEW}
    assert [type(one) for one in adapter.outcomes[:2]] == [Refusal, Proposal]
    assert adapter.record.get_tally(NAME).tried == len(adapter.outcomes)
    assert adapter.usage.calls == len(adapter.outcomes)


def test_adapter_works_with_rule_proposer() -> None:
    adapter = GepaAdapter(run, RuleProposer(constraints=("Name it, with its number.",)), Random(1))
    cases = [Case(input="a"), Case(input="b")]
    batch = adapter.evaluate(cases, {"prompt": PARENT}, capture_traces=True)
    assert (batch.scores, batch.outputs) == ([0.2, 0.2], ["about a", "about b"])
    assert adapter.evaluate(cases, {"prompt": PARENT}).trajectories is None
    data = adapter.make_reflective_dataset({"prompt": PARENT}, batch, ["prompt"])
    texts = adapter.propose_new_texts({"prompt": PARENT}, data, ["prompt"])
    assert texts["prompt"] != PARENT


def test_unmeasured_case_raises_instead_of_scoring_zero() -> None:
    case, trace, good = run(NEW, [Case(input="a")])[0]
    lost = Score(status=Status.JUDGE_ERROR, reason="no key")
    broken = Score(status=Status.AGENT_ERROR, passed=False, reward=0.0)

    def adapter(*scores: Score) -> GepaAdapter:
        rows = [(case, trace, score) for score in scores]
        return GepaAdapter(lambda _, cases: rows, RuleProposer(), Random(1))

    with pytest.raises(JudgeError, match="1 of 2 cases were not measured"):
        adapter(good, lost).evaluate([case, case], {"prompt": PARENT})
    assert adapter(good, broken).evaluate([case, case], {"prompt": PARENT}).scores == [1.0, 0.0]
