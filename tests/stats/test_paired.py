"""`Pairs` and its verdict: what is said, when, and how often it is wrong."""

import random
import re

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.stats.mcnemar import mcnemar
from fourscore.stats.paired import GROUPS, Comparison, Pairs
from fourscore.stats.paired_verdict import VerdictRules


def passes(gained: int, lost: int, both: int, neither: int = 0) -> Pairs:
    """Pairs without scores."""
    pairs = Pairs()
    for count, a, b in (
        (gained, False, True),
        (lost, True, False),
        (both, True, True),
        (neither, False, False),
    ):
        for _ in range(count):
            pairs.add(a, b)
    return pairs


def test_better_and_worse() -> None:
    found = passes(30, 8, 100, 62).compare()
    assert (found.verdict.kind, found.verdict.n, found.verdict.tests) == ("better", 200, 1)
    assert found.passes.difference == pytest.approx(0.11)
    assert (found.passes.rate_a, found.passes.rate_b) == (0.54, 0.65)
    assert found.verdict.p_passes == found.passes.p == mcnemar(30, 8)
    assert found.verdict.p_scores is None
    assert found.verdict.more_cases is None
    assert found.verdict.reason == (
        "better: pass rate +11.0 points [+4.9, +16.8], p = 0.00047, 30 gained, 8 lost (n = 200)"
    )
    assert passes(8, 30, 100, 62).compare().verdict.kind == "worse"


def test_no_difference_larger_than_the_margin() -> None:
    found = passes(20, 22, 600, 358).compare(VerdictRules(margin=0.03)).verdict
    assert found.kind == "no_difference"
    assert found.reason.startswith("no difference larger than 0.03: pass rate -0.2 points [")
    assert passes(20, 22, 600, 358).compare(VerdictRules(margin=0.01)).verdict.kind == "cannot_tell"
    assert passes(20, 22, 600, 358).compare().verdict.kind == "cannot_tell"


def test_a_certain_difference_inside_the_margin_does_not_matter() -> None:
    pairs = passes(150, 50, 9800)
    assert pairs.compare().verdict.kind == "better"
    found = pairs.compare(VerdictRules(margin=0.02)).verdict
    assert found.kind == "no_difference"
    assert found.reason.startswith("a difference, but none larger than 0.02: pass rate +1.0 points")


def test_cannot_tell_gives_the_number_of_more_cases() -> None:
    found = passes(12, 6, 60, 22).compare().verdict
    assert found.kind == "cannot_tell"
    assert found.more_cases is not None
    assert 250 < found.more_cases < 400
    assert found.reason.endswith(f"; about {found.more_cases} more cases would likely tell")
    assert found.detectable == pytest.approx(0.125, abs=0.005)
    assert passes(9, 9, 60, 22).compare().verdict.more_cases is None


def test_with_a_margin_fewer_cases_may_show_no_difference() -> None:
    without = passes(9, 8, 60, 23).compare().verdict.more_cases
    within = passes(9, 8, 60, 23).compare(VerdictRules(margin=0.07)).verdict.more_cases
    assert without is not None
    assert within is not None
    assert within < 500 < without
    assert passes(9, 9, 60, 22).compare(VerdictRules(margin=0.07)).verdict.more_cases is not None


def test_the_same_run_twice() -> None:
    pairs = Pairs()
    for i in range(300):
        pairs.add(i % 3 > 0, i % 3 > 0, i / 300, i / 300)
    found = pairs.compare(VerdictRules(margin=0.02))
    assert found.verdict.kind == "no_difference"
    assert (found.passes.p, found.scores.p, found.graded) == (1.0, 1.0, 299)
    few = passes(0, 0, 20).compare(VerdictRules(margin=0.02)).verdict
    assert few.kind == "cannot_tell"
    assert few.more_cases is not None


def test_all_changes_in_one_direction() -> None:
    assert passes(5, 0, 5).compare().verdict.kind == "cannot_tell"
    assert passes(6, 0, 6).compare().verdict.kind == "better"
    everything = passes(0, 100, 0).compare()
    assert everything.verdict.kind == "worse"
    assert everything.passes.interval is not None
    assert everything.passes.interval[0] == -1.0
    assert everything.passes.interval[1] < -0.9


