"""The words and signs of a sentence in order, and whether they are a sentence at all."""

import re
from functools import lru_cache
from itertools import accumulate
from string import ascii_letters, digits

from rubrica.judges.text.lists import words_of
from rubrica.judges.text.word import OBJECTS, PRONOUNS, Phrase, Word, word_of

_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PIECE = re.compile(
    rf"([{_CJK}]++|[^\W\d_{_CJK}][^\W_{_CJK}]*+(?:['.+-][^\W_{_CJK}]++)*+|\d++(?:[.,:/-]\d++)*+"
    r"|[,;:()\[\]{}|!?…→]|--|—|。|\.(?=\s|$))"
)
#: The same for plain English, where it is nearly twice as fast.
_ASCII_PIECE = re.compile(
    r"([A-Za-z][A-Za-z0-9]*+(?:['.+-][A-Za-z0-9]++)*+|[0-9]++(?:[.,:/-][0-9]++)*+"
    r"|[,;:()\[\]{}|!?]|--|\.(?=\s|$))"
)
#: Characters of the shortest heap.
LEAST_HEAP = 60
#: The least share of grammar in the small words of a sentence, and in all of them.
_SMALL, _ALL = 0.18, 0.15
_ALNUM = (ascii_letters + digits).encode()
_HAN_GRAMMAR = frozenset("的是在了于为有和与被由把将不也就对从")


def tokens_of(text: str) -> tuple[list[str], list[int]]:
    """Words, runs of Chinese, numbers and the signs that part clauses, and where each begins."""
    parts = (_ASCII_PIECE if text.isascii() else _PIECE).split(text)
    return parts[1::2], list(accumulate(map(len, parts)))[:-1:2]


def words_in(tokens: list[str], plain: bool) -> list[Word | None]:
    """What is known of each token that is an English word; `plain` where all are of ASCII."""
    if plain:
        return list(map(_word, tokens))
    return [
        word_of(token) if (first := token[0]) < "⺀" and first.isalpha() else None
        for token in tokens
    ]


@lru_cache(maxsize=65536)
def _word(token: str) -> Word | None:
    return word_of(token) if token[0].isalpha() else None


def heaped(text: str) -> bool:
    """Whether it is a heap of words: many of them, and hardly any grammar.

    English has a word of grammar in every three; a list of names has commas instead.
    """
    if len(text) < LEAST_HEAP or (text.isascii() and _is_grammatical(text)):
        return False
    tokens, _ = tokens_of(text)
    known = [word for word in words_in(tokens, text.isascii()) if word is not None]
    if len(known) >= 12:
        small = [word.stop for word in known if not word.capital]
        if len(small) >= 12:
            return sum(small) < _SMALL * len(small)
        commas = sum([token in ",;:|(" for token in tokens])
        return sum([word.stop for word in known]) < _ALL * len(known) and 8 * commas < len(known)
    runs = [token for token in tokens if token[0] > "⺀"]
    return len(runs) >= 10 and all(map(_HAN_GRAMMAR.isdisjoint, runs))


def _is_grammatical(text: str) -> bool:
    """Whether the words between spaces do to tell that it has grammar enough, as nearly always: it
    has no more words than signs that part them, and one.
    """
    signs = len(text.encode().translate(None, _ALNUM))
    return sum(map(words_of("stop.txt").__contains__, text.split())) >= _SMALL * (signs + 1)


def phrase_from(words: list[Word | None], at: int) -> Phrase | None:
    """The phrase that begins with the word here: the stems behind it, and what it means."""
    word, following = words[at], words[at + 1] if at + 1 < len(words) else None
    if word is None or following is None:
        return None
    for phrase in word.phrases if word.far else word.nexts.get(following.term, ()):
        if _stands(words, at + 1, phrase[0]):
            return phrase
    return None


def _stands(words: list[Word | None], at: int, stems: tuple[str, ...]) -> bool:
    """Whether the rest of a phrase stands here; its object may come between: `voted it down`."""
    if len(stems) == 1:
        reach = OBJECTS.get(stems[0], 2)
        for place in range(at, min(at + reach, len(words))):
            word = words[place]
            if word is None:
                return False
            if word.term == stems[0]:
                return place == at or reach > 2 or _is_pronoun(words[place - 1])
        return False
    if at + len(stems) > len(words):
        return False
    for offset, term in enumerate(stems):
        word = words[at + offset]
        if word is None or word.term != term:
            return False
    return True


def _is_pronoun(word: Word | None) -> bool:
    return word is not None and word.lower in PRONOUNS
