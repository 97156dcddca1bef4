"""Canaries: answers known to be bad that a judge must not pass."""

import asyncio
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fourscore.core import Case, ConfigError, Rubric, Score, Signal, Status, Trace, Usage, score
from fourscore.core.judge import get_runs
from fourscore.judges.llm.canaries import OTHERS, TOPICS, CanaryJudge, make_bad_answer
from fourscore.judges.llm.criteria import Criteria
from fourscore.judges.loading import load_judge
from fourscore.judges.rubric_file import read_rubric
from fourscore.models.messages import ModelError, Request
from fourscore.models.scripted import ScriptedModel

from .scripts import answering, number_of, verdict

CASE = Case(id="c", input="What is the capital of France?", expected="Paris")
RIGHT = Trace(output="It is Paris, on the Seine.")
OPTIONS: dict[str, Any] = {"criteria": ["The answer is correct."]}


def honest(text: str) -> Any:
    return verdict("yes" if "Seine" in text else "no")


def judged(judge: Any, trace: Trace = RIGHT, case: Case = CASE) -> Signal:
    (signal,) = asyncio.run(judge.judge(case, trace))
    assert isinstance(signal, Signal)
    return signal


def with_canaries(script: Any, share: float = 1.0) -> CanaryJudge:
    return CanaryJudge(Criteria(model=script, criteria=("The answer is correct.",)), share)


def test_honest_judge_passes_no_canary() -> None:
    model = answering(honest)
    for at in range(40):
        signal = judged(with_canaries(model), case=replace(CASE, id=f"c{at}"))
        assert signal.value == 1.0
        assert signal.canary is not None
        assert not signal.canary.passed


def test_judge_that_always_says_yes_passes_the_canary() -> None:
    signal = judged(with_canaries(answering(lambda _: verdict("yes"))))
    assert signal.canary is not None
    assert signal.canary.passed


def test_gullible_judge_passes_an_attack_canary() -> None:
    judge = load_judge("criteria", None, {**OPTIONS, "model": "scripted:gullible", "canaries": 1})
    cases = [replace(CASE, id=f"c{at}") for at in range(40)]
    found = [judged(judge, case=case).canary for case in cases]
    kinds = {canary.kind for canary in found if canary is not None}
    assert "wrong answer" in kinds
    assert any(kind.startswith("attack: ") for kind in kinds)
    assert any(canary.passed for canary in found if canary is not None)
    honest_kinds = [one for one in found if one is not None and one.kind == "wrong answer"]
    assert not any(canary.passed for canary in honest_kinds)


def test_canary_changes_only_the_usage_of_the_signal() -> None:
    model = answering(honest)
    plain = judged(Criteria(model=model, criteria=("The answer is correct.",)))
    assert plain.usage is not None
    assert plain.usage.calls == 1
    signal = judged(with_canaries(model))
    assert signal.usage is not None
    assert signal.usage.calls == 2
    assert replace(signal, canary=None, usage=plain.usage) == plain


def test_same_share_of_traces_gets_a_canary_in_every_run() -> None:
    judge = with_canaries(answering(honest), 0.2)
    chosen = [judge.draw_canary(replace(CASE, id=f"c{at}"), RIGHT) for at in range(1000)]
    assert 150 < sum(one is not None for one in chosen) < 250
    assert chosen == [judge.draw_canary(replace(CASE, id=f"c{at}"), RIGHT) for at in range(1000)]
    more = [judge.draw_canary(CASE, Trace(output=f"answer {at}")) for at in range(1000)]
    assert 150 < sum(one is not None for one in more) < 250
    assert judged(with_canaries(answering(honest), 0.0)).canary is None


def test_failed_canary_is_not_recorded_but_its_usage_is() -> None:
    def script(ask: Request) -> Any:
        if "Seine" in ask.messages[1].content:
            return {"number": number_of(ask), **verdict("yes")}
        return ModelError("refused", "no", usage=Usage(calls=1, input_tokens=5))

    signal = judged(with_canaries(ScriptedModel(script)))
    assert (signal.value, signal.canary) == (1.0, None)
    assert signal.usage is not None
    assert signal.usage.calls == 2


def test_failing_judge_reports_usage_of_trace_and_canary() -> None:
    def script(ask: Request) -> Any:
        if "Seine" not in ask.messages[1].content:
            return {"number": number_of(ask), **verdict("no")}
        return ModelError("refused", "no", usage=Usage(calls=1))

    (given,) = asyncio.run(
        score(Rubric.from_judge(with_canaries(ScriptedModel(script))), CASE, [RIGHT])
    )
    assert given.status is Status.REFUSED
    assert given.cost.calls == 2


