"""Whether a question asks for sources."""

import re
from collections.abc import Sequence
from functools import lru_cache

_ASKS = re.compile(
    r"\bcit(?:e|es|ed|ing|ations?)\b|\bwith (?:sources?|references?|links?|footnotes?)\b"
    r"|\b(?:give|list|name|state|add|include|provide|show|attach|mention|quote|need|want)\b"
    r"[^.?!\n]{0,40}\b(?:sources?|references?|links?|footnotes?|urls?)\b"
    r"|\bsources? (?:please|needed|required)|\b(?:please|your) (?:reference|source)s?\b"
    r"|\b(?:a|the) (?:link|source|reference) (?:for|to) (?:each|every|all)\b"
    r"|\breferenced\b|\bfootnoted?\b"
    r"|\bin their (?:own )?words\b|\buse their words\b|\bverbatim\b|\bbibliography\b"
    r"|出处|引用|注明来源|标注|标明来源|参考(?:文献|资料|来源|链接)"
    r"|附(?:上)?.{0,8}(?:链接|网址|来源|文献|出处)|(?:给出|列出|提供|写明|注明|标出|带上?|说明|列明|附)[^。？！\n]{0,12}(?:来源|文献|链接|参考|网址|脚注|依据)"
    r"|脚注|资料来源|信息来源|数据来源",
    re.IGNORECASE,
)


#: What the pattern above cannot do without: those are found fast, and most questions have none.
_HINTS = (
    "cite", "citing", "citation", "source", "reference", "link", "footnote", "url", "words",
    "verbatim", "bibliography",
)  # fmt: skip
_HAN_HINTS = (
    "出处", "引用", "来源", "标注", "参考", "链接", "网址", "文献", "脚注", "依据",
)  # fmt: skip


@lru_cache(maxsize=256)
def asks_for_citations(question: str) -> bool:
    """Whether it asks for citations, links or references, in English or Chinese."""
    text = question[:20_000]
    return speaks_of_sources(text, _HINTS, _HAN_HINTS) and _ASKS.search(text) is not None


def speaks_of_sources(text: str, hints: Sequence[str], han: Sequence[str]) -> bool:
    """Whether a text has one of these words."""
    if any(map(text.casefold().__contains__, hints)):
        return True
    return not text.isascii() and any(map(text.__contains__, han))
