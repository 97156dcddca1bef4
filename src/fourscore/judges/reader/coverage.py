"""Measure how much of an aspect a text covers: the share of its words that stand together.

Not a probability, and no verdict on truth. On public data this agrees better with people's ranking
of outputs than the learned probability of support, which is for claims.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from fourscore.judges.reader.features import Match, words_in_window
from fourscore.judges.reader.support import read_claims, stem_question
from fourscore.judges.reader.text import Text, is_chinese

_NO_QUESTION: frozenset[str] = frozenset()
#: A sentence that refuses to say something does not cover it.
_REFUSAL = re.compile(
    r"\b(?:can't|cannot|can not|won't|will not|unable to|not able to)(?: \w{1,15})? "
    r"(?:say|tell|discuss|comment|provide|give|answer|speak|share|cover|address|help|describe)\b"
    r"|\bi (?:don't|do not) know\b|我(?:们)?(?:无法|不能|不会|不知道)",
    re.IGNORECASE,
)
#: Most words of an aspect that is only a topic: `costs and funding`.
_MAX_TOPIC = 4
_STATING_VERBS = frozenset("is are was were has have had did does do will can".split())
#: The least topics in a sentence that may be only a list of them, and the least other words for
#: each topic that make it more than a list.
_MIN_LISTED, _MIN_OWN_WORDS = 3, 2


class Coverage(NamedTuple):
    """The share of an aspect that is covered, and the offsets of the sentence with most of it."""

    share: float
    start: int
    end: int


def cover_aspects(aspects: Sequence[str], text: Text, question: str = "") -> list[Coverage]:
    """Return how much of each aspect the text covers; a list of their names covers none."""
    if not text.sentences:
        return [Coverage(0.0, 0, 0) for _ in aspects]
    claims = read_claims(aspects, _NO_QUESTION)
    asked = stem_question(question)
    repeats = text.repeats(asked) if asked else frozenset()
    matches = [Match(claim, text, repeats) for claim in claims]
    topics = Counter([match.number for match in matches if match.share and _is_topic(match)])
    covered = []
    for match in matches:
        best = match.best
        share = words_in_window(match)
        if share and _REFUSAL.search(best.text):
            share = 0.0
        elif share and topics[match.number] >= _MIN_LISTED and _is_topic(match):
            named = asked.union(*(claim.stems for claim in claims))
            own = sum(stem not in named for stem in best.content)
            share *= own >= _MIN_OWN_WORDS * topics[match.number]
        covered.append(Coverage(share, best.start, best.end))
    return covered


def _is_topic(match: Match) -> bool:
    """Whether an aspect only names a topic, so that it may stand in a list of topics."""
    sentence = match.claim.sentence
    most = 2 * _MAX_TOPIC if is_chinese(sentence.text) else _MAX_TOPIC
    return (
        len(sentence.words) <= most
        and not sentence.text.endswith((".", "。"))
        and _STATING_VERBS.isdisjoint(sentence.words)
    )