def test_no_pair_and_a_single_pair_cannot_tell() -> None:
    pairs = Pairs()
    nothing = pairs.compare(VerdictRules(margin=0.5)).verdict
    assert (nothing.kind, nothing.n, nothing.tests, nothing.more_cases) == (
        "cannot_tell",
        0,
        0,
        None,
    )
    assert nothing.reason == "no case was measured in both runs (n = 0)"
    assert pairs.by_tag() == {}
    assert pairs.bootstrap() is None
    pairs.add(False, True, 0.2, 0.9)
    one = pairs.compare().verdict
    assert (one.kind, one.n, one.tests) == ("cannot_tell", 1, 2)
    assert one.more_cases == 6


def test_pair_unmeasured_on_one_side_is_left_out_and_counted() -> None:
    pairs = Pairs()
    pairs.add(True, None, 0.9, None)
    pairs.add(None, None, 0.9, 0.8)
    pairs.add(True, True, None, 0.8)
    pairs.add(True, False, 1.0, 0.0)
    found = pairs.compare()
    assert (found.passes.n, found.passes.left_out) == (2, 2)
    assert (found.scores.n, found.scores.left_out, found.graded) == (2, 2, 1)


def test_score_equal_to_pass_fail_is_not_a_second_test() -> None:
    def compared(last: float) -> Comparison:
        pairs = Pairs()
        for a, b in [(0, 1)] * 8 + [(1, 0)] + [(1, 1)] * 40:
            pairs.add(bool(a), bool(b), float(a), float(b))
        pairs.add(True, True, 1.0, last)
        return pairs.compare()

    alone, graded = compared(1.0), compared(0.99)
    assert (alone.verdict.tests, alone.verdict.kind, alone.verdict.p_scores) == (1, "better", None)
    assert alone.verdict.p_passes == pytest.approx(0.0390625)
    assert graded.verdict.tests == 2
    assert graded.verdict.p_passes == pytest.approx(0.0390625)  # Holm: the score's was smaller
    assert graded.verdict.reason.endswith("; p adjusted for 2 tests")


def test_score_alone_can_decide_the_verdict() -> None:
    rng, pairs = random.Random(8), Pairs()
    for _ in range(100):
        a = rng.uniform(0.1, 0.6)
        pairs.add(False, False, a, a + rng.uniform(-0.02, 0.06))
    found = pairs.compare()
    assert (found.passes.p, found.verdict.kind) == (1.0, "better")
    assert found.verdict.detectable_score is not None
    low, high = pairs.bootstrap() or (0.0, 0.0)
    assert found.scores.interval == pytest.approx((low, high), abs=0.002)
    # Passes might still have changed by more than a point; the score may have its own margin.
    assert pairs.compare(VerdictRules(margin=0.03)).verdict.kind == "no_difference"
    assert pairs.compare(VerdictRules(margin=0.03, score_margin=0.02)).verdict.kind == "better"


def test_opposite_changes_of_rate_and_score_cannot_tell() -> None:
    rng, pairs = random.Random(9), Pairs()
    for i in range(200):
        score = rng.uniform(0.4, 0.6)
        pairs.add(i % 4 == 0, i % 4 < 2, score, score - rng.uniform(0.1, 0.2))
    found = pairs.compare().verdict
    assert (found.kind, found.more_cases) == ("cannot_tell", None)
    assert found.reason.startswith("one rose and the other fell: pass rate +25.0 points")


def test_repeats() -> None:
    pairs = Pairs()
    pairs.add_repeats([(True, 0.8), (False, 0.4)], [(True, 0.9), (True, 0.7)], tags=["x"])
    pairs.add_repeats([(True, 1.0), (None, None)], [(False, 0.0), (True, 1.0)])
    pairs.add_repeats([(None, None)], [(True, 1.0)])
    found = pairs.compare()
    assert (found.passes.n, found.passes.attempts, found.passes.left_out) == (2, 3, 1)
    assert (found.passes.gained, found.passes.lost) == (1, 1)
    assert found.passes.rate_a == 0.75
    assert found.scores.mean_a == pytest.approx(0.8)
    assert found.scores.difference == pytest.approx(-0.15)
    assert pairs.by_tag()["x"].passes.n == 1


