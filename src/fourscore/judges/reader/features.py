"""Measure how well a text matches a claim: eighteen features from words, numbers and negations.

Each feature is a short function of a `Match`: a claim, a text, and the sentence that shares most
words with the claim. None decides anything: weights learned from public data do that in `support`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

from fourscore.judges.reader.numbers import parse_number_word
from fourscore.judges.reader.text import STOP_WORDS, Sentence, Text, lazy, stem_word
from fourscore.judges.reader.weights import shipped_weights, word_weight

NOTHING: frozenset[int] = frozenset()
NO_SENTENCE = Sentence("", 0, 0)
NO_SIBLINGS: Mapping[str, int] = MappingProxyType({})
_NEGATIONS = frozenset(
    """no not never none nothing nobody neither nor cannot without nowhere false untrue incorrect
    wrong myth unlikely hardly fail failed lack lacks lacked refuse refused deny denied impossible
    不 没 无 未""".split()
)
#: Most words of a claim or sentence that a negation denies as a whole.
BRIEF = 10
#: Most words of a bare answer, and most words after a negation that it applies to.
_BARE, _REACH = 2, 2
_OPPOSITES = [
    pair.split("/")
    for pair in """increase/decrease rise/fall more/less more/fewer before/after all/none best/worst
    first/last male/female win/lose high/low large/small big/small north/south east/west alive/dead
    true/false always/never support/oppose good/bad positive/negative begin/end open/close old/new
    young/old man/woman left/right born/died husband/wife brother/sister father/mother son/daughter
    king/queen help/harm reduce/raise improve/worsen safe/dangerous legal/illegal gain/loss
    likely/unlikely same/different hot/cold early/late above/below most/least long/short
    everyone/nobody something/nothing include/exclude accept/reject strong/weak
    增/减 升/降 高/低 大/小 男/女 早/晚 多/少""".split()
]
_OPPOSITE: dict[str, set[str]] = {}
for _one, _other in _OPPOSITES:
    _OPPOSITE.setdefault(stem_word(_one), set()).add(stem_word(_other))
    _OPPOSITE.setdefault(stem_word(_other), set()).add(stem_word(_one))
_YES = frozenset("yes yeah correct true 是 对 会 能".split())
_NO = frozenset("no nope not false 不 没 否".split())
_CAPITALISED = re.compile(r"[A-Z][^\W_]*+")


class Claim:
    """A claim, and the words, names and numbers of it that a text should have.

    Words of the question do not count: repeating it is no answer. A word that other claims of the
    same case have too counts less, because it does not distinguish them.
    """

    def __init__(
        self,
        sentence: Sentence,
        question: frozenset[str],
        siblings: Mapping[str, int] = NO_SIBLINGS,
    ) -> None:
        self.sentence = sentence
        self.stems = sentence.distinct
        self.question = question
        content = sentence.content or dict.fromkeys(sentence.stems)
        new = [stem for stem in content if stem not in question] or content
        weight_of = shipped_weights().words.get
        self.wanted = {stem: weight_of(stem, 1.0) / siblings.get(stem, 1) for stem in new}
        self.weight = sum(self.wanted.values()) or 1.0

    @lazy
    def denies(self) -> bool:
        """Whether the claim has a negation."""
        return is_negated(self.sentence)

    @lazy
    def names(self) -> list[str]:
        """The stems of its names that are not in the question."""
        return [stem for stem in find_names(self.sentence.text) if stem not in self.question]

    @lazy
    def numbers(self) -> list[float]:
        """Its numbers that are not in the question."""
        found, question = self.sentence.numbers, self.question
        return [one for one in found if not _in_question(one, question)] if question else found


def find_names(text: str) -> list[str]:
    """Return the stems of the capitalised words; of the first word only if it is rare."""
    names = []
    for found in _CAPITALISED.finditer(text):
        word = found[0].lower()
        stem = stem_word(word)
        if word not in STOP_WORDS and (found.start() or word_weight(stem) == 1.0):
            names.append(stem)
    return names


class Match:
    """A claim, a text, and the sentence of the text that shares most words with the claim."""

    def __init__(self, claim: Claim, text: Text, ignored: frozenset[int] = NOTHING) -> None:
        self.claim, self.text = claim, text
        shares: dict[int, float] = {}
        found = 0.0
        missing = []
        places = text.places
        if claim.question:
            ignored |= text.repeats(claim.question)
        if text.denials:
            ignored |= text.listed_as_false if claim.denies else text.denials | text.listed_as_false
        self.ignored = ignored
        for stem, weight in claim.wanted.items():
            numbers = places.get(stem)
            if numbers is None and (value := parse_number_word(stem)) is not None:
                numbers = text.numbers.get(value)  # `8` for `eight`
            if numbers is not None and ignored:
                numbers = [number for number in numbers if number not in ignored]
            if not numbers:
                missing.append(weight)
                continue
            found += weight
            for number in numbers:
                shares[number] = shares.get(number, 0.0) + weight
        self.missing = missing
        self.found = found / claim.weight
        #: The index of the statement that shares most words, the first of equals; the first of all
        #: statements if none shares any.
        self.number = max(shares, key=shares.__getitem__) if shares else text.first
        self.share = shares.get(self.number, 0.0) / claim.weight
        self.best = text.sentences[self.number] if self.number >= 0 else NO_SENTENCE
        #: Whether the best sentence must not count for the claim.
        self.is_ignored = self.number in ignored

    @lazy
    def openings(self) -> int:
        """1 if claim and text both open with yes, or both with no; -1 if they differ; else 0."""
        first = self.text.first
        opening = _opening(self.text.sentences[first].words) if first >= 0 else 0
        return opening and opening * _opening(self.claim.sentence.words)

    def counts(self, places: Sequence[int] | None) -> bool:
        """Whether one of the statements with these indices counts."""
        return bool(places) and not self.ignored.issuperset(places or ())

    @property
    def stems(self) -> set[str]:
        return self.best.distinct

    @lazy
    def missing_numbers(self) -> int:
        """How many numbers of the claim the text lacks."""
        places = self.text.numbers
        return sum([not self.counts(places.get(number)) for number in self.claim.numbers])

    @lazy
    def missing_names(self) -> int:
        """How many names of the claim the text lacks."""
        places = self.text.places
        return sum([not self.counts(places.get(name)) for name in self.claim.names])

    @property
    def brevity(self) -> float:
        """1 for a short claim and sentence; in long ones a negation may be elsewhere."""
        return min(1.0, BRIEF / max(len(self.claim.sentence.words), len(self.best.words)))

    @lazy
    def text_denies(self) -> bool:
        """Whether the best sentence has a negation."""
        return is_negated(self.best)


def _in_question(number: float, question: frozenset[str]) -> bool:
    return f"{number:g}" in question or f"{number:.0f}" in question


def denies_bare_answer(match: Match) -> bool:
    """Whether the best sentence says `not Paris` and the expected answer is `Paris`.

    Public data has too few of these to learn from. In a longer claim a negation may be elsewhere.
    """
    claim = match.claim
    if len(claim.wanted) > _BARE or claim.denies or not match.text_denies:
        return False
    last = -_REACH - 1
    for place, (stem, word) in enumerate(zip(match.best.stems, match.best.words, strict=True)):
        if word in _NEGATIONS or word.endswith("n't"):
            last = place
        elif word == "only" and last == place - 1:
            last = -_REACH - 1  # "not only" denies nothing
        elif stem in claim.wanted:
            return place - last <= _REACH
    return False


def is_negated(sentence: Sentence) -> bool:
    """Whether the sentence has a negation."""
    words = sentence.words
    return not _NEGATIONS.isdisjoint(words) or "n't " in f"{' '.join(words)} "


# The features. Each takes a match and returns a number from 0 to 1.


def words_in_text(match: Match) -> float:
    """Share of the claim's words, by weight, that stand anywhere in the text."""
    return match.found


