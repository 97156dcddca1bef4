"""Whether a statement denies what a source says: negation of the same words, or their opposite."""

import re
from functools import lru_cache
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from rubrica.judges.citing.leaning import leaning, sides
from rubrica.judges.citing.numbers import same
from rubrica.judges.citing.passages import Passage, clauses_of, passage_of, share
from rubrica.judges.citing.shelf import sentences_of
from rubrica.judges.text.words import fold, terms

#: Words after a negation that it reaches, and Chinese characters.
_REACH, _HAN_REACH = 4, 7
#: Shares of a statement's words that a sentence and a clause must have to speak of the same thing.
_SAME_SENTENCE, _SAME_CLAUSE = 0.3, 0.4
#: Enough where the source is one sentence.
_ONLY = 0.15
_LETTERS = re.compile(r"[a-z]+")
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[,.;:!?()]|\d+")
_NOT = re.compile(
    r"(?:not|no|never|neither|nor|none|cannot|without|fail(?:s|ed)?|refuse[sd]?|lack(?:s|ed)?|hardly"
    r"|excludes?|excluded|forbidden|forbids?|prohibit(?:s|ed)?|banned|bans?|denie[sd]|den(?:y|ies)"
    r"|rejects?|rejected|discourage[sd]?|unable|unlikely|[a-z]+n't)\Z"
)
#: `no more than`, `not only`, `no matter`: nothing is denied.
_NOT_EITHER = re.compile(
    r"\b(?:no (?:more|less|fewer|later|earlier|longer|matter|doubt|sooner|other) "
    r"|not (?:only|just|merely|least)|no one knows"
    r"|(?:must|should|shall|may|can) ?not exceed (?=[$€£]?\d)"
    r"|not\b(?=[^.;]{0,60}\b(?:until|till)\b)|not (?:more|less|fewer|later) than)",
    re.IGNORECASE,
)
_HAN_NOT = re.compile(
    r"(?:并不|不再|不会|不能|不可|不得|不准|不许|不应|不宜|不是|不需|不必|没有|未能|未曾|尚未|并未|从未|并非|而非|无需"
    r"|无法|别|勿|禁止|拒绝|反对|排除|避免|停止|取消|不|没|未|无|非)"
)
#: A bound of a figure, too, which the numbers tell: 不应超过5克.
_HAN_NOT_EITHER = re.compile(
    r"[不未没勿别][有得可要能应会宜该当]{0,2}(?:超过|高于|低于|大于|小于|少于|多于)(?=约?[ ]?\d)"
    r"|不(?:仅|但|过|同|断|少|久|只|论|管|超过|足|到|高于|低于|大于|小于|少于|多于|得不|错|妨|如|止|等于|由得|大|太|定)"
    r"|非(?:常|洲|物质|遗|凡|营利)|无(?:论|人机|线|锡|形|机|疑)|未(?:来|必|婚|成年)|没(?:收|落|想到)|是不是|能不能|会不会|要不要|有没有|可不可"
    r"|[特区分级性类个辨识告]别|别(?:人|墅|的|名|称|处)|[几很]乎不|差不多|南非|除非|北非"
)


_HAS_NOT = re.compile(r"(?:没有|无)([㐀-鿿])")
_NEGATIVE = frozenset("不没无未非")
first = itemgetter(0)


class Denial(NamedTuple):
    """What is denied, as a reader is told."""

    word: str
    sentence: str


@lru_cache(maxsize=512)
def negated(text: str) -> frozenset[str]:
    """The terms of the text that stand within the reach of a negation."""
    plain = text.isascii()
    folded = fold(text).lower()
    found: set[str] = set()
    if any(map(_denies, folded.split() if plain else _latin(folded))):
        found = _negated_words(_NOT_EITHER.sub(" ", folded))
    if plain or not _HAN_NOT.search(text):
        return frozenset(found)
    text = _HAN_NOT_EITHER.sub(lambda match: "，" * len(match[0]), text)
    for match in _HAN_NOT.finditer(text):
        reach = re.split(r"[，。；：！？,.;:\s]", text[match.end() : match.end() + _HAN_REACH])[0]
        found |= terms(reach)
    return frozenset(found)


def _latin(folded: str) -> list[str]:
    """The words of a text with other signs in it; most Chinese ones have none."""
    return _TOKEN.findall(folded) if _LETTERS.search(folded) else []


@lru_cache(maxsize=16384)
def _denies(chunk: str) -> bool:
    """Whether a word denies, or one in what stands between spaces, which is found much faster."""
    return any(map(_NOT.match, _TOKEN.findall(chunk)))


def _negated_words(text: str) -> set[str]:
    found: set[str] = set()
    reach = 0
    for token in _TOKEN.findall(text):
        if not token[0].isalnum():
            reach = 0
        elif _denies(token):
            reach = _REACH
        elif reach:
            stems = terms(token)
            found |= stems
            reach -= bool(stems)
    return found