def test_p_values_are_adjusted_over_all_tags() -> None:
    pairs = Pairs()
    for i in range(7):
        for tag in ("a", "b", "c"):
            pairs.add(tag == "b" and i > 5, tag != "b", tags=[tag, tag, "all"])
    found = pairs.by_tag()
    assert list(found) == ["a", "all", "b", "c"]
    assert (found["a"].passes.n, found["all"].passes.n) == (7, 21)
    assert found["a"].passes.p == 2 / 128
    assert found["a"].verdict.p_passes == 6 / 128  # three tags are left after "all"
    assert found["a"].verdict.tests == 4
    assert {tag: each.verdict.kind for tag, each in found.items()} == {
        "a": "better",
        "all": "better",
        "b": "cannot_tell",
        "c": "better",
    }
    alone = Pairs()
    for _ in range(6):
        alone.add(False, True, tags=["a", "b"])
    assert {each.verdict.kind for each in alone.by_tag().values()} == {"cannot_tell"}
    assert alone.compare().verdict.kind == "better"


def test_the_first_tags_are_kept() -> None:
    pairs = Pairs()
    for i in reversed(range(3 * GROUPS)):
        pairs.add(True, False, tags=[f"{i:05}"])
    found = pairs.by_tag()
    assert (len(found), min(found), max(found)) == (GROUPS, "00000", f"{GROUPS - 1:05}")
    assert pairs.tags_left_out
    assert pairs.compare().passes.n == 3 * GROUPS


rows = st.lists(
    st.tuples(
        st.booleans() | st.none(),
        st.booleans() | st.none(),
        st.floats(0, 1) | st.none(),
        st.floats(0, 1) | st.none(),
    ),
    max_size=40,
)


@given(rows, st.randoms(), st.sampled_from([None, 0.0, 0.05, 0.9]))
def test_any_pairs_in_any_order(
    given_rows: list[tuple[bool | None, bool | None, float | None, float | None]],
    rng: random.Random,
    margin: float | None,
) -> None:
    one, two, rules = Pairs(), Pairs(), VerdictRules(margin=margin)
    for row in given_rows:
        one.add(*row, tags=["t"])
    rng.shuffle(given_rows)
    for row in given_rows:
        two.add(*row, tags=["t"])
    found = one.compare(rules)
    assert two.compare(rules) == found
    assert two.bootstrap(resamples=20) == one.bootstrap(resamples=20)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Comparison) == found
    if given_rows:
        assert one.by_tag(rules) == {"t": found}
    # Never a number without its n.
    for part in re.split("; (?!p adjusted)(?!about)", found.verdict.reason):
        assert "(n = " in part


def test_false_alarms() -> None:
    """2,000 comparisons of equal agents over 60 cases; benchmarks/paired.py has more of them."""
    rng, alarms, either = random.Random(10), 0, 0
    for _ in range(2000):
        pairs = Pairs()
        for _ in range(60):
            centre = rng.betavariate(4, 1.5)
            a, b = (min(1.0, max(0.0, rng.gauss(centre, 0.15))) for _ in range(2))
            pairs.add(a >= 0.7, b >= 0.7, a, b)
        found = pairs.compare()
        alarms += found.verdict.kind in ("better", "worse")
        either += min(found.passes.p or 0.0, found.scores.p or 0.0) <= 0.05
    assert alarms / 2000 <= 0.06
    assert either / 2000 > 0.06  # what it would have been without sharing


def test_paired_intervals_cover() -> None:
    rng, held = random.Random(11), 0
    for _ in range(1000):
        pairs = Pairs()
        for x in (rng.random() for _ in range(60)):
            pairs.add(0.15 <= x < 0.2, x < 0.15)
        low, high = pairs.compare().passes.interval or (0.0, 0.0)
        held += low <= 0.1 <= high
    assert held / 1000 >= 0.94


def test_many_pairs() -> None:
    rng, pairs = random.Random(12), Pairs()
    for _ in range(200_000):
        x, y = rng.random(), rng.random()
        pairs.add(x < 0.7, x < 0.705, y, y)
    found = pairs.compare()
    assert (found.verdict.kind, found.passes.n, found.scores.n) == ("better", 200_000, 200_000)
    assert pairs.bootstrap() is None
