"""What is known of an English word wherever it stands: stem, ideas, its part in a denial."""

from functools import lru_cache
from unicodedata import combining, normalize

import msgspec

from rubrica.judges.text.lexicon import lexicon
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.stems import stem

Ideas = tuple[tuple[str, int], ...]


class Word(msgspec.Struct, frozen=True, gc=False):
    """What is known of an English word wherever it stands."""

    lower: str
    term: str
    ideas: Ideas
    stop: bool
    role: str
    capital: bool
    polar: bool
    #: Grammar and nothing else: it may be passed over.
    idle: bool
    #: Phrases that begin with it: the stems behind it, and what they mean together.
    phrases: tuple[tuple[tuple[str, ...], Ideas], ...]


_NEGATORS = frozenset(
    ("not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot")
) | frozenset(("hardly", "barely", "scarcely", "nowhere", "unable", "avoid", "myth", "untrue"))
#: Before `to`, these deny what follows; before `of`, so do `instead` and the like.
_TO = frozenset(("fail", "refus", "declin", "neglect", "ceas"))
_OF = frozenset(("instead", "short", "devoid"))
_BREAKS = frozenset(
    ("but", "because", "although", "though", "while", "whereas", "however", "since")
)
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
    capital = text[0].isupper()
    joins = lower in ("and", "or", "nor")
    idle = lower in stop and not (role or phrases or joins) and (len(text) > 1 or not capital)
    return Word(lower, term, ideas, lower in stop, role, capital, polar, idle, phrases)
