"""The words and signs of a sentence in order, and whether they are a sentence at all."""

import re

from rubrica.judges.text.word import Word, word_of

Tokens = list[tuple[str, int]]
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_PIECE = re.compile(
    rf"[{_CJK}]+|[^\W\d_{_CJK}][^\W_{_CJK}]*(?:['.+-][^\W_{_CJK}]+)*|\d+(?:[.,:/-]\d+)*"
    r"|[,;:()\[\]{}|!?…→]|--|—|。|\.(?=\s|$)"
)
#: The same for plain English, where it is nearly twice as fast.
_ASCII_PIECE = re.compile(
    r"[A-Za-z][A-Za-z0-9]*(?:['.+-][A-Za-z0-9]+)*|[0-9]+(?:[.,:/-][0-9]+)*"
    r"|[,;:()\[\]{}|!?]|--|\.(?=\s|$)"
)
#: Characters of the shortest heap.
LEAST_HEAP = 60
_HAN_GRAMMAR = frozenset("的是在了于为有和与被由把将不也就对从")


def tokens_of(text: str) -> Tokens:
    """Words, runs of Chinese, numbers and the signs that part clauses, with their places."""
    form = _ASCII_PIECE if text.isascii() else _PIECE
    return [(match[0], match.start()) for match in form.finditer(text)]


def words_in(tokens: Tokens) -> list[Word | None]:
    """What is known of each token that is an English word."""
    return [
        word_of(token) if token[0].isalpha() and token[0] < "⺀" else None for token, _ in tokens
    ]


def heaped(text: str) -> bool:
    """Whether it is a heap of words: many of them, and hardly any grammar."""
    if len(text) < LEAST_HEAP:
        return False
    tokens = tokens_of(text)
    return _heaped(tokens, words_in(tokens))


def _heaped(tokens: list[tuple[str, int]], words: list[Word | None]) -> bool:
    """English has a word of grammar in every three; a list of names has commas instead."""
    known = [word for word in words if word is not None]
    if len(known) >= 12:
        small = [word for word in known if not word.capital]
        if len(small) >= 12:
            return sum(word.stop for word in small) < 0.18 * len(small)
        commas = sum(token in ",;:|(" for token, _ in tokens)
        return sum(word.stop for word in known) < 0.15 * len(known) and 8 * commas < len(known)
    runs = [token for token, _ in tokens if token[0] > "⺀"]
    return len(runs) >= 10 and all(_HAN_GRAMMAR.isdisjoint(run) for run in runs)


def phrase_at(words: list[Word | None], at: int, stems: tuple[str, ...]) -> bool:
    """Whether the rest of a phrase stands here; its object may come between: `voted it down`."""
    if len(stems) == 1:
        reach = _OBJECTS.get(stems[0], 2)
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


#: How far the last word of a phrase may stand where an object of several words comes between:
#: `cleared the crew of blame`, `made the deal public`. Of others only a pronoun does.
_OBJECTS = {"of": 4, "public": 5, "known": 5}


def _is_pronoun(word: Word | None) -> bool:
    return word is not None and word.lower in ("it", "them", "him", "her", "this", "that", "us")
