"""Is the traffic still like that of the reference? Windows of samples, one after the other.

The first `size` samples are the reference, or one set by hand. Then each window of as many is
compared with it in four ways; no window overlaps another, so the chances of a false alarm add up.
"""

from collections.abc import Iterator
from math import log2
from typing import Literal

import msgspec

from fourscore.monitor.sample import Sample
from fourscore.monitor.settings import MOST
from fourscore.stats.drift import fisher, gap, mix

Aspect = Literal["score", "length", "tool_errors", "mix"]
ASPECTS: tuple[Aspect, ...] = ("score", "length", "tool_errors", "mix")
SCORES, LENGTHS = 21, 96
OTHERS, UNTAGGED = "(others)", "(untagged)"
#: An alarm is over when a window differs no more than one in twenty does by chance.
OVER = 0.05
#: Interactions named as evidence.
NAMED = 10


class Profile(msgspec.Struct, omit_defaults=True):
    """What is counted of a window: scores by twentieths, lengths by quarters of a doubling."""

    n: int = 0
    scores: list[int] = msgspec.field(default_factory=lambda: [0] * SCORES)
    lengths: list[int] = msgspec.field(default_factory=lambda: [0] * LENGTHS)
    with_tools: int = 0
    tool_errors: int = 0
    tags: dict[str, int] = msgspec.field(default_factory=dict)

    def add(self, sample: Sample, tags: tuple[str, ...]) -> None:
        self.n += 1
        self.scores[score_bin(sample)] += 1
        self.lengths[length_bin(sample)] += 1
        if sample.tool_calls:
            self.with_tools += 1
            self.tool_errors += sample.tool_errors > 0
        for tag in {t if t in self.tags or len(self.tags) < MOST["tag"] else OTHERS for t in tags}:
            self.tags[tag] = self.tags.get(tag, 0) + 1


class Mark(msgspec.Struct, omit_defaults=True):
    """How one aspect stood at the last comparison."""

    on: bool = False
    since: float = 0.0
    distance: float | None = None
    p: float | None = None
    detail: str = ""
    unusual: list[str] = msgspec.field(default_factory=list)


class Drift(msgspec.Struct, omit_defaults=True):
    reference: Profile = msgspec.field(default_factory=Profile)
    window: Profile = msgspec.field(default_factory=Profile)
    began: float = 0.0
    windows: int = 0
    usual: dict[Aspect, tuple[int, int]] = msgspec.field(default_factory=dict)
    marks: dict[Aspect, Mark] = msgspec.field(
        default_factory=lambda: {aspect: Mark() for aspect in ASPECTS}
    )

    def fold(self, sample: Sample, tags: tuple[str, ...], size: int, level: float) -> list[Aspect]:
        """Count a sample; where that fills a window, the aspects whose alarm began or ended."""
        tags = tags or (UNTAGGED,)
        if self.reference.n < size:
            self.reference.add(sample, tags)
            return []
        if not self.window.n:
            self.began = sample.at
        self.window.add(sample, tags)
        for aspect in self._unusual(sample, tags):
            ids = self.marks[aspect].unusual
            ids.append(sample.id)
            if len(ids) > NAMED:
                del ids[0]
        return self._compare(level) if self.window.n >= self.reference.n else []

    def renew(self) -> None:
        """Forget the reference: the next samples are the new one."""
        self.reference, self.window, self.usual = Profile(), Profile(), {}
        self.marks = {aspect: Mark() for aspect in ASPECTS}

    def _compare(self, level: float) -> list[Aspect]:
        turned: list[Aspect] = []
        old, new = self.reference, self.window
        for aspect in ASPECTS:
            mark = self.marks[aspect]
            mark.distance, mark.p, mark.detail = compared(aspect, old, new)
            if (mark.p <= level) if not mark.on else (mark.p > OVER):
                mark.on, mark.since = not mark.on, self.began
                turned.append(aspect)
        self.windows += 1
        self.window = Profile()
        return turned

    def _unusual(self, sample: Sample, tags: tuple[str, ...]) -> Iterator[Aspect]:
        """In which ways a sample would be rare in the reference: tags below a fifth of it."""
        if not self.usual:
            self.usual = {
                "score": _middle(self.reference.scores),
                "length": _middle(self.reference.lengths),
            }
        low, high = self.usual["score"]
        if not low <= score_bin(sample) <= high:
            yield "score"
        low, high = self.usual["length"]
        if not low <= length_bin(sample) <= high:
            yield "length"
        if sample.tool_errors:
            yield "tool_errors"
        known = self.reference.tags
        for tag in tags:
            if known.get(tag, 0) * 5 <= self.reference.n:
                yield "mix"
                return


def compared(aspect: Aspect, old: Profile, new: Profile) -> tuple[float, float, str]:
    """How far apart two windows are, the p-value, and what it is about, in words."""
    if aspect == "score":
        return (*gap(old.scores, new.scores), "distribution of scores")
    if aspect == "length":
        return (*gap(old.lengths, new.lengths), "distribution of output lengths")
    if aspect == "tool_errors":
        a, m, b, n = old.tool_errors, old.with_tools, new.tool_errors, new.with_tools
        words = f"tool errors in {b} of {n} interactions with tools, {a} of {m} in the reference"
        return (b / n - a / m if m and n else 0.0), fisher(a, m, b, n), words
    tag, moved, p = mix(old.tags, old.n, new.tags, new.n)
    before, after = old.tags.get(tag, 0), new.tags.get(tag, 0)
    return moved, p, f"{tag}: {after} of {new.n}, {before} of {old.n} in the reference"


def score_bin(sample: Sample) -> int:
    return int((sample.value or 0.0) * 20 + 1e-9)


def length_bin(sample: Sample) -> int:
    return min(int(4 * log2(1 + sample.length)), LENGTHS - 1)


def _middle(bins: list[int]) -> tuple[int, int]:
    """The first and last bin without the rarest twentieth at either end."""
    rare, so_far = sum(bins) / 20, 0
    sums = [so_far := so_far + each for each in bins]
    low = next(i for i, each in enumerate(sums) if each > rare)
    return low, next(i for i, each in enumerate(sums) if each >= so_far - rare)
