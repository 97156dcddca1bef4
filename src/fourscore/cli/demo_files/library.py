"""The pages that the demo's assistant can find, and a search over them: words, weighed by rarity.

English is cut at spaces. Chinese pages are indexed by every pair of neighbouring characters, but a
query is cut blindly, two by two from its start: it is luck whether the cuts fall between words.
"""

import json
import re
from collections import Counter
from functools import cache
from math import log
from pathlib import Path
from typing import NamedTuple

#: Share of what a query asks for that a page has to hold.
LEAST = 0.4
HITS = 3
_STOP = frozenset(
    """a an and answer are as at be between by can cite did do does each for from give had has have
    how i if in into is it its just many me most much of on or please reliable so source sources
    tell than that the their them there they this to was were what when where which who why will
    with 年的 多少 是多 请问 什么 哪些 请注 注明 来源""".split()
)
_TOKEN = re.compile(r"[a-z]+|\d[\d,.]*\d|\d|[\u4e00-\u9fff]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|(?<=[。！？])")
_OFFICIAL = re.compile(r"//[^/]*\.(?:gov|edu|int|mil|ac)(?:\.[a-z]{2})?/")


class Page(NamedTuple):
    url: str
    title: str
    text: str

    @property
    def official(self) -> bool:
        return _OFFICIAL.search(self.url) is not None


class Hit(NamedTuple):
    page: Page
    score: float


class Library:
    """Pages with their words counted once."""

    def __init__(self, pages: list[Page]) -> None:
        self.pages = pages
        self._words = [words(f"{page.title} {page.text}") for page in pages]
        self._seen = Counter(word for held in self._words for word in held)

    def weight(self, word: str) -> float:
        """Rare words say more; one that no page holds says most."""
        return log(1 + len(self.pages) / (1 + self._seen[word]))

    def search(self, query: str) -> list[Hit]:
        """The best pages, those of public bodies a little before others."""
        asked = words(query, blindly=True)
        whole = sum(map(self.weight, asked)) or 1.0
        hits = []
        for page, held in zip(self.pages, self._words, strict=True):
            score = sum(map(self.weight, asked & held)) / whole
            if score >= LEAST:
                hits.append(Hit(page, score + 0.1 * page.official))
        return sorted(hits, key=lambda hit: -hit.score)[:HITS]

    def passages(self, page: Page, query: str, most: int) -> list[str]:
        """The sentences of a page that say most about a query, in the order of the page."""
        asked = words(query, blindly=True)
        texts = sentences(page.text)
        scores = [sum(map(self.weight, asked & words(sentence))) for sentence in texts]
        best = max(scores, default=0.0)
        order = sorted(range(len(texts)), key=lambda place: (-scores[place], place))[:most]
        return [texts[place] for place in sorted(order) if scores[place] >= 0.6 * best > 0]


def words(text: str, *, blindly: bool = False) -> frozenset[str]:
    found: set[str] = set()
    for token in _TOKEN.findall(text.lower()):
        if token[0] >= "\u4e00":
            found.update(token[at : at + 2] for at in range(0, len(token), 2 if blindly else 1))
        else:
            found.add(token if len(token) < 4 else token.removesuffix("s"))
    return frozenset(word for word in found - _STOP if len(word) > 1 or word.isdigit())


def sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _SENTENCE.split(text) if sentence.strip()]


@cache
def bundled() -> Library:
    """The pages beside this file."""
    text = Path(__file__).with_name("corpus.jsonl").read_text(encoding="utf-8")
    return Library([Page(**json.loads(line)) for line in text.splitlines()])
