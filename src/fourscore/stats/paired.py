"""`Pairs`: two runs over the same cases, compared case by case.

Add one pair per case, in any order, and read what changed from a to b: `compare` for all cases,
`by_tag` for each tag. Both runs have the same cases, so the difficulty of a case cancels out of the
difference; comparing two pass rates, each with its own interval, would lose that.

A case is one pair however often it was tried: four repeats make its pass share and mean score less
noisy, but do not make it four cases. A pair that is not measured in one run is left out and
counted, separately for pass/fail and for the score.

Memory is eight bytes per pair, for the bootstrap; all else is sums. The order of the pairs does not
change the result. `mcnemar`, `paired_scores` and `paired_verdict` explain the tests and intervals.
"""

from collections.abc import Iterable, Sequence
from math import fsum

import msgspec

from fourscore.stats.bootstrap import RESAMPLES
from fourscore.stats.bounded_map import BoundedMap
from fourscore.stats.mcnemar import PassChange, PassPairs
from fourscore.stats.p_values import adjust_holm
from fourscore.stats.paired_scores import ScoreChange, ScorePairs
from fourscore.stats.paired_verdict import PairedVerdict, VerdictRules, decide_verdict

#: Tags kept: the first by name.
GROUPS = 1000
#: A score this close to 1 for a pass, or to 0 for a failure, adds nothing to pass/fail.
_NEAR = 1e-9

#: One attempt: whether it passed, and its score; None where it was not measured.
Attempt = tuple[bool | None, float | None]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """The changes of pass rate and score, and the verdict.

    `graded` counts pairs whose scores say more than pass/fail (1 or 0); without any, the score is
    not tested.
    """

    passes: PassChange
    scores: ScoreChange
    graded: int
    verdict: PairedVerdict


class _Group:
    __slots__ = ("graded", "passes", "scores")

    def __init__(self, *, keep: bool = False) -> None:
        self.passes, self.scores = PassPairs(), ScorePairs(keep=keep)
        self.graded = 0


class Pairs:
    """Paired results of two runs; fill it with `add` or `add_repeats`."""

    def __init__(self) -> None:
        self._all = _Group(keep=True)
        self._tags: BoundedMap[_Group] = BoundedMap(GROUPS, _Group)

    def add(
        self,
        passed_a: float | None,
        passed_b: float | None,
        score_a: float | None = None,
        score_b: float | None = None,
        *,
        attempts: int = 1,
        tags: Iterable[str] = (),
    ) -> None:
        """Add one case: whether it passed and its score; with repeats, pass share and mean score.

        `attempts` is the number of attempts per run, the smaller one where they differ.
        """
        graded = (
            score_a is not None
            and score_b is not None
            and not (_equals_passed(score_a, passed_a) and _equals_passed(score_b, passed_b))
        )
        known = self._tags.known
        for group in (self._all, *(known.get(tag) or self._tags.new(tag) for tag in set(tags))):
            group.passes.add(passed_a, passed_b, attempts)
            group.scores.add(score_a, score_b)
            group.graded += graded

    def add_repeats(
        self, a: Sequence[Attempt], b: Sequence[Attempt], *, tags: Iterable[str] = ()
    ) -> None:
        """Add one case from all of its attempts in both runs."""
        passes = [[float(x) for x, _ in side if x is not None] for side in (a, b)]
        scores = [[x for _, x in side if x is not None] for side in (a, b)]
        self.add(
            *(_mean(side) for side in passes),
            *(_mean(side) for side in scores),
            attempts=max(1, min(map(len, passes))),
            tags=tags,
        )

    @property
    def tags_left_out(self) -> bool:
        return self._tags.left_out

    def compare(self, rules: VerdictRules | None = None) -> Comparison:
        """Compare the runs over all cases."""
        return _compare({"": self._all}, rules or VerdictRules())[""]

    def by_tag(self, rules: VerdictRules | None = None) -> dict[str, Comparison]:
        """Compare the runs for each tag; p-values are adjusted for the tests of all tags."""
        return _compare(self._tags.items(), rules or VerdictRules())

    def bootstrap(
        self, *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
    ) -> tuple[float, float] | None:
        """Return the BCa interval of the mean score difference; no verdict depends on it."""
        return self._all.scores.bootstrap(level=level, resamples=resamples, seed=seed)


def _compare(groups: dict[str, _Group], rules: VerdictRules) -> dict[str, Comparison]:
    changes = {
        name: (group.passes.change(rules.level), group.scores.change(rules.level))
        for name, group in groups.items()
    }
    # There is no p to adjust where the score only repeats pass/fail or nothing was measured.
    raw = {
        (name, kind): p
        for name, (passes, scores) in changes.items()
        for kind, p in ((0, passes.p), (1, scores.p if groups[name].graded else None))
        if p is not None
    }
    adjusted = dict(zip(raw, adjust_holm(list(raw.values())), strict=True))
    return {
        name: Comparison(
            passes=passes,
            scores=scores,
            graded=groups[name].graded,
            verdict=decide_verdict(
                passes,
                scores,
                adjusted.get((name, 0)),
                adjusted.get((name, 1)),
                len(raw),
                rules,
            ),
        )
        for name, (passes, scores) in changes.items()
    }


def _equals_passed(score: float, passed: float | None) -> bool:
    return passed is not None and -_NEAR < score - passed < _NEAR


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None
