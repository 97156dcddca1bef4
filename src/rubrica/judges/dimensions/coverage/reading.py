"""A passage with what was found in it, and where an aspect is covered."""

from typing import NamedTuple

from rubrica.judges.dimensions.coverage.passages import Passage
from rubrica.judges.dimensions.coverage.plan import Score, Seen
from rubrica.judges.dimensions.finding import Sure

#: New words that make substance, under a label that names the aspect and without one.
UNDER_LABEL, ALONE = 1.0, 2.0


class Cover(NamedTuple):
    """Where an aspect is covered, and how sure that is."""

    start: int
    end: int
    sure: Sure


class Read(NamedTuple):
    """A passage with what was found in it."""

    passage: Passage
    lower: str
    seen: Seen
    scores: list[Score]
    fresh: float
    #: Aspects that a label over it names.
    labelled: frozenset[int]
    #: Whether it plainly names an aspect, so that others are hardly meant.
    plain: bool
    #: Whether it has a word of what the question is about.
    topical: bool

    def score(self, at: int) -> float:
        """Beside or under the name of another aspect only plain words count for this one."""
        score = self.scores[at]
        if score.literal or at in self.labelled:
            return score.value
        if self.labelled or at in self.seen.blocked:
            return score.value * 0.5
        return score.value * 0.65 if self.plain else score.value