def words_in_sentence(match: Match) -> float:
    """Share of the claim's words that stand in one sentence."""
    return match.share


def words_in_window(match: Match) -> float:
    """Share of the claim's words in the best sentence and the better of its neighbours."""
    if match.found == match.share and not match.ignored:
        return match.share
    wanted, places, number = match.claim.wanted, match.text.places, match.number
    before = after = 0.0
    for stem, weight in wanted.items():
        numbers = places.get(stem)
        if numbers and number not in numbers:
            before += weight * (number - 1 in numbers and number - 1 not in match.ignored)
            after += weight * (number + 1 in numbers and number + 1 not in match.ignored)
    return match.share + max(before, after) / match.claim.weight


def all_words_found(match: Match) -> float:
    """1 if no word of the claim is missing in the text."""
    return float(not match.missing)


def sentence_is_about_claim(match: Match) -> float:
    """Share of the best sentence's words, by weight, that the claim or the question has."""
    if match.is_ignored:
        return 0.0
    stems, question = match.claim.stems, match.claim.question
    weight_of = shipped_weights().words.get
    known = total = 0.0
    for stem in match.best.content:
        if stem not in question:
            weight = weight_of(stem, 1.0)
            total += weight
            if stem in stems:
                known += weight
    return known / total if total else 0.0


