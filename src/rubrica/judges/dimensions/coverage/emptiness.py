"""What says nothing: promises, refusals, naming of topics, the question pasted back, praise."""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from rubrica.judges.dimensions.coverage.concepts import table
from rubrica.judges.dimensions.coverage.scanning import HAN, words_of

_BUT = re.compile(
    r"\b(?:but|however|though|although|nevertheless)\b|但|不过|然而|只(?:能|知道)|目前已知"
)
_ONLY_SIGNS = re.compile(
    r"[\s\W_]*(?:n/?a|tbd|tba|tbc|none|unknown|todo|略|无|未知|不详|待定|待补|暂无|空)?[\s\W_]*\Z",
    re.IGNORECASE,
)
#: What those words begin with. No other letter or figure opens such a text, or a note.
_OPENS = frozenset("ntu略无未不待暂空")
_DIGIT = re.compile(r"\d")
#: Characters of grammar.
GRAMMAR = frozenset(
    "的了是在和与及或也都就而其该这那个之把被将让使则且但并又很更最还再只着过们它他她我你您呢吗吧啊有要会能到从对为以于等不没上下中里"
)


class Sign(NamedTuple):
    """A kind of saying nothing, and its pattern."""

    kind: str
    pattern: re.Pattern[str]


@cache
def _english() -> tuple[tuple[Sign, frozenset[str]], ...]:
    """The kinds of `empty.toml`, each with words of which a text has one if it matches."""
    found = []
    for kind, sign in table("empty.toml")["english"].items():
        needs = sign["needs"]
        words = frozenset((*needs.split(), *needs.replace("'", "’").split()))
        # No branch begins with a sign: so the end of a word is no place to try them all.
        pattern = re.compile(rf"\b(?=[a-z])(?:{'|'.join(sign['branches'])})")
        found.append((Sign(kind, pattern), words))
    return tuple(found)


@cache
def _chinese() -> tuple[tuple[Sign, re.Pattern[str]], ...]:
    """The same in Chinese, each with signs of which a text has one."""
    return tuple(
        (Sign(kind, re.compile("|".join(sign["branches"]))), re.compile(f"[{sign['needs']}]"))
        for kind, sign in table("empty.toml")["chinese"].items()
    )


#: A note in brackets or italics and nothing else: `(see the textbook)`, `_TBD: awaiting input_`.
_NOTE = re.compile(r"\W*(?:[*_]{0,2}[(（\[][^()（）\[\]]{0,60}[)）\]][*_]{0,2}|_[^_]{0,60}_)\W*\Z")


def kind_of(lower: str, words: Sequence[str] | None = None) -> str:
    """`promise`, `refusal`, `naming`, `asking`, `deflecting` or `nothing`; empty for content.

    `words` are those of the text, if at hand.
    """
    if lower.rstrip(' \t*_"”’)）').endswith(("?", "？")):
        return "asking"
    if len(lower) < 80 and (not lower[:1].isalnum() or lower[0] in _OPENS) and _is_note(lower):
        return "nothing"
    if not lower.isascii() and HAN.search(lower):
        signs = [sign for sign, needs in _chinese() if needs.search(lower)]
    else:
        words = words_of(lower) if words is None else words
        signs = [sign for sign, needs in _english() if not needs.isdisjoint(words)]
    for kind, pattern in signs:
        if (found := pattern.search(lower)) and not _is_turned(kind, lower, found.end()):
            return kind
    return ""


def _is_note(lower: str) -> bool:
    if len(lower) < 40 and _ONLY_SIGNS.match(lower):
        return True
    return _NOTE.match(lower) is not None and len(_DIGIT.findall(lower)) < 3


def _is_turned(kind: str, lower: str, end: int) -> bool:
    """`The list price is not public, but dealers ask about $900` says something after all."""
    if kind == "deflecting":
        return "@" in lower or "http" in lower or any(map(str.isdigit, lower))
    but = _BUT.search(lower, end) if kind == "refusal" else None
    return but is not None and len(lower) - but.end() >= 12