@lru_cache(maxsize=1)
def opposites() -> dict[str, frozenset[str]]:
    """Each word with its opposites, from the list beside this module."""
    found: dict[str, set[str]] = {}
    text = (Path(__file__).parent / "opposites.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("|"):
            kinds = set(line[1:].split())
            for word in kinds:
                found.setdefault(word, set()).update(kinds - {word})
            continue
        left, slash, right = line.partition("/")
        if slash and not line.startswith("#"):
            for one, other in ((left.split(), right.split()), (right.split(), left.split())):
                for word in one:
                    found.setdefault(word, set()).update(other)
    return {word: frozenset(others) for word, others in found.items()}


@lru_cache(maxsize=512)
def _directions(text: str) -> frozenset[str]:
    """The words of the list that stand in the text."""
    lower = fold(text).lower()
    if "no " in lower or "not " in lower:
        lower = _NOT_EITHER.sub(" ", lower)  # `no more than` is not more
    found = opposites().keys() & _LETTERS.findall(lower)
    if not lower.isascii():
        begun = _han_opposites()
        found |= {word for sign in begun.keys() & lower for word in begun[sign] if word in lower}
    return frozenset(found)


@lru_cache(maxsize=1)
def _han_opposites() -> dict[str, list[str]]:
    """The Chinese words of the list by their first sign."""
    found: dict[str, list[str]] = {}
    for word in opposites():
        if not word.isascii():
            found.setdefault(word[0], []).append(word)
    return found


def denied(mine: Passage, source: str) -> Denial | None:
    """The sentence of the source that the claim denies; None where there is none.

    Where one sentence of the source agrees with the claim, another that does not refutes nothing.
    """
    best: Denial | None = None
    shelf = sentences_of(source)
    only = len(shelf.passages) == 1  # what else could be meant?
    for place, _ in shelf.shares(mine, _ONLY if only else _SAME_SENTENCE):
        theirs = shelf.passages[place]
        word = _flipped(mine, theirs) or _opposed(
            mine.text, theirs.text, _ONLY if only else _SAME_CLAUSE
        )
        if not word:
            return None
        best = best or Denial(word, theirs.text)
    return best


def _flipped(mine: Passage, theirs: Passage) -> str:
    """A word that one of the two denies and the other states, where none is denied by both."""
    claim, sentence = mine.text, theirs.text
    ours, others = negated(claim), negated(sentence)
    if not ours.isdisjoint(others):
        return ""
    if not claim.isascii() and (word := _had(claim, sentence) or _had(sentence, claim)):
        return word
    # Beside its own denial the other side may deny in words of its own: `no worse`, `unchanged`.
    if bool(ours) == bool(others):
        return ""
    return min((ours or others) & mine.terms & theirs.terms, default="")


def _had(one: str, other: str) -> str:
    """有毒 here, 没有毒 or 无毒 there: one character is no pair, so the terms do not show it."""
    for match in _HAS_NOT.finditer(one):
        word = f"有{match[1]}"
        if word in other and f"没{word}" not in other and word not in one.replace(f"没{word}", ""):
            return word
    return ""


def _opposed(claim: str, sentence: str, enough: float) -> str:
    """A word of the claim whose opposite the same clause of the sentence has, or a clause of it
    that rises where the other falls.
    """
    known = opposites()
    said = _directions(sentence)
    listed = any(not known[word].isdisjoint(said) for word in _directions(claim))
    if not listed and not any(-side in sides(sentence) for side in sides(claim)):
        return ""
    for clause in clauses_of(claim):
        ours = _directions(clause)
        if not ours and not leaning(clause):
            continue
        mine = passage_of(clause)
        near = _nearest(mine, sentence, enough)
        if not near:
            continue
        theirs = _directions(near)
        even = bool(negated(clause)) == bool(negated(near))
        for word in ours:
            others = known[word] & theirs
            # `did not fall` is no opposite of `rose`, but 没有毒 is one of 有毒.
            if others and not ours & theirs and (even or _NEGATIVE & set(map(first, others))):
                return word
        if even and _turned(mine, near, sentence):
            return clause
    return ""


def _nearest(mine: Passage, sentence: str, enough: float) -> str:
    """The clause that speaks of the same thing, or the one that tells its figure.

    In `sales reached $4 million, up 5.2%` the first clause has the words and the second the rest.
    """
    clauses = clauses_of(sentence)
    how_near, near = max(
        [(share(mine, passage_of(one)), one) for one in clauses], default=(0.0, "")
    )
    if how_near < enough:
        return ""
    if len(clauses) == 1 or not mine.quantities or _directions(near) or sides(near):
        return near
    told = [one for one in clauses if one != near and _same_figure(mine, passage_of(one))]
    return told[0] if len(told) == 1 and not _same_figure(mine, passage_of(near)) else near


def _same_figure(mine: Passage, theirs: Passage) -> bool:
    return any(
        same(one, other) for one in mine.quantities if not one.date for other in theirs.quantities
    )


def _turned(mine: Passage, near: str, sentence: str) -> bool:
    """Whether one rises where the other falls, and no other clause says of it what the claim does.

    `promoting growth, reducing poverty` does not deny that it reduces poverty.
    """
    side = leaning(mine.text)
    if not side or leaning(near) != -side:
        return False
    left = mine.terms - passage_of(near).terms
    return not any(
        leaning(other) == side and not all(map(leaning, left & passage_of(other).terms))
        for other in clauses_of(sentence)
    )
