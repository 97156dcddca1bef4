"""Source quality: how good are the sources that an answer cites?"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from fourscore.core import Case, Signal, Trace
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.citation_accuracy import judge_nothing_cited
from fourscore.judges.dimensions.citations import CitedOutput, Link, read_citations
from fourscore.judges.dimensions.hosts import HostLists, Rating, rate_address, read_lists
from fourscore.judges.dimensions.signals import (
    MAX_EVIDENCE,
    Confidence,
    make_signal,
    not_applicable,
    quote,
)
from fourscore.judges.dimensions.sources import canonical_url
from fourscore.judges.reader.text import MAX_READ

NAME = "source_quality"
WORTH = {"primary": 1.0, "secondary": 0.3, "unreliable": 0.0}
#: Most sources that the reason names.
_MAX_NAMED = 8
Rated = Sequence[tuple[Link, Rating]]


class SourceQuality(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the distinct sources cited: primary 1, secondary 0.3, unreliable 0.

    The kind of a source is what the case says (`kind`), else what the lists of this judge say of
    its host, else what the shipped list or the host's ending says. A source of unknown kind is left
    out of the mean. An output without citations gets 0 if the question asks for sources or the case
    gives some; otherwise the dimension is not applicable.

    No URL is fetched. If the case gives URLs, one that neither the case nor a tool gave is
    unreliable; if only tools returned some, any other is at most secondary.

    primary, secondary, unreliable: hosts of your own (`example.org`, `example.org/path`,
        `*.example.org` for its subdomains only)
    """

    primary: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    unreliable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        read_lists(self.lists)

    @property
    def lists(self) -> HostLists:
        return self.primary, self.secondary, self.unreliable

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        output, question = read_citations(case, trace), as_text(case.input)
        cited, lists = find_cited(output), self.lists
        rated = [(one, rate_source(one, output, question, lists)) for one in cited]
        return (write_signal(output, question, rated),)


def find_cited(output: CitedOutput) -> list[Link]:
    """Return the distinct sources that an output cites, without markers that match no source."""
    found: dict[object, Link] = {}
    for link in output.links:
        if link.source or link.url:
            found.setdefault(canonical_url(link.url) if link.url else id(link.source), link)
    return list(found.values())


def rate_source(cited: Link, output: CitedOutput, question: str, lists: HostLists) -> Rating:
    """Return the kind of a source by what the case says of it, or by its host."""
    source = cited.source
    if source is not None and source.kind in WORTH:
        return Rating(source.kind, "the case says so")  # type: ignore[arg-type]
    if not cited.url:
        return Rating(None, "no address")
    return limit_unseen(rate_address(cited.url, lists), cited, output, question)


def limit_unseen(rating: Rating, cited: Link, output: CitedOutput, question: str) -> Rating:
    """Lower the rating of a source that neither the case nor a tool gave: it may be invented."""
    if cited.source is not None or not output.sources or cited.url in question:
        return rating
    if any(one.origin == "case" and one.url for one in output.sources):
        return Rating("unreliable", f"not among the sources given; {rating.reason}")
    if rating.kind == "primary":
        return Rating("secondary", f"not among the sources found; {rating.reason}")
    return rating


def write_signal(
    output: CitedOutput, question: str, rated: Rated, confidence: Confidence | None = None
) -> Signal:
    """Return the mean over the sources of known kind, with a reason that names the worst first."""
    if not rated:
        return judge_nothing_cited(NAME, output, question)
    counted = [WORTH[rating.kind] for _, rating in rated if rating.kind]
    kinds: Counter[str] = Counter([rating.kind or "unknown" for _, rating in rated])
    worst = sorted(rated, key=lambda each: WORTH.get(each[1].kind or "", 2.0))
    named = [
        f"{rating.kind or 'unknown'}: {_name(one)} ({rating.reason})"
        for one, rating in worst[:_MAX_NAMED]
    ]
    amounts = [f"{kinds[kind]} {kind}" for kind in (*WORTH, "unknown") if kind in kinds]
    reason = f"{', '.join(amounts)}: {'; '.join(named)}"
    if not counted:
        return not_applicable(NAME, f"no source that is cited is known; {reason}")
    reason += "" if output.sources else "; hosts are taken at their word, not opened"
    reason += f"; only the first {MAX_READ:,} characters were read" if output.is_cut else ""
    citations = [one.citation for one, rating in worst[:MAX_EVIDENCE] if rating.kind]
    evidence = [quote(output.raw, one.start, one.end) for one in citations]
    unknown = kinds["unknown"]
    known: Confidence = "low" if unknown >= len(counted) else "medium" if unknown else "high"
    return make_signal(NAME, sum(counted) / len(counted), reason, confidence or known, evidence)


def _name(cited: Link) -> str:
    """Return the URL, title or id of a source, safe to print on a terminal."""
    name = (cited.url or (cited.source.title or cited.source.id if cited.source else ""))[:70]
    return name if name.isprintable() else repr(name)
