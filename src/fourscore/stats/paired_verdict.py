"""`PairedVerdict`: better, worse, no relevant difference, or cannot tell.

**Two tests, one chance of a false alarm.** The pass/fail test and the score test use the same
cases, and either may decide: people act on pass/fail, the score shows changes that cross no
threshold. Testing each at 5% would raise false alarms in up to 10% of comparisons of equal agents.
So p-values are adjusted by Holm's procedure, and a verdict needs an adjusted p of at most 5%, which
bounds false alarms by 5% however the tests depend on each other. It costs some power, a fifth more
cases. A score that only repeats pass/fail (1 or 0 on every case, as with exact match) is not a
second test and costs nothing. Checking for that is no extra test either: the answer is the same if
the runs are swapped. With tags, the tests of all tags are adjusted together.

**No difference** means that every interval lies inside ±margin. Both measures must meet this, so
no adjustment is needed. It is checked first: where thousands of cases make a difference below the
margin certain, the margin says that it does not matter, and the reason mentions it.

**Cannot tell** gives the number of more cases that would decide (with a chance of 80%) if the
observed difference is the true one, or that would show no difference beyond the margin, whichever
is smaller. It is None where no number would: without a difference and a margin, or where one
measure rose while the other fell.
"""

from math import sqrt
from typing import Literal

import msgspec

from fourscore.stats.mcnemar import PassChange
from fourscore.stats.paired_scores import ScoreChange
from fourscore.stats.power import (
    cases_for_passes,
    cases_for_sameness,
    cases_for_scores,
    detectable_passes,
    detectable_scores,
)

VerdictKind = Literal["better", "worse", "no_difference", "cannot_tell"]


class VerdictRules(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a verdict; without a margin there is no `no_difference`."""

    level: float = 0.95
    power: float = 0.8
    margin: float | None = None
    score_margin: float | None = None  # None: use `margin`


class PairedVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict of comparing b with a over n pairs.

    The p-values are adjusted for `tests` tests; None where a measure was not tested. `detectable`
    and `detectable_score` are the smallest differences that n cases would have shown; None where
    there are none.
    """

    kind: VerdictKind
    reason: str
    n: int
    tests: int
    p_passes: float | None = None
    p_scores: float | None = None
    more_cases: int | None = None
    detectable: float | None = None
    detectable_score: float | None = None


class _Measure(msgspec.Struct, frozen=True, kw_only=True):
    """The numbers of one measure, pass rate or score, that decide the verdict."""

    text: str
    n: int
    difference: float
    interval: tuple[float, float]
    p: float
    margin: float | None
    needed: int | None
    needed_for_sameness: int | None

    def inside(self) -> bool:
        low, high = self.interval
        return self.margin is not None and -self.margin <= low and high <= self.margin


def decide_verdict(
    passes: PassChange,
    scores: ScoreChange,
    p_passes: float | None,
    p_scores: float | None,
    tests: int,
    rules: VerdictRules,
) -> PairedVerdict:
    """Return the verdict from the two changes and their p-values, adjusted for `tests` tests."""
    alpha = (1 - rules.level) / max(1, tests)
    measures, detectable, detectable_score = [], None, None
    if p_passes is not None and passes.square is not None:
        measures.append(_of_passes(passes, p_passes, alpha, rules))
        step = passes.n / passes.attempts
        detectable = detectable_passes(
            passes.n, passes.square, step=step, alpha=alpha, power=rules.power
        )
    if p_scores is not None:
        measures.append(_of_scores(scores, p_scores, alpha, rules))
        if scores.spread is not None:
            detectable_score = detectable_scores(
                scores.n, scores.spread, alpha=alpha, power=rules.power
            )
    kind, reason, more = _settle(measures, 1 - rules.level)
    if tests > 1:
        reason += f"; p adjusted for {tests} tests"
    return PairedVerdict(
        kind=kind,
        reason=reason,
        n=max(passes.n, scores.n),
        tests=tests,
        p_passes=p_passes,
        p_scores=p_scores,
        more_cases=more,
        detectable=detectable,
        detectable_score=detectable_score,
    )


def _settle(measures: list[_Measure], alpha: float) -> tuple[VerdictKind, str, int | None]:
    seen = "; ".join(each.text for each in measures)
    if not measures:
        return "cannot_tell", "no case was measured in both runs (n = 0)", None
    found = [each for each in measures if each.p <= alpha]
    if all(each.inside() for each in measures):
        margin = max(each.margin or 0.0 for each in measures)
        but = "a difference, but none" if found else "no difference"
        return "no_difference", f"{but} larger than {margin:g}: {seen}", None
    if not found:
        more = _more(measures)
        hint = "" if more is None else f"; about {more:,} more cases would likely tell"
        return "cannot_tell", f"this may be chance: {seen}{hint}", more
    if len({each.difference > 0 for each in found}) > 1:
        return "cannot_tell", f"one rose and the other fell: {seen}", None
    kind: VerdictKind = "better" if found[0].difference > 0 else "worse"
    return kind, f"{kind}: {seen}", None


def _more(measures: list[_Measure]) -> int | None:
    """Return how many more cases would show a difference or none beyond the margins."""
    ways = [each.needed - each.n for each in measures if each.needed is not None]
    same = [
        each.needed_for_sameness - each.n
        for each in measures
        if each.needed_for_sameness is not None
    ]
    if len(same) == len(measures):
        ways.append(max(same))
    return max(1, min(ways)) if ways else None


def _of_passes(change: PassChange, p: float, alpha: float, rules: VerdictRules) -> _Measure:
    d, square, ends = change.difference or 0.0, change.square or 0.0, change.interval or (-1.0, 1.0)
    low, high = (100 * end for end in ends)
    expected = _expected(change.n, d, square)
    margin, same = rules.margin, None
    if margin is not None:
        same = cases_for_sameness(d, expected, margin, alpha=1 - rules.level, power=rules.power)
    return _Measure(
        text=f"pass rate {100 * d:+z.1f} points [{low:+z.1f}, {high:+z.1f}], p = {p:.2g}, "
        f"{change.gained} gained, {change.lost} lost (n = {change.n})",
        n=change.n,
        difference=d,
        interval=ends,
        p=p,
        margin=margin,
        needed=cases_for_passes(
            d,
            square,
            differing=(change.gained + change.lost) / change.n,
            step=change.n / change.attempts,
            alpha=alpha,
            power=rules.power,
        ),
        needed_for_sameness=same,
    )


def _of_scores(change: ScoreChange, p: float, alpha: float, rules: VerdictRules) -> _Measure:
    d, spread, ends = change.difference or 0.0, change.spread or 0.0, change.interval or (-1.0, 1.0)
    expected = spread or _expected(change.n, d, d * d)
    margin, same = rules.margin if rules.score_margin is None else rules.score_margin, None
    if margin is not None:
        same = cases_for_sameness(d, expected, margin, alpha=1 - rules.level, power=rules.power)
    return _Measure(
        text=f"score {d:+z.3f} [{ends[0]:+z.3f}, {ends[1]:+z.3f}], p = {p:.2g} (n = {change.n})",
        n=change.n,
        difference=d,
        interval=ends,
        p=p,
        margin=margin,
        needed=cases_for_scores(
            d, spread, differing=change.differing / change.n, alpha=alpha, power=rules.power
        ),
        needed_for_sameness=same,
    )


def _expected(n: int, difference: float, square: float) -> float:
    """Return the expected spread, with one case gained and one lost added as in the interval."""
    return sqrt(max(0.0, (n * square + 2) / (n + 2) - difference * difference))
