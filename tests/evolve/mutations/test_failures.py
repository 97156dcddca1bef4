"""What is known of a failure."""

from tests.evolve.mutations.planted_failures import failure

from fourscore.core import Case, Evidence, Score, Signal, Status, Trace
from fourscore.evolve.mutations.failures import LONGEST, Failure, sort_cases, weakest


def scored(passed: bool, *signals: Signal) -> Score:
    value = 0.9 if passed else 0.2
    return Score(status=Status.SCORED, value=value, passed=passed, reward=value, signals=signals)


def test_it_has_what_was_asked_what_came_and_what_was_wrong() -> None:
    signals = (
        Signal(name="b", value=0.8, reason="fine"),
        Signal(name="a", value=0.1, reason="no source", evidence=(Evidence(text="they say"),)),
        Signal(name="unmeasured"),
        Signal(name="ranked", value=0.0, relative=True),
    )
    one = Failure.of(
        Case(id="c", input={"q": 1}), Trace(output="they say so"), scored(False, *signals)
    )
    assert (one.case, one.input, one.output, one.value) == ("c", '{"q":1}', "they say so", 0.2)
    assert one.signals == {"a": 0.1, "b": 0.8}
    assert one.complaints[0].evidence == ("they say",)
    assert one.words == ('{"q":1}', "they say so", "no source", "they say", "fine")


def test_it_is_bounded() -> None:
    long = "x" * 100_000
    signals = [
        Signal(name=f"s{n}", value=0.0, reason=long, evidence=(Evidence(text=long),) * 50)
        for n in range(100)
    ]
    one = Failure.of(Case(input=long), Trace(output=long), scored(False, *signals))
    assert len(one.complaints) == 20
    assert all(len(text) == LONGEST for text in one.words)
    assert len(one.words) == 2 + 20 * 4


def test_cases_are_sorted_and_what_was_not_measured_is_in_neither_part() -> None:
    good, bad, both, lost = (Case(input=name) for name in ("good", "bad", "both", "lost"))
    said = Trace(output="x")
    broken = Score(
        status=Status.AGENT_ERROR, value=0.0, passed=False, reward=0.0, reason="it crashed"
    )
    found = sort_cases(
        [
            (good, said, scored(True)),
            (good, said, scored(True)),
            (bad, said, broken),
            (both, said, scored(True)),
            (both, said, scored(False)),
            (lost, said, Score(status=Status.JUDGE_ERROR, reason="no key")),
        ]
    )
    assert found.passed == (good,)
    assert [one.case for one in found.failures] == [bad.id, both.id]
    assert found.failures[0].reason == "it crashed"
    assert found.failures[0].words == ("bad", "x", "it crashed")


def test_the_weakest_signal_has_the_lowest_mean() -> None:
    some = [failure(a=0.9, b=0.4), failure(a=0.0, b=0.5), failure(c=0.46)]
    assert weakest(some) == ("a", 0.45)
    assert weakest([failure(b=0.5, a=0.5)]) == ("a", 0.5)
    assert weakest([failure()]) is None
    assert weakest([]) is None
