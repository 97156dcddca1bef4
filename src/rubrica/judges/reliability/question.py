"""What the question tells about the sources it needs: who it is about, and what it weighs up.

Only the question decides here: what the answer says of its own sources is hostile.
"""

import re
from functools import cache, cached_property, lru_cache

from rubrica.judges.citing.asked import asks_for_citations, speaks_of_sources
from rubrica.judges.reliability.lexicon import mentions, words
from rubrica.judges.reliability.listing import groups

#: Characters of a question that are looked at.
_READ = 20_000
_WANTS = re.compile(
    r"\b(?:reliable|official|credible|reputable|authoritative|primary|good|trustworthy|original"
    r"|scientific|supporting|proper|your)\s(?:[\w'-]{1,20}\s)?(?:sources?|references?|links?"
    r"|documents?|evidence)\b(?!\s(?:of|code|for|files?|control))"
    r"|\b(?:sources?|references?|links?)\s?(?:,?\s?please|[?!]|\.?\s*\Z)"
    r"|\bback (?:it|this|that) up\b"
    r"|\bwhere (?:did|do) you (?:get|find|know)\b"
    r"|\blink (?:me )?(?:to )?(?:your|the|some) sources?\b"
    r"|\bwith (?:the|its|their) (?:defining|original|official) (?:documents?|papers?|texts?)\b"
    r"|\b(?:reference|backed by|based on) (?:good|your|the|any|official|published|peer-reviewed)\b"
    r"|请(?!问)[^。？！\n]{0,16}?(?:来源|依据|资料|原帖|原文|论文|文献|链接|网址|研究|网站|机构)"
    r"|(?:多给|给|附|列)[^。？！\n]{0,10}(?:来源|依据|文献|链接|网址|资料)|有[^。？！\n]{0,4}(?:依据|出处)吗"
    r"|(?:官方|权威|可靠)(?:来源|资料|出处|文献)",
    re.IGNORECASE,
)
#: What the pattern above cannot do without: those are found fast, and most questions have none.
_HINTS = (
    "source", "reference", "link", "document", "evidence", "back", "where d", "paper", "text",
    "based on",
)  # fmt: skip
_HAN_HINTS = (
    "来源", "依据", "资料", "原帖", "原文", "论文", "文献", "链接", "网址", "研究", "网站",
    "机构", "出处",
)  # fmt: skip
_COMPARES = re.compile(
    r"比[^。？]{1,30}(?:快|好|强|省|安全)|\bdo(?:es)? [\w' -]{1,40} work\b", re.IGNORECASE
)
_SHUNS = re.compile(
    r"\b(?:not|don't|no|never|avoid|without|except|rather than|instead of)\s"
    r"(?:[\w']{1,15}\s){0,4}\Z"
    r"|(?:不要|别|不能|不得|勿|除了|避免|不用|禁止)[^。？！，]{0,8}\Z",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+#&'-]*")
_ODD = re.compile(r"[A-Z0-9]")
_OPENING = re.compile(r"(?:\A|[.?!]\s+)([A-Za-z][\w'-]*)")
_CHINESE = re.compile(r"[㐀-鿿]")
_LATIN = re.compile(r"[a-z0-9]+")


class About:
    """A question, read for what it says about its sources; each thing when it is asked for."""

    def __init__(self, question: str = "") -> None:
        self._written = question[:_READ]

    @cached_property
    def text(self) -> str:
        """Without capitals."""
        return self._written.casefold()

    @cached_property
    def _said(self) -> list[str]:
        return [word.strip(".'-") for word in _WORD.findall(self._written)]

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(map(str.casefold, self._said))

    @cached_property
    def names(self) -> frozenset[str]:
        """The proper names in it."""
        return _names(self._written, self._said)

    @cached_property
    def wants(self) -> bool:
        """Whether it asks for sources."""
        text = self._written
        return asks_for_citations(text) or (
            speaks_of_sources(text, _HINTS, _HAN_HINTS) and _WANTS.search(text) is not None
        )

    @cached_property
    def weighs(self) -> bool:
        """Whether it asks how good something is."""
        compared = mentions("weighs", self.text) or _COMPARES.search(self._written) is not None
        return compared and not self.deeds

    @cached_property
    def deeds(self) -> bool:
        """Whether it asks what somebody did."""
        return mentions("deeds", self.text)

    @cached_property
    def posts(self) -> frozenset[str]:
        """The hosts whose own pages it asks for."""
        return _asked_for(self.text)


#: What there is to know about a question, kept for the next answer to it.
about = lru_cache(maxsize=512)(About)


def _names(text: str, said: list[str]) -> frozenset[str]:
    """Words with a capital or digit, and neighbours joined: Home Assistant as homeassistant.

    In a Chinese question every Latin word is a name. A capital at the start of a sentence is none.
    """
    chinese = _CHINESE.search(text) is not None
    opened = frozenset(_OPENING.findall(text))
    generic = words("generic")
    found: set[str] = set()
    last = ""
    for word in said:
        plain = word.removesuffix("'s").casefold()
        if not plain.isalnum():
            plain = "".join(filter(str.isalnum, plain))
        odd = chinese or _ODD.search(word, 1) is not None
        named = odd or (word[:1].isupper() and word not in opened)
        if named and plain not in generic and len(plain) > 1:
            found.update((plain, last + plain))
            last = plain
        else:
            last = ""
    return frozenset(found)


def _asked_for(folded: str) -> frozenset[str]:
    """Hosts whose own pages are what is asked for: what did she post on Weibo?"""
    found: set[str] = set()
    for said, file in (("posts", "platforms.txt"), ("reports", "names.txt")):
        if mentions(said, folded):
            called = _called(file)
            for begins in called.keys() & {*folded, *_LATIN.findall(folded)}:
                found.update([host for host, name in called[begins] if _says(folded, name)])
    return frozenset(found)


def _says(folded: str, name: str) -> bool:
    """Whether a name is said, and not to keep away from it."""
    at = folded.find(name)
    if at < 0 or _SHUNS.search(folded[max(0, at - 60) : at]):
        return False
    around = folded[max(0, at - 1) : at] + folded[at + len(name) : at + len(name) + 1]
    return not name.isascii() or not any(sign.isascii() and sign.isalnum() for sign in around)


@cache
def _called(file: str) -> dict[str, list[tuple[str, str]]]:
    """Hosts with a name, by what a text has that says it: its first word, or Chinese character.

    Bodies that are primary anyway are left out.
    """
    found: dict[str, list[tuple[str, str]]] = {}
    for group, entries in list(groups(file)):
        for entry in entries if group.kind != "primary" else ():
            host, _, names = entry.partition("=")
            for name in map(_plain, names.split("|")):
                first = _LATIN.findall(name)[0] if name.isascii() else _CHINESE.findall(name)[0]
                found.setdefault(first, []).append((host, name))
    return found


def _plain(name: str) -> str:
    return name.replace("_", " ").casefold()
