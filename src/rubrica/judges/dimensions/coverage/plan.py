"""What to look for in the answers to one case: the signs of its aspects, and its question."""

import re
from collections.abc import Set
from functools import cached_property, lru_cache

import msgspec

from rubrica.core import Case
from rubrica.judges.dimensions.coverage.aspects import (
    Aspect,
    concepts_of,
    listed_aspects,
    read_aspects,
    senses_asked,
)
from rubrica.judges.dimensions.coverage.concepts import words_in
from rubrica.judges.dimensions.coverage.emptiness import GRAMMAR
from rubrica.judges.dimensions.coverage.homonyms import asked_kind
from rubrica.judges.dimensions.coverage.kinship import Kinship, Row
from rubrica.judges.dimensions.coverage.novelty import Novelty
from rubrica.judges.dimensions.coverage.question import is_work, question_of
from rubrica.judges.dimensions.coverage.scanning import keys_in
from rubrica.judges.dimensions.coverage.signs import signs_of
from rubrica.judges.dimensions.coverage.slots import grams_of, stop_keys
from rubrica.judges.dimensions.coverage.speech import Speech
from rubrica.judges.dimensions.coverage.spoken import Spoken, is_concrete, spoken
from rubrica.judges.dimensions.known import known

_REFERRING = frozenset(("doctor", "lawyer"))
_WHERE = re.compile(
    r"\bwhere (?:can|do|could|should|would|to|is|are)\b.{0,80}\b(?:find|read|look|see|get|buy"
    r"|listed|published|described|documented|available|downloaded|sold)\b"
    r"|(?:哪里|在哪|哪儿|何处).{0,6}(?:查|看|找|下载|了解)",
    re.IGNORECASE,
)
#: New words that a sentence without any figure or name needs which names an aspect, and for each
#: of several: with fewer, it announces, declines or praises.
_THIN, _THIN_HAN, _EACH = 5.0, 8.0, 4.0
_DIGIT = re.compile(r"\d")
#: New words of a sentence that is looked at at all.
LEAST = 1.0
#: Sentences and labels that a plan keeps.
_KEPT = 4096
#: A name in a question: `Go` in `the language Go`.
_PROPER = re.compile(r"(?<=[a-z,] )[A-Z][\w+#]*[a-z+#]\w*")


class Told(msgspec.Struct, frozen=True, gc=False):
    """What a sentence tells the one who asks."""

    said: Spoken
    speech: Speech
    #: New words.
    fresh: float
    #: Whether it does no more than name aspects.
    stuffed: bool
    #: Whether it plainly says something new.
    plain: bool


