"""What is known of an English word wherever it stands: stem, ideas, its part in a denial."""

from functools import cache, lru_cache
from unicodedata import combining, normalize

import msgspec

from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.stems import stem

Ideas = tuple[tuple[str, int], ...]
Phrase = tuple[tuple[str, ...], Ideas]


class Word(msgspec.Struct, frozen=True, gc=False):
    """What is known of an English word wherever it stands."""

    lower: str
    term: str
    ideas: Ideas
    stop: bool
    role: str
    capital: bool
    polar: bool
    #: Grammar and nothing else: it may be passed over where it begins no phrase.
    idle: bool
    #: The same, and no phrase begins with it.
    skip: bool
    #: Nothing but `and` or `or`.
    joins: bool
    #: A word for itself: no grammar, nothing in a denial.
    bare: bool
    #: Whether it is a name inside a sentence; and one of a form that is a name anywhere: X-200.
    name: bool
    coded: bool
    #: Its ideas inside a sentence: North Korea is not the opposite of South Korea.
    inner: Ideas
    #: Phrases that begin with it: the stems behind it, and what they mean together; the same by the
    #: stem that may follow, and whether that may stand further off.
    phrases: tuple[Phrase, ...]
    nexts: dict[str, list[Phrase]]
    far: bool


_NEGATORS = frozenset(
    ("not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot")
) | frozenset(("hardly", "barely", "scarcely", "nowhere", "unable", "avoid", "myth", "untrue"))
#: Before `to`, these deny what follows; before `of`, so do `instead` and the like.
_BY_STEM = {
    **dict.fromkeys(("fail", "refus", "declin", "neglect", "ceas", "yet"), "to"),
    **dict.fromkeys(("seem", "appear"), "seem"),
}
_OF = frozenset(("instead", "short", "devoid"))
_BREAKS = frozenset(
    ("but", "because", "although", "though", "while", "whereas", "however", "since")
)
#: What these are said of is denied without any `not`.
FORBIDDEN = frozenset(("forbidden", "prohibited", "banned", "excluded", "outlawed"))
#: To those whom it is restricted to it is allowed.
RESTRICTED = "restricted"
#: How far the last word of a phrase may stand where an object of several words comes between:
#: `cleared the crew of blame`, `made the deal public`.
OBJECTS = {"of": 4, "public": 5, "known": 5}
#: What may come between of others: `voted it down`.
PRONOUNS = frozenset(("it", "them", "him", "her", "this", "that", "us"))
JOINS = ("and", "or", "nor")
_NO_PHRASES: tuple[tuple[Phrase, ...], dict[str, list[Phrase]], bool] = ((), {}, False)
_UNDENIED = frozenset(
    ("under", "unit", "unite", "united", "union", "universe", "university", "unique", "until")
) | frozenset(("universal", "unify", "uniform", "understand", "unless", "undergo", "undertake"))


def _plain(text: str) -> str:
    """Letters without their accents."""
    return "".join(char for char in normalize("NFKD", text) if not combining(char))


@cache
def _roles() -> dict[str, str]:
    """The parts that words take in a denial or a doubt."""
    found = dict.fromkeys(_BREAKS, "break")
    found |= dict.fromkeys(words_of("certain.txt"), "certain")
    found |= dict.fromkeys(words_of("hedges.txt"), "hedge")
    found |= dict.fromkeys(_OF, "of")
    found |= {"against": "against", "lacks": "lack", "lacked": "lack"}
    return found | dict.fromkeys(_NEGATORS, "not")


def _role(text: str, lower: str, term: str) -> str:
    if lower.endswith("n't"):
        return "not"
    role = _roles().get(lower, "")
    if term in _BY_STEM and role not in ("not", "against", "lack"):
        return _BY_STEM[term]
    return "" if text == "May" else role


@lru_cache(maxsize=4096)
def _phrases_of(term: str) -> tuple[tuple[Phrase, ...], dict[str, list[Phrase]], bool]:
    """The phrases that begin with a stem, as a word keeps them."""
    phrases = tuple([(stems[1:], means) for stems, means in lexicon().phrases[term]])
    nexts: dict[str, list[Phrase]] = {}
    for phrase in phrases:
        nexts.setdefault(phrase[0][0], []).append(phrase)
    for word in map(stem, PRONOUNS):
        if behind := [each for each in phrases if len(each[0]) == 1 or each[0][0] == word]:
            nexts[word] = behind
    return phrases, nexts, any(len(stems) == 1 and stems[0] in OBJECTS for stems, _ in phrases)


@lru_cache(maxsize=65536)
def word_of(text: str) -> Word:
    """What is known of an English word."""
    lower = text.lower() if text.isascii() else _plain(text.lower())
    if "'" in lower:
        lower = lower.removesuffix("'s").removesuffix("'")
    term = stem(lower)
    if "+" in term:
        term = term.replace("+", "-")
    role = _role(text, lower, term)
    known = lexicon()
    ideas = known.words.get(term, ())
    if not ideas and lower.startswith("un") and len(lower) > 5 and lower not in _UNDENIED:
        ideas = ((stem(lower[2:]), -1),)
    polar = bool(ideas) and not known.polar.isdisjoint([idea for idea, _ in ideas])
    phrases, nexts, far = _phrases_of(term) if term in known.phrases else _NO_PHRASES
    stop = lower in words_of("stop.txt")
    capital = text[0].isupper()
    told = bool(role) or lower in JOINS
    idle = stop and not told and (len(text) > 1 or not capital)
    bare = not (stop or told or lower in FORBIDDEN or lower == RESTRICTED)
    digits = not text.isalpha() and any(map(str.isdigit, text))
    name = len(text) > 1 if capital else digits
    coded = digits or (len(text) > 1 and not text[1:].islower())
    inner = without_polar(ideas) if name and polar else ideas
    return Word(
        lower,
        term,
        ideas,
        stop,
        role,
        capital,
        polar,
        idle,
        idle and not phrases,
        not role and lower in JOINS,
        bare,
        name,
        coded,
        inner,
        phrases,
        nexts,
        far,
    )


def without_polar(ideas: Ideas) -> Ideas:
    """The ideas that have no opposite."""
    polar = lexicon().polar
    return tuple(idea for idea in ideas if idea[0] not in polar)
