"""A small research assistant: it searches, reads, sometimes calculates, and answers with citations.

No model and no chance: everything follows from the question and from the pages it finds. It is here
to be measured, and it has the faults that such assistants have:

- of a question with several parts it answers the first and forgets the others;
- it calculates with bare numbers, so 812 million and 1.2 billion are 810.8 apart;
- a word such as "difference" sends it to the calculator whatever is meant by it;
- before it calculates it reads the page again;
- where it finds nothing it asks the same again, twice;
- with two pages open it cites the first for its first sentence and the second for all others;
- it prefers the pages of public bodies, but where there are none it believes a blog;
- it cuts Chinese questions two characters at a time;
- it divides without looking at what it divides by.
"""

import operator
import re
from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

from fourscore import record
from fourscore.cli.demo_files.library import Hit, Library, Page, bundled

#: Sentences that are taken from one page.
MOST = 2
ATTEMPTS = 3
#: A second page is read where it is nearly as good as the first.
NEARLY = 0.6

_PARTS = re.compile(
    r"[?？;；]|,? and (?=how|what|when|where|which|who|why|is |are |does )|"
    r"，(?=以及|并且|它|其|又|还|何时|哪|怎|为什么|有什么)"
)
_NUMBER = re.compile(
    r"(?<![A-Za-z\d.])(\d[\d,]*(?:\.\d+)?)"
    r"(?:\s?((?:million |billion )?[a-z%℃]+|[万亿千]?[\u4e00-\u9fff]))?"
)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d\Z")


class Sum(NamedTuple):
    """A kind of arithmetic, by the words that ask for it."""

    words: re.Pattern[str]
    sign: str
    apply: Callable[[float, float], float]
    wording: tuple[str, str]


_TIMES = re.compile(r"how many times|多少倍|几倍")
_LESS = re.compile(r"difference|how much (?:more|larger|longer|higher)|相差|多多少|高多少|长多少")
_PLUS = re.compile(r"in total|altogether|together|一共|合计|总共")
_SUMS = (
    Sum(_TIMES, "/", operator.truediv, ("It is {} times as much.", "是{}倍。")),
    Sum(_LESS, "-", operator.sub, ("The difference is {}.", "两者相差{}。")),
    Sum(_PLUS, "+", operator.add, ("The total is {}.", "合计{}。")),
)


def answer(question: str) -> str:
    """What the pages say about the first part of the question."""
    return Assistant(bundled()).answer(question)


class Assistant:
    """Answers from a library; the tools it uses are reported to whoever records."""

    def __init__(self, library: Library) -> None:
        self.library = library

    def answer(self, question: str) -> str:
        part = next(part for part in _PARTS.split(question) if part and part.strip())
        chinese = re.search(r"[\u4e00-\u9fff]", part) is not None
        pages = self._pages(part)
        if not pages:
            return "没有找到可靠的资料。" if chinese else "I found nothing reliable about this."
        gap = "" if chinese else " "
        sentences = [each for page in pages for each in self.library.passages(page, part, MOST)]
        answer_parts = [
            f"{sentence[:-1]} [{min(place, len(pages))}]{sentence[-1]}"
            for place, sentence in enumerate(sentences, 1)
        ]
        answer_parts += self._sum(part, pages, sentences, chinese)
        listed = [f"[{number}] {page.title}. {page.url}" for number, page in enumerate(pages, 1)]
        head = "来源：" if chinese else "Sources:"
        return gap.join(answer_parts) + f"\n\n{head}\n" + "\n".join(listed)

    def _pages(self, query: str) -> list[Page]:
        hits: list[Hit] = []
        for _ in range(ATTEMPTS):
            hits = self._search(query)
            if hits:
                break
        good = [hit.page for hit in hits if hit.score >= NEARLY * hits[0].score][:2]
        return [self._read(page) for page in good]

    def _search(self, query: str) -> list[Hit]:
        hits = self.library.search(query)
        found = [{"url": hit.page.url, "title": hit.page.title} for hit in hits]
        record.tool("search", {"query": query.strip()}, result=found)
        return hits

    def _read(self, page: Page) -> Page:
        record.tool("read", {"url": page.url}, result={"title": page.title, "text": page.text})
        return page

    def _sum(self, part: str, pages: list[Page], sentences: list[str], chinese: bool) -> list[str]:
        """The sum that is asked for, over the numbers that were read."""
        asked = next((each for each in _SUMS if each.words.search(part.lower())), None)
        found = [match for sentence in sentences for match in _NUMBER.finditer(sentence)]
        found = [match for match in found if not _YEAR.match(match[1])]
        if asked is None or len(found) < 2:
            return []
        self._read(pages[0])  # to be sure
        numbers = [float(match[1].replace(",", "")) for match in found]
        result = self._calculate(asked, numbers if asked.sign == "+" else numbers[:2])
        unit = "" if asked.sign == "/" else found[0][2] or ""
        return [asked.wording[chinese].format(f"{result} {unit}".strip())]

    def _calculate(self, asked: Sum, numbers: list[float]) -> str:
        expression = f" {asked.sign} ".join(f"{number:.10g}" for number in numbers)
        with record.tool_call("calculate", {"expression": expression}) as call:
            result = reduce(asked.apply, numbers)
            call.result = f"{result:,.4g}" if abs(result) < 1000 else f"{result:,.0f}"
        return str(call.result)