class Plan:
    """The aspects of a case with their signs, and what the question says already."""

    def __init__(self, question: str, aspects: tuple[Aspect, ...]) -> None:
        self.question = question
        self.aspects = aspects
        self.signs = signs_of(aspects, senses_asked(question, aspects))
        self.named = self.signs.named
        self.kind = asked_kind(question)
        self.asks_yes_no = any(aspect.yes_no for aspect in aspects)
        #: New words of a sentence that is looked at: the one thing asked may be a single character.
        self.least = LEAST if len(aspects) > 1 else LEAST / 2
        self._novelty = Novelty(question, aspects)
        self._told: dict[str | tuple[str, str], Told] = {}
        self._labels: dict[str, tuple[list[float], Row]] = {}

    @cached_property
    def refers(self) -> bool:
        """Whether being sent to somebody can be what was asked for."""
        return _WHERE.search(self.question) is not None or any(
            concept.name in _REFERRING for concept in concepts_of(self.aspects)
        )

    @cached_property
    def works(self) -> bool:
        """Whether a text is to be turned into another, of which no words can be foretold."""
        return len(self.aspects) == 1 and self.aspects[0].derived and is_work(self.question)

    @cached_property
    def kinship(self) -> Kinship:
        """How near words are to what is asked: of most answers nobody has to ask that."""
        return Kinship(self.question, self.aspects)

    @cached_property
    def _topics(self) -> "_Topics":
        return _Topics(self.question, self.aspects)

    def told(self, text: str, head: str = "") -> Told:
        """What a sentence tells, a row of a table together with its head."""
        key = (text, head) if head else text
        told = self._told.get(key)
        if told is None:
            if len(self._told) >= _KEPT:
                self._told.clear()
            told = self._told[key] = self._tell(spoken(text), head)
        return told

    def _tell(self, said: Spoken, head: str) -> Told:
        fresh = self._novelty.of(said)
        speech = self.signs.speech(said, head)
        if not speech.named:  # as of most sentences: it cannot be a list of names
            return Told(said, speech, fresh, False, fresh >= LEAST and not said.kind)
        return self._naming(said, speech, fresh)

    def _naming(self, said: Spoken, speech: Speech, fresh: float) -> Told:
        """The same of a sentence that names aspects, if it does no more."""
        named = len(speech.named)
        derived = self.aspects[0].derived
        each = 1 if derived and named == 2 and is_concrete(said.text) else 2
        again = 0.0 if "`" in said.text else speech.again  # install it with `apt install`
        stuffed = (named > 1 and fresh < each * named) or again > fresh
        stuffed = stuffed or (named > 2 and fresh < _EACH * named and not _DIGIT.search(said.text))
        if stuffed and self.asks_yes_no and speech.answers:
            stuffed = not all(self.aspects[at].yes_no for at in speech.named)
        code = "\n" in said.text  # which says its names again and again, and needs few
        stuffed = stuffed and not code
        if not derived and not code:
            thin = fresh < (_THIN if said.lower.isascii() else _THIN_HAN)
            fresh = 0.0 if thin and not is_concrete(said.text) else fresh
        plain = fresh >= LEAST and not stuffed and not said.kind
        return Told(said, speech, fresh, stuffed, plain)

    def fresh(self, said: Spoken) -> float:
        """New words of a text."""
        return self._novelty.of(said)

    def labels(self, label: str) -> tuple[list[float], Row]:
        """How far a label speaks of each aspect, by its words and by words near to them."""
        found = self._labels.get(label)
        if found is None:
            if len(self._labels) >= _KEPT:
                self._labels.clear()
            said = spoken(label)
            values = self.signs.speech(said).values()
            found = self._labels[label] = (values, self.kinship.near(said.words))
        return found

    def touches(self, said: Spoken) -> bool:
        """Whether a text has a word of the question that is not one of grammar."""
        topics = self._topics
        if not topics.words.isdisjoint(said.keys):
            return True
        for name in topics.proper:
            if name in said.text:
                return True
        if said.lower.isascii():
            return False
        return not topics.pairs.isdisjoint(said.signs) or len(topics.signs & said.signs) > 1

    def nears(self, lower: str) -> bool:
        """Whether a short text has at least a character of what the question is about."""
        return any(sign in lower for sign in self._topics.signs)


class _Topics:
    """What a question is about: words, pairs of Chinese characters and each of them, names."""

    def __init__(self, question: str, aspects: tuple[Aspect, ...]) -> None:
        lower = question.lower()
        idle, fluff = stop_keys(), words_in("fluff.txt")
        self.words = frozenset([key for key in keys_in(lower) if len(key) > 1]) - idle - fluff
        pairs = grams_of(lower) - idle - fluff
        self.signs = frozenset("".join(pairs)) - GRAMMAR
        self.pairs = pairs.union(*[_pairs(a.text) for a in aspects if not a.derived])
        self.proper = frozenset(_PROPER.findall(question))


def _pairs(text: str) -> Set[str]:
    """Pairs of Chinese characters that are not general ones."""
    return grams_of(text.lower()) - words_in("general.txt") - words_in("fluff.txt")


@known
def plan_of(case: Case) -> Plan:
    """The plan of a case; without aspects where there is nothing to cover."""
    return _plan(question_of(case.input), tuple(listed_aspects(case)))


@lru_cache(maxsize=512)
def _plan(question: str, listed: tuple[tuple[str, float], ...]) -> Plan:
    return Plan(question, read_aspects(question, listed))
