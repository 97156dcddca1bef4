"""Where an answer says something of substance about each aspect."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rubrica.judges.dimensions.coverage.alignment import by_mark, by_place
from rubrica.judges.dimensions.coverage.emptiness import kind_of
from rubrica.judges.dimensions.coverage.filling import filled
from rubrica.judges.dimensions.coverage.homonyms import is_other
from rubrica.judges.dimensions.coverage.passages import Passage, passages
from rubrica.judges.dimensions.coverage.plan import Plan, Score, Seen
from rubrica.judges.dimensions.coverage.reading import ALONE, UNDER_LABEL, Cover, Read
from rubrica.judges.dimensions.coverage.scanning import keys_in
from rubrica.judges.dimensions.finding import Sure

#: From which score an aspect counts as spoken of, and a label as its name.
SPOKEN, NAMED = 0.45, 0.55
#: From which score two sentences together speak of an aspect.
TOGETHER = 0.55
#: From which score the aspect that a sentence speaks of most counts, and where none comes near.
LIKELY, CLEAR = 0.3, 0.21
#: The same for parts of a question: an answer often says more of the first than was asked.
PART_LIKELY, PART_CLEAR = 0.38, 0.28
_NONE = frozenset[int]()


def covers(text: str, plan: Plan) -> list[Cover | None]:
    """For each aspect where it is covered, or None."""
    if is_other(plan.kind, plan.question, text):
        return [None] * len(plan.aspects)
    pieces = passages(text)
    declined: set[int] = set()
    said = list(_said(pieces, plan, declined))
    placed = by_mark(pieces, plan) or by_place(text, plan)
    found: list[Cover | None] = []
    for at in range(len(plan.aspects)):
        cover = _labelled(said, at) or _spoken(said, at) or _paired(said, at, plan)
        if cover is None and at in placed:
            cover = Cover(*placed[at], "low")
        found.append(cover)
    if None in found:
        likely = [cover or _likely(said, at, plan) for at, cover in enumerate(found)]
        # Weak signs count only in an answer that is about the matter, or has many of them.
        about = any(found) or any(read.topical for read in said)
        if about or sum(cover is not None for cover in likely) * 2 > len(likely):
            found = likely
    return filled(said, found, plan, declined)


def _said(pieces: Sequence[Passage], plan: Plan, declined: set[int]) -> Iterator[Read]:
    """The passages that say something, with what they say; aspects only named are `declined`."""
    names: dict[str, frozenset[int]] = {}
    for passage in pieces:
        lower = passage.text.lower()
        labels = passage.labels
        for name in labels:
            if name not in names:
                names[name] = _named(name, plan)
        if passage.heading:
            continue
        if (kind := kind_of(lower)) and not (kind == "deflecting" and plan.refers):
            declined |= _named(passage.text, plan, 0.3)
            continue
        words = keys_in(lower)
        fresh = plan.novelty.of(lower, words)
        if fresh < UNDER_LABEL:
            continue
        seen = plan.seen(passage.text, lower, words)
        if labels and passage.paragraph < 0:  # a row of a table is read with its first cell
            seen.keys.update(plan.seen(labels[-1], labels[-1].lower()).keys)
        scores = plan.scores(seen)
        named = any(score.named for score in scores)
        if named and (_names_topics(scores, fresh) or plan.repeats(lower, words, scores) > fresh):
            declined.update(at for at, score in enumerate(scores) if score.named)
            continue
        yield Read(
            passage,
            lower,
            seen,
            scores,
            fresh,
            frozenset[int]().union(*(names[name] for name in labels)) if labels else _NONE,
            named and any(score.named and score.value >= 0.9 for score in scores),
            plan.touches(seen, passage.text, lower),
        )


def _named(label: str, plan: Plan, least: float = NAMED) -> frozenset[int]:
    """The aspects that a label names."""
    scores = plan.scores(plan.seen(label, label.lower()))
    return frozenset(
        at for at, score in enumerate(scores) if score.literal and score.value >= least
    )


def _names_topics(scores: Sequence[Score], fresh: float) -> bool:
    """Whether a sentence names several aspects and says little else: keyword stuffing, contents."""
    named = sum(score.named for score in scores)
    return named >= 2 and fresh < 2 * named


def _labelled(said: Sequence[Read], at: int) -> Cover | None:
    for read in said:
        if at in read.labelled and (len(read.labelled) == 1 or read.scores[at].value >= 0.3):
            return Cover(read.passage.start, read.passage.end, "high")
    return None


def _spoken(said: Sequence[Read], at: int) -> Cover | None:
    best, value = None, SPOKEN
    for read in said:
        if read.fresh >= ALONE and (score := read.score(at)) >= value:
            best, value = read, score
    if best is None:
        return None
    sure: Sure = "high" if best.scores[at].literal else "medium"
    return Cover(best.passage.start, best.passage.end, sure)


def _paired(said: Sequence[Read], at: int, plan: Plan) -> Cover | None:
    """Two sentences of one paragraph that only together speak of it."""
    for one, two in pairwise(said):
        if one.passage.paragraph != two.passage.paragraph:
            continue
        if one.scores[at].value + two.scores[at].value < SPOKEN:
            continue
        if (one.labelled | two.labelled) - {at} or at in one.seen.blocked | two.seen.blocked:
            continue
        seen = Seen(one.seen.keys | two.seen.keys, one.seen.shapes | two.seen.shapes)
        score = plan.scores(seen)[at]
        if score.value >= TOGETHER and one.fresh + two.fresh >= ALONE + 1:
            return Cover(one.passage.start, two.passage.end, "medium")
    return None


def _likely(said: Sequence[Read], at: int, plan: Plan) -> Cover | None:
    """A sentence that speaks of this aspect more than of any other, if not plainly."""
    derived = plan.aspects[at].derived
    likely, clear = (PART_LIKELY, PART_CLEAR) if derived else (LIKELY, CLEAR)
    best, value = None, clear
    for read in said:
        if at in read.seen.blocked or (read.labelled and at not in read.labelled):
            continue
        score = read.score(at)
        others = max(
            (other.value for place, other in enumerate(read.scores) if place != at), default=0
        )
        first = derived and at == 0 and read is said[0]
        enough = clear if first or score >= 2 * others else likely
        if score >= max(value, enough) and read.fresh >= ALONE and score >= others:
            best, value = read, score
    return None if best is None else Cover(best.passage.start, best.passage.end, "low")
