"""Names that a statement has and its source has not: somebody else's work, another town."""

import re
from collections.abc import Sequence
from functools import lru_cache
from unicodedata import combining, normalize

from rubrica.judges.citing.sources import Source

#: A capital inside a sentence; what opens one says nothing, nor do headings in capitals.
_NAME = re.compile(r"[A-Z](?<=[\w,;:\"“(] [A-Z])[\w-]*[a-z0-9]\b")
_NO_NAMES = re.compile(
    r"(?:Celsius|Fahrenheit|Kelvin|January|February|March|April|May|June|July|August|September"
    r"|October|November|December|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|English"
    r"|Internet|The|This|That|These|It|In|On|At|By|For|But|And|If|When|While|Yes|No|Not|As|An?|We"
    r"|They|He|She|You|Its|Their|His|Her|Our|There|To|From|With|After|Before|Since|How|What|Why"
    r"|French|Dutch|German|Greek|Swiss|Thai|Czech|Welsh|[A-Z]\w+(?:ish|ese|ian|ean)"
    r"|Article|Section|Chapter|Figure|Table|Part|Act|Note|Source|Sources)\Z"
)
#: As many letters at the start are enough for a name in another form: China, Chinese.
_SAME = 4


def folded(text: str) -> str:
    """Lower case without accents."""
    if text.isascii():
        return text.lower()
    return "".join(sign for sign in normalize("NFKD", text) if not combining(sign)).lower()


@lru_cache(maxsize=512)
def names_in(text: str) -> tuple[re.Match[str], ...]:
    """The names inside the sentences of a text."""
    return tuple([name for name in _NAME.finditer(text) if not _NO_NAMES.match(name[0])])


def strangers(claim: str, source: Source, context: Sequence[str] = ()) -> list[str]:
    """Names of the claim of which the source and the question know nothing.

    A name beside one that is known is part of it: James in `James Webb`.
    """
    found = names_in(claim)
    if not found:
        return []
    known = _known(source)
    heard = [_knows(name[0], known) for name in found]
    if all(heard):
        return []
    said = folded(" ".join(context))
    heard = [has or _knows(name[0], said) for has, name in zip(heard, found, strict=True)]
    unknown = []
    for place, name in enumerate(found):
        near = (
            place and heard[place - 1] and name.start() - found[place - 1].end() <= 1,
            place + 1 < len(found)
            and heard[place + 1]
            and found[place + 1].start() - name.end() <= 1,
        )
        if not heard[place] and not any(near):
            unknown.append(name[0])
    return unknown


@lru_cache(maxsize=128)
def _known(source: Source) -> str:
    return folded(f"{source.text} {source.title} {source.author} {source.url} {source.id}")


def _knows(name: str, text: str) -> bool:
    name = folded(name)
    return (name[: max(_SAME, len(name) - 3)] if len(name) > _SAME else name) in text
