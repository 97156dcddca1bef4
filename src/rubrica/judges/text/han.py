"""A run of Chinese characters cut at the words that the lists know; what lies between stays whole.

There is no dictionary: characters that no list knows are kept as they stand.
"""

from functools import cache
from operator import add
from typing import NamedTuple

from rubrica.judges.text.lexicon import han_words, lexicon
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.word import Ideas

_STOPS = frozenset(
    "的了是在于为由和与及等也都就而其该这那个之把被将让使则且但并又很更最还再只着过们它他她我你您呢吗吧啊从到对向给以所或如每有比"
)
#: A part of a run and its place in it; what is known of it, None where nothing is.
Part = tuple[str, int, "Known | None"]


class Known(NamedTuple):
    """What the lists say of a Chinese word."""

    ideas: Ideas
    hedge: bool
    certain: bool
    denies: bool
    #: Whether it says something itself: 不 only denies, 不过 does not even that.
    said: bool


class _Table(NamedTuple):
    """What is known of each word, the characters that may be a word or grammar, and the words."""

    words: dict[str, Known]
    marks: frozenset[str]
    single: frozenset[str]
    longer: dict[str, tuple[str, ...]]


@cache
def _table() -> _Table:
    names = ("negation.txt", "hedges.txt", "certain.txt", "neutral.txt")
    negation, hedges, certain, neutral = map(words_of, names)
    ideas = lexicon().words
    table = han_words()
    found: dict[str, Known] = {}
    for word in {*table.single}.union(*table.longer.values()):
        mine, denies = ideas.get(word, ()), word in negation
        said = word not in neutral and (bool(mine) or not denies)
        found[word] = Known(mine, word in hedges, word in certain, denies, said)
    return _Table(found, _STOPS | table.single, *table)


def cut(run: str) -> list[Part]:
    """The known words of a run, and the parts between them without the characters of grammar."""
    words, marks, single, longer = _table()
    found: list[Part] = []
    at = rest = 0
    for place, pair in enumerate(map(add, run, f"{run[1:]} ")):
        if (pair not in longer and pair[0] not in marks) or place < at:
            continue
        for word in longer.get(pair, ()):
            if run.startswith(word, place):
                break
        else:
            char = pair[0]
            if char in single and (words[char].denies or _alone(run, place, rest)):
                word = char
            elif char in _STOPS:
                word = ""
            else:
                continue
        if place > rest:
            found.append((run[rest:place], rest, None))
        if word:
            found.append((word, place, words[word]))
        at = rest = place + (len(word) or 1)
    if rest < len(run):
        found.append((run[rest:], rest, None))
    return found


def _alone(run: str, at: int, rest: int) -> bool:
    """Whether a character stands between words that are known, so that it is one itself."""
    if at != rest and run[at - 1] not in "比很较更要太偏略稍":
        # 隔音差, 服务好: what is said of a thing at the end; not 温差 or 爱好.
        last = at == len(run) - 1 and at - rest > 1
        return last and run[at] in "好差贵快慢" and run[at - 1] not in "温误时落逆顺价偏出爱友美"
    after = run[at + 1 : at + 2]
    if not after or after in _STOPS or after in "一得点些多":
        return True
    return han_words().longer_at(run, at + 1) != ""
