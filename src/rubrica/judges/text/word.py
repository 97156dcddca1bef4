"""What is known of an English word wherever it stands: stem, ideas, its part in a denial."""

from functools import lru_cache
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
    #: A word for itself: no grammar, nothing in a denial.
    bare: bool
    #: Whether it is a name inside a sentence; and one of a form that is a name anywhere: X-200.
    name: bool
    coded: bool
    #: Its ideas inside a sentence: North Korea is not the opposite of South Korea.
    inner: Ideas
    #: Phrases that begin with it: the stems behind it, and what they mean together; the same by the
    #: first of those stems, and whether one may stand further off.
    phrases: tuple[Phrase, ...]
    nexts: dict[str, list[Phrase]]
    far: bool


_NEGATORS = frozenset(
    ("not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot")
) | frozenset(("hardly", "barely", "scarcely", "nowhere", "unable", "avoid", "myth", "untrue"))
#: Before `to`, these deny what follows; before `of`, so do `instead` and the like.
_TO = frozenset(("fail", "refus", "declin", "neglect", "ceas"))
_OF = frozenset(("instead", "short", "devoid"))
_BREAKS = frozenset(
    ("but", "because", "although", "though", "while", "whereas", "however", "since")
)
#: What these are said of is denied without any `not`.
FORBIDDEN = frozenset(("forbidden", "prohibited", "banned", "excluded", "outlawed"))
#: How far the last word of a phrase may stand where an object of several words comes between:
#: `cleared the crew of blame`, `made the deal public`. Of others only a pronoun does.
OBJECTS = {"of": 4, "public": 5, "known": 5}
JOINS = ("and", "or", "nor")
_UNDENIED = frozenset(
    ("under", "unit", "unite", "united", "union", "universe", "university", "unique", "until")
) | frozenset(("universal", "unify", "uniform", "understand", "unless", "undergo", "undertake"))


def _plain(text: str) -> str:
    """Letters without their accents."""
    return "".join(char for char in normalize("NFKD", text) if not combining(char))


@lru_cache(maxsize=65536)
def word_of(text: str) -> Word:
    """What is known of an English word."""
    stop, hedges, certain = map(words_of, ("stop.txt", "hedges.txt", "certain.txt"))
    lower = text.lower() if text.isascii() else _plain(text.lower())
    lower = lower.removesuffix("'s").removesuffix("'")
    term = stem(lower).replace("+", "-")
    role = ""
    if lower in _NEGATORS or lower.endswith("n't"):
        role = "not"
    elif lower == "against":
        role = "against"
    elif term in _TO:
        role = "to"
    elif lower in _OF:
        role = "of"
    elif term in ("seem", "appear"):
        role = "seem"
    elif lower in hedges and text != "May":
        role = "hedge"
    elif lower in certain:
        role = "certain"
    elif lower in _BREAKS:
        role = "break"
    known = lexicon()
    ideas = known.words.get(term, ())
    if lower.startswith("un") and len(lower) > 5 and not ideas and lower not in _UNDENIED:
        ideas = ((stem(lower[2:]), -1),)
    polar = any(idea in known.polar for idea, _ in ideas)
    phrases = tuple((stems[1:], means) for stems, means in known.phrases.get(term, ()))
    nexts: dict[str, list[Phrase]] = {}
    for phrase in phrases:
        nexts.setdefault(phrase[0][0], []).append(phrase)
    capital = text[0].isupper()
    told = bool(role) or lower in JOINS
    idle = lower in stop and not told and (len(text) > 1 or not capital)
    bare = lower not in stop and not told and lower not in FORBIDDEN
    far = any(len(stems) == 1 and stems[0] in OBJECTS for stems, _ in phrases)
    digits = any(map(str.isdigit, text))
    name = len(text) > 1 if capital else digits
    coded = digits or (len(text) > 1 and not text[1:].islower())
    inner = without_polar(ideas) if name and polar else ideas
    return Word(
        lower,
        term,
        ideas,
        lower in stop,
        role,
        capital,
        polar,
        idle,
        idle and not phrases,
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
