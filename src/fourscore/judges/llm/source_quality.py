"""Source quality by a model: is this source primary, secondary or unreliable for the question?

The model is asked only about sources that neither the case, the rubric nor a host list rates. As
in the rules, a source that neither the case nor a tool provided may be invented and gets a low
value.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from fourscore.core import Case, Signal, Trace, Usage
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.citations import Link, read_citations
from fourscore.judges.dimensions.hosts import HostLists, Rating, parse_address, read_lists
from fourscore.judges.dimensions.source_quality import (
    NAME,
    find_cited,
    limit_unseen,
    rate_source,
    write_signal,
)
from fourscore.judges.dimensions.sources import Source
from fourscore.judges.llm.item_questions import fence_each, gather_asks, rate_confidence, set_usage
from fourscore.judges.llm.model_judge import ModelJudge

CHOICES = ("unreliable", "secondary", "primary")
#: Maximum number of sources asked about; characters shown of a source's text, and of other lines.
ASKED, TEXT, LINE = 50, 1000, 500
_LINES = {
    "en": {"url": "Address", "title": "Title", "author": "By", "text": "Text"},
    "zh": {"url": "网址", "title": "标题", "author": "作者", "text": "正文"},
}


class SourceQuality(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the distinct sources cited: primary 1, secondary 0.3, unreliable 0.

    `primary`, `secondary`, `unreliable`: hosts whose kind is known.
    """

    primary: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    unreliable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        read_lists(self.lists)

    @property
    def lists(self) -> HostLists:
        return self.primary, self.secondary, self.unreliable

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions("source")

    def most(self, case: Case) -> Usage:
        return self.ceiling("source", case, ASKED)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        output, question = read_citations(case, trace), as_text(case.input)
        cited, lists = find_cited(output), self.lists
        ratings = [rate_source(one, output, question, lists) for one in cited]
        unknown = [at for at, one in enumerate(cited) if _needs_model(one, ratings[at])]
        asked = unknown[:ASKED]
        shown = [self._describe(cited[at]) for at in asked]
        questions = fence_each(self, {"question": question}, "source", shown)
        verdicts = await gather_asks([self.decide("source", one, CHOICES) for one in questions])
        missing = 0
        for at, described, verdict in zip(asked, shown, verdicts, strict=True):
            by = " ".join(verdict.quotation[:80].split())
            if self.find_quotation(verdict.quotation, described, "source") is None:
                missing += verdict.asked_to_quote
                by = ""
            why = f"the model, by '{by}'" if by and by.isprintable() else "the model"
            ratings[at] = limit_unseen(Rating(verdict.choice, why), cited[at], output, question)
        sure = rate_confidence(verdicts, missing) if verdicts else None
        signal = write_signal(output, question, list(zip(cited, ratings, strict=True)), sure)
        if len(unknown) > ASKED:
            note = f"the model was asked about the first {ASKED} sources; {signal.reason}"
            signal = replace(signal, reason=note)
        return (set_usage(signal, verdicts) if verdicts else signal,)

    def _describe(self, cited: Link) -> str:
        """Return the address, title, author and text of a source, one per line, for the prompt."""
        words, source = _LINES[self.language], cited.source or Source()
        lines = {
            "url": cited.url[:LINE],
            "title": (source.title or ("" if cited.url else source.id))[:LINE],
            "author": f"{source.author} {source.year}".strip()[:LINE],
            "text": source.text[:TEXT],
        }
        return "\n".join(f"{words[name]}: {text}" for name, text in lines.items() if text.strip())


def _needs_model(cited: Link, rating: Rating) -> bool:
    """Whether to ask the model for a rating: the rules have none, and the address is valid."""
    return rating.kind is None and not (cited.url and parse_address(cited.url).problem)
