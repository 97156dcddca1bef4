"""Drift: compares windows of samples with a reference window, in four aspects.

The first `size` samples are the reference. Each following window of `size` samples is compared with
it. Windows do not overlap, so the chance of a false alarm is at most the sum of theirs.
"""

from collections.abc import Iterator
from math import log2
from typing import Literal

import msgspec

from fourscore.monitor.sample import Sample
from fourscore.monitor.settings import MAX_STREAMS
from fourscore.stats.drift import compare_histograms, compare_tags, fisher_exact

Aspect = Literal["score", "length", "tool_errors", "mix"]
ASPECTS: tuple[Aspect, ...] = ("score", "length", "tool_errors", "mix")
SCORES, LENGTHS = 21, 96
OTHERS, UNTAGGED = "(others)", "(untagged)"
#: An alarm is over when a window's p-value is above this.
CLEAR_P = 0.05
#: Interactions named as evidence.
MAX_EVIDENCE = 10


class Profile(msgspec.Struct, omit_defaults=True, kw_only=True):
    """Histograms of a window: scores in steps of 1/20, lengths in steps of a factor 2 ** 0.25."""

    n: int = 0
    scores: list[int] = msgspec.field(default_factory=lambda: [0] * SCORES)
    lengths: list[int] = msgspec.field(default_factory=lambda: [0] * LENGTHS)
    with_tools: int = 0
    tool_errors: int = 0
    tags: dict[str, int] = msgspec.field(default_factory=dict)

    def add(self, sample: Sample, tags: tuple[str, ...]) -> None:
        """Count one sample."""
        self.n += 1
        self.scores[score_bin(sample)] += 1
        self.lengths[length_bin(sample)] += 1
        if sample.tool_calls:
            self.with_tools += 1
            self.tool_errors += sample.tool_errors > 0
        for tag in {
            t if t in self.tags or len(self.tags) < MAX_STREAMS["tag"] else OTHERS for t in tags
        }:
            self.tags[tag] = self.tags.get(tag, 0) + 1


class AspectDrift(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The last comparison of one aspect; `on` while it has drifted; `unusual` ids are evidence."""

    on: bool = False
    since: float = 0.0
    distance: float | None = None
    p: float | None = None
    detail: str = ""
    unusual: list[str] = msgspec.field(default_factory=list)


class Drift(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The reference, the current window, and the last comparison of each aspect."""

    reference: Profile = msgspec.field(default_factory=Profile)
    window: Profile = msgspec.field(default_factory=Profile)
    began: float = 0.0
    windows: int = 0
    usual: dict[Aspect, tuple[int, int]] = msgspec.field(default_factory=dict)
    marks: dict[Aspect, AspectDrift] = msgspec.field(
        default_factory=lambda: {aspect: AspectDrift() for aspect in ASPECTS}
    )

    def fold(self, sample: Sample, tags: tuple[str, ...], size: int, level: float) -> list[Aspect]:
        """Count a sample; if it fills a window, return the aspects whose alarm began or ended."""
        tags = tags or (UNTAGGED,)
        if self.reference.n < size:
            self.reference.add(sample, tags)
            return []
        if not self.window.n:
            self.began = sample.at
        self.window.add(sample, tags)
        for aspect in self._find_unusual(sample, tags):
            ids = self.marks[aspect].unusual
            ids.append(sample.id)
            if len(ids) > MAX_EVIDENCE:
                del ids[0]
        return self._compare(level) if self.window.n >= self.reference.n else []

    def renew(self) -> None:
        """Forget the reference; the next samples become the new one."""
        self.reference, self.window, self.usual = Profile(), Profile(), {}
        self.marks = {aspect: AspectDrift() for aspect in ASPECTS}

    def _compare(self, level: float) -> list[Aspect]:
        changed: list[Aspect] = []
        old, new = self.reference, self.window
        for aspect in ASPECTS:
            mark = self.marks[aspect]
            mark.distance, mark.p, mark.detail = compare_profiles(aspect, old, new)
            if (mark.p <= level) if not mark.on else (mark.p > CLEAR_P):
                mark.on, mark.since = not mark.on, self.began
                changed.append(aspect)
        self.windows += 1
        self.window = Profile()
        return changed

    def _find_unusual(self, sample: Sample, tags: tuple[str, ...]) -> Iterator[Aspect]:
        """Yield the aspects in which a sample is unusual compared with the reference."""
        if not self.usual:
            self.usual = {
                "score": _find_middle(self.reference.scores),
                "length": _find_middle(self.reference.lengths),
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


def compare_profiles(aspect: Aspect, old: Profile, new: Profile) -> tuple[float, float, str]:
    """Return the distance of two windows, its p-value, and a text that says what was compared."""
    if aspect == "score":
        return (*compare_histograms(old.scores, new.scores), "distribution of scores")
    if aspect == "length":
        return (*compare_histograms(old.lengths, new.lengths), "distribution of output lengths")
    if aspect == "tool_errors":
        a, m, b, n = old.tool_errors, old.with_tools, new.tool_errors, new.with_tools
        text = f"tool errors in {b} of {n} interactions with tools, {a} of {m} in the reference"
        return (b / n - a / m if m and n else 0.0), fisher_exact(a, m, b, n), text
    tag, moved, p = compare_tags(old.tags, old.n, new.tags, new.n)
    before, after = old.tags.get(tag, 0), new.tags.get(tag, 0)
    return moved, p, f"{tag}: {after} of {new.n}, {before} of {old.n} in the reference"


def score_bin(sample: Sample) -> int:
    """Return the index of a sample's score in the histogram."""
    return int((sample.value or 0.0) * 20 + 1e-9)


def length_bin(sample: Sample) -> int:
    """Return the index of a sample's length in the histogram."""
    return min(int(4 * log2(1 + sample.length)), LENGTHS - 1)


def _find_middle(bins: list[int]) -> tuple[int, int]:
    """Return the first and last bin of the middle 90%: without a twentieth at each end."""
    rare, so_far = sum(bins) / 20, 0
    sums = [so_far := so_far + each for each in bins]
    low = next(i for i, each in enumerate(sums) if each > rare)
    return low, next(i for i, each in enumerate(sums) if each >= so_far - rare)
