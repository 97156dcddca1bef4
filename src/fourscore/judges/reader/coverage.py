"""How much of a topic or a statement a text speaks of: the share of its words that stand together.

Not a probability, and no verdict on truth. On public data this ranks outputs as people do better
than the learned probability of support, which is for claims.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from fourscore.judges.reader.features import Match, words_in_window
from fourscore.judges.reader.support import read_claims, stem_question
from fourscore.judges.reader.text import Text, is_chinese

_NO_QUESTION: frozenset[str] = frozenset()
#: A sentence that refuses to speak of something does not cover it.
_REFUSAL = re.compile(
    r"\b(?:can't|cannot|can not|won't|will not|unable to|not able to)(?: \w{1,15})? "
    r"(?:say|tell|discuss|comment|provide|give|answer|speak|share|cover|address|help|describe)\b"
    r"|\bi (?:don't|do not) know\b|我(?:们)?(?:无法|不能|不会|不知道)",
    re.IGNORECASE,
)
#: Words of an aspect that is a mere topic: `costs and funding`.
_TOPIC = 4
_STATES = frozenset("is are was were has have had did does do will can".split())
#: Topics from which a sentence may be a mere list of them, and words beside each that say more.
_LIST, _OWN_WORDS = 3, 2


class Coverage(NamedTuple):
    """The share of an aspect that is covered, and the place of the sentence that has most of it."""

    share: float
    start: int
    end: int


def cover_aspects(aspects: Sequence[str], text: Text, question: str = "") -> list[Coverage]:
    """How much of each aspect the text covers; a list of their names covers none."""
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
        elif share and topics[match.number] >= _LIST and _is_topic(match):
            named = asked.union(*(claim.stems for claim in claims))
            own = sum(stem not in named for stem in best.content)
            share *= own >= _OWN_WORDS * topics[match.number]
        covered.append(Coverage(share, best.start, best.end))
    return covered


def _is_topic(match: Match) -> bool:
    """Whether an aspect only names something, so that a list of such names can have it."""
    sentence = match.claim.sentence
    most = 2 * _TOPIC if is_chinese(sentence.text) else _TOPIC
    return (
        len(sentence.words) <= most
        and not sentence.text.endswith((".", "。"))
        and _STATES.isdisjoint(sentence.words)
    )
