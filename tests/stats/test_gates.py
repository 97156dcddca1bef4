"""Gates: what can be asked, what is refused, and what silence means."""

from typing import Any

import pytest

from fourscore.core import Case, ConfigError, Score, Signal, Status
from fourscore.stats.gates import Gate, GateOutcome, parse_gate
from fourscore.stats.summary import Summary


def document(passes: str = "1110", *, repeats: int = 1, **kinds: Any) -> dict[str, Any]:
    """One digit an attempt; `e` could not be judged."""
    summary = Summary(repeats=repeats, dimensions=["accuracy", "style"])
    for i, mark in enumerate(passes):
        case = Case(id=f"c{i // repeats}", input="?", **kinds)
        if mark == "e":
            score = Score(status=Status.JUDGE_ERROR)
        else:
            value = float(mark)
            signal = Signal(name="accuracy", value=value)
            score = Score(
                status=Status.SCORED,
                value=value,
                passed=mark == "1",
                reward=value,
                coverage=1.0,
                signals=(signal,),
            )
        summary.add(case, i % repeats, score)
    return summary.document()


@pytest.mark.parametrize(
    ("text", "met"),
    [
        ("pass_rate>=0.75", True),
        ("pass_rate > 0.75", False),
        ("pass_rate <= 75%", True),
        ("pass_rate<0.75", False),
        ("pass_rate<0.8", True),
        ("pass_rate==0.75", True),
        ("pass_rate==0.76", False),
        ("pass_rate>=0.7500000001", True),  # the slack of a threshold
        ("pass_rate>=.8", False),
        ("accuracy>=0.7", True),
        ("dimension:accuracy>=8e-1", False),
        ("average_score>=0.75", True),
        ("coverage==1", True),
        ("lower(pass_rate)>=0.3", True),
        ("lower(pass_rate)>=0.31", False),
        (" upper( pass_rate ) <= 0.96 ", True),
        ("lower(accuracy)>=0", True),
        ("failed<=1", True),
        ("judge_error==0", True),
        ("scored==4", True),
        ("tag:hard>=0.75", True),
        ("lower(tag:hard)>=0.75", False),
        ("complexity:medium>=0.75", True),
    ],
)
def test_gates_on_three_of_four(text: str, met: bool) -> None:
    found = parse_gate(text).evaluate(document(tags=("hard",)))
    assert found.met is met
    assert found.gate == text.strip()


def test_gates_on_repeats() -> None:
    of_repeats = document("11101100", repeats=2)
    assert parse_gate("pass^2>=0.5").evaluate(of_repeats).value == 0.5
    assert parse_gate("pass@2>=0.75").evaluate(of_repeats).met
    assert parse_gate("lower(pass^2)>=0.5").evaluate(of_repeats).met is False


def test_unmeasured_value_does_not_meet_a_gate() -> None:
    nothing = document("ee")
    for text in ("pass_rate<=1", "pass_rate>=0", "lower(pass_rate)>=0", "style<=1", "coverage<=1"):
        found = parse_gate(text).evaluate(nothing)
        assert found == GateOutcome(gate=text, met=False, value=None, reason=found.reason)
        assert found.reason.endswith(" was not measured")
    assert parse_gate("style>=0").evaluate(document()).met is False
    assert parse_gate("judge_error==0").evaluate(nothing).met is False


def test_reason_gives_value_and_bound() -> None:
    assert (
        parse_gate("pass_rate>=0.8").evaluate(document()).reason == "pass_rate is 0.75, not >= 0.8"
    )
    assert parse_gate("failed<=1").evaluate(document()).reason == "failed is 1, <= 1"
    close = parse_gate("lower(pass_rate)>=0.300642").evaluate(document())
    assert close.value is not None
    assert close.reason == f"lower(pass_rate) is {close.value!r}, not >= 0.300642"
    assert f"{close.value:.6g}" == "0.300642", "short, it would read as met"


@pytest.mark.parametrize(
    "text",
    [
        *("", "pass_rate", "pass_rate=0.8", "pass_rate=>0.8", ">=0.8", "pass_rate>=", "a>=1>=2"),
        *("middle(x)>=1", "lower()>=1", "lower( )>=0.5", "lower(x>=0.8)", "x>=0.8 or 1"),
    ],
)
def test_refuses_text_that_is_not_a_gate_with_the_syntax(text: str) -> None:
    with pytest.raises(ConfigError, match="expected NAME>=NUMBER"):
        parse_gate(text)


@pytest.mark.parametrize("bound", ["nan", "inf", "-inf", "1e999", "0x1", "1_0", "high", "--1"])
def test_bounds_are_finite_numbers(bound: str) -> None:
    with pytest.raises(ConfigError, match=f"{bound} is not a number"):
        parse_gate(f"pass_rate>={bound}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pass_rat>=0.8", r"there is no 'pass_rat': did you mean pass_rate\?"),
        ("acuracy>=0.8", r"there is no 'acuracy': did you mean accuracy\?"),
        ("pass^2>=0.8", r"there is no 'pass\^2'"),
        ("tag>=0.8", "there is no 'tag'"),
        ("tag:>=0.8", "there is no 'tag:'"),
        ("pass_rate>=80", r"pass_rate lies between 0 and 1; did you mean 80%\?"),
        ("tag:x>=80", "lies between 0 and 1"),
        ("accuracy>=-1", "accuracy lies between 0 and 1$"),
        ("lower(failed)<=3", "failed has no interval"),
        ("lower(coverage)>=0.5", "coverage has no interval"),
    ],
)
def test_impossible_gate_is_refused_before_the_run(text: str, message: str) -> None:
    gate = parse_gate(text)
    with pytest.raises(ConfigError, match=message) as caught:
        gate.check(["accuracy", "style"])
    assert str(caught.value).startswith(f"gate {text!r}: ")
    with pytest.raises(ConfigError, match=message):
        gate.evaluate(document())


def test_a_tag_is_known_only_after_the_run() -> None:
    gate = parse_gate("tag:hrad>=0.5")
    gate.check([])
    with pytest.raises(ConfigError, match=r"no case has the tag 'hrad': did you mean hard\?"):
        gate.evaluate(document(tags=("hard",)))


def test_parsed_gate_equals_one_made_by_hand() -> None:
    gate = Gate(text="lower(x) > 5%", name="x", test=">", bound=0.05, end="lower")
    assert parse_gate("  lower(x) > 5%") == gate