def pairs_in_sentence(match: Match) -> float:
    """Share of the claim's neighbouring words that are neighbours in the best sentence."""
    pairs = set(pairwise(match.claim.sentence.stems))
    if not pairs or match.is_ignored:
        return match.share
    return len(pairs.intersection(pairwise(match.best.stems))) / len(pairs)


def stands_verbatim(match: Match) -> float:
    """1 if the claim stands word for word in the best sentence."""
    if match.is_ignored or not match.claim.stems <= match.stems:
        return 0.0
    claim, best = " ".join(match.claim.sentence.stems), " ".join(match.best.stems)
    return float(f" {claim} " in f" {best} ")


def numbers_agree(match: Match) -> float:
    """1 if the claim has numbers and the text has them all."""
    return float(bool(match.claim.numbers) and not match.missing_numbers)


def numbers_missing(match: Match) -> float:
    """Share of the claim's numbers that the text lacks."""
    numbers = match.claim.numbers
    return match.missing_numbers / len(numbers) if numbers else 0.0


def numbers_conflict(match: Match) -> float:
    """1 if the best sentence has another number instead of the claim's."""
    if not match.missing_numbers:
        return 0.0
    others = match.best.numbers
    return float(not set(match.claim.sentence.numbers).issuperset(others))


def names_missing(match: Match) -> float:
    """Share of the names in the claim that the text lacks."""
    names = match.claim.names
    return match.missing_names / len(names) if names else 0.0


def names_conflict(match: Match) -> float:
    """1 if the best sentence has another name and one of the claim's is missing."""
    if not match.missing_names:
        return 0.0
    claim = match.claim
    others = find_names(match.best.text)
    return float(any(one not in claim.stems and one not in claim.question for one in others))


def one_side_denies(match: Match) -> float:
    """Above 0 if either the claim or the sentence has a negation and the other has none."""
    return match.brevity if match.claim.denies != match.text_denies else 0.0


def both_deny(match: Match) -> float:
    """Above 0 if the claim and the sentence both have a negation."""
    return match.brevity if match.claim.denies and match.text_denies else 0.0


def has_opposite(match: Match) -> float:
    """1 if the sentence has the opposite of a word in the claim: more and less."""
    stems, claim = match.stems, match.claim.stems
    if _OPPOSITE.keys().isdisjoint(claim):
        return 0.0
    return float(
        any(
            other in stems and other not in claim
            for stem in claim
            if stem in _OPPOSITE and stem not in stems
            for other in _OPPOSITE[stem]
        )
    )


def opens_with_other_word(match: Match) -> float:
    """1 if one opens with yes and the other with no."""
    return float(match.openings < 0)


def opens_with_same_word(match: Match) -> float:
    """1 if both open with yes, or both with no."""
    return float(match.openings > 0)


def _opening(words: Sequence[str]) -> int:
    first = words[0] if words else ""
    return (first in _YES) - (first in _NO)


def answers_question(match: Match) -> float:
    """1 if the text answers a question, whose words it need not repeat."""
    return float(bool(match.claim.question))


Feature = Callable[[Match], float]
FEATURES: tuple[Feature, ...] = (
    words_in_text,
    words_in_sentence,
    words_in_window,
    all_words_found,
    sentence_is_about_claim,
    pairs_in_sentence,
    stands_verbatim,
    numbers_agree,
    numbers_missing,
    numbers_conflict,
    names_missing,
    names_conflict,
    one_side_denies,
    both_deny,
    has_opposite,
    opens_with_other_word,
    opens_with_same_word,
    answers_question,
)
#: The sign that a feature's weight for support may have: 1, -1, or 0 for either. Training keeps to
#: it, so that no unusual data set teaches that a missing number is a good sign.
DIRECTION = {
    "words_in_text": 1,
    "words_in_sentence": 1,
    "words_in_window": 1,
    "all_words_found": 1,
    "sentence_is_about_claim": 1,
    "pairs_in_sentence": 1,
    "stands_verbatim": 1,
    "numbers_agree": 1,
    "numbers_missing": -1,
    "numbers_conflict": -1,
    "names_missing": -1,
    "names_conflict": -1,
    "one_side_denies": -1,
    "both_deny": 1,
    "has_opposite": -1,
    "opens_with_other_word": -1,
    "opens_with_same_word": 1,
    "answers_question": 0,
}
NAMES = tuple(DIRECTION)


def measure(match: Match) -> list[float]:
    """Return all features of a match, in the order of `FEATURES`."""
    return [feature(match) for feature in FEATURES]