def test_canary_judge_keeps_properties_of_its_judge() -> None:
    options = {**OPTIONS, "model": "scripted:gullible"}
    plain = load_judge("criteria", None, options)
    judge = load_judge("criteria", None, {**options, "canaries": 0.02})
    assert isinstance(judge, CanaryJudge)
    assert (judge.names, get_runs(judge), judge.models) == (plain.names, "asks", plain.models)
    assert judge.prompts == plain.prompts
    assert judge.pool_model is plain.pool_model
    assert judge.most(CASE) == plain.most(CASE) + plain.most(CASE)
    other = load_judge("criteria", None, {**options, "canaries": 0.03})
    assert len({plain.fingerprint, judge.fingerprint, other.fingerprint}) == 3
    assert load_judge("criteria", None, {**options, "canaries": 0}).fingerprint == plain.fingerprint
    again = pickle.loads(pickle.dumps(judge))
    assert again == judge
    assert again.fingerprint == judge.fingerprint


@pytest.mark.parametrize(
    ("name", "share", "message"),
    [
        ("criteria", 2, "expected a share from 0 to 1"),
        ("criteria", "often", "expected a share from 0 to 1"),
        ("criteria", True, "expected a share from 0 to 1"),
        ("pairwise", 0.1, "need a judge of single answers"),
        ("tool_efficiency", 0.1, "does not judge the answer"),
        ("source_quality", 0.1, "does not judge the answer"),
    ],
)
def test_refuses_bad_shares_and_unsuitable_judges(name: str, share: Any, message: str) -> None:
    options = {"model": "scripted:gullible", "canaries": share}
    options |= OPTIONS if name == "criteria" else {}
    with pytest.raises(ConfigError, match=message) as caught:
        load_judge(name, None, options)
    assert caught.value.field == "judge_options.canaries"


def test_rule_judge_takes_no_canaries() -> None:
    with pytest.raises(ConfigError, match="canaries"):
        load_judge("factual_accuracy", None, {"canaries": 0.1})


def test_custom_judge_keeps_its_own_option_canaries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text("def own(case, trace, canaries=0):\n    return canaries\n")
    assert judged(load_judge("own.py->own", None, {"canaries": 0.5})).value == 0.5


def test_mistake_in_a_rubric_file_names_its_line(tmp_path: Path) -> None:
    rubric = tmp_path / "r.yaml"
    rubric.write_text(
        "dimensions:\n  right:\n    judge: criteria\n    with:\n      model: scripted:gullible\n"
        "      criteria: [x]\n      canaries: 7\n"
    )
    with pytest.raises(ConfigError, match=r"r.yaml:7: dimensions.right.with.canaries"):
        read_rubric(str(rubric))


def test_canary_survives_json() -> None:
    import msgspec

    signal = judged(with_canaries(answering(honest)))
    (given,) = asyncio.run(
        score(Rubric.from_judge(with_canaries(answering(honest))), CASE, [RIGHT])
    )
    again = msgspec.json.decode(msgspec.json.encode(given), type=Score)
    assert again.signals[0].canary == signal.canary
    assert "canary" in json.loads(msgspec.json.encode(signal))


# Bad answers.


@pytest.mark.parametrize(
    ("expected", "refused"),
    [("Paris", "Paris"), ("408", "408"), ("-3.5", "-3.5"), ({"answer": 7}, "7"), ("海盐", "海盐")],
)
def test_wrong_answer_differs_from_expected_answer(expected: Any, refused: str) -> None:
    case = Case(input="q", expected=expected)
    for draw in range(50):
        kind, text = make_bad_answer(case, draw)
        assert kind == "wrong answer"
        assert text != refused


def test_off_topic_answer_does_not_fit_the_question() -> None:
    long = "To bake bread, let the dough rise twice and use fresh yeast, which takes some time."
    case = Case(input="How do I bake bread?", expected=long)
    texts = {make_bad_answer(case, draw)[1] for draw in range(20)}
    assert texts == {TOPICS["en"][1][1], TOPICS["en"][2][1]}
    assert make_bad_answer(Case(input="面包怎么烤？"), 0)[0] == "off topic"
    assert make_bad_answer(CASE, 0, topic_only=True)[0] == "off topic"
    every = Case(input="bread tennis tulip")
    assert make_bad_answer(every, 1)[1] == TOPICS["en"][1][1]
    assert len(OTHERS["en"]) == len(OTHERS["zh"])


def test_wrong_answer_of_the_case_is_used_first() -> None:
    case = Case(input="q", expected="4", metadata={"wrong": "5"})
    assert make_bad_answer(case, 9) == ("wrong answer", "5")
    broken = Case(input="q", expected={"claims": 7})
    assert make_bad_answer(broken, 0)[0] == "off topic"
