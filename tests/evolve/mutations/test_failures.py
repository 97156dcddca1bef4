"""What is known of a failure."""

from tests.evolve.mutations.planted_failures import failure

from fourscore.core import Case, Evidence, Score, Signal, Status, Trace
from fourscore.evolve.mutations.failures import LONGEST, Failure, find_weakest_signal, sort_cases


def scored(passed: bool, *signals: Signal) -> Score:
    value = 0.9 if passed else 0.2
    return Score(status=Status.SCORED, value=value, passed=passed, reward=value, signals=signals)


def test_failure_has_input_output_and_judge_reasons() -> None:
    signals = (
        Signal(name="b", value=0.8, reason="fine"),
        Signal(name="a", value=0.1, reason="no source", evidence=(Evidence(text="they say"),)),
        Signal(name="unmeasured"),
        Signal(name="ranked", value=0.0, relative=True),
    )
    one = Failure.from_score(
        Case(id="c", input={"q": 1}), Trace(output="they say so"), scored(False, *signals)
    )
    assert (one.case, one.input, one.output, one.value) == ("c", '{"q":1}', "they say so", 0.2)
    assert one.signals == {"a": 0.1, "b": 0.8}
    assert one.remarks[0].evidence == ("they say",)
    assert one.foreign_texts == ('{"q":1}', "they say so", "no source", "they say", "fine")


def test_failure_texts_have_maximum_length() -> None:
    long = "x" * 100_000
    signals = [
        Signal(name=f"s{n}", value=0.0, reason=long, evidence=(Evidence(text=long),) * 50)
        for n in range(100)
    ]
    one = Failure.from_score(Case(input=long), Trace(output=long), scored(False, *signals))
    assert len(one.remarks) == 20
    assert all(len(text) == LONGEST for text in one.foreign_texts)
    assert len(one.foreign_texts) == 2 + 20 * 4


def test_sorts_cases_and_leaves_out_unmeasured_ones() -> None:
    good, bad, both, lost = (Case(input=name) for name in ("good", "bad", "both", "lost"))
    trace = Trace(output="x")
    broken = Score(
        status=Status.AGENT_ERROR, value=0.0, passed=False, reward=0.0, reason="it crashed"
    )
    found = sort_cases(
        [
            (good, trace, scored(True)),
            (good, trace, scored(True)),
            (bad, trace, broken),
            (both, trace, scored(True)),
            (both, trace, scored(False)),
            (lost, trace, Score(status=Status.JUDGE_ERROR, reason="no key")),
        ]
    )
    assert found.passed == (good,)
    assert [one.case for one in found.failures] == [bad.id, both.id]
    assert found.failures[0].reason == "it crashed"
    assert found.failures[0].foreign_texts == ("bad", "x", "it crashed")


def test_weakest_signal_has_lowest_mean() -> None:
    some = [failure(a=0.9, b=0.4), failure(a=0.0, b=0.5), failure(c=0.46)]
    assert find_weakest_signal(some) == ("a", 0.45)
    assert find_weakest_signal([failure(b=0.5, a=0.5)]) == ("a", 0.5)
    assert find_weakest_signal([failure()]) is None
    assert find_weakest_signal([]) is None
