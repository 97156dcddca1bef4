"""How good are the sources that an answer rests on?"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import msgspec

from rubrica.core import Case, Signal, Trace
from rubrica.core.trace import as_text
from rubrica.judges.dimensions.citation_accuracy import why_due
from rubrica.judges.dimensions.citations import Citation, CitedOutput, address_in, read_citations
from rubrica.judges.dimensions.finding import MOST, READ, Sure, finding, inapplicable, quote
from rubrica.judges.dimensions.hosts import (
    NO_LISTS,
    HostLists,
    Kind,
    Rating,
    check_lists,
    rate_address,
    registered_host,
)
from rubrica.judges.dimensions.sources import Source, canonical_url

NAME = "source_quality"
WORTH = {"primary": 1.0, "secondary": 0.3, "unreliable": 0.0}
#: Credible pages of one host that count: a long list of them must not drown the rest.
_PER_HOST = 5
_NAMED = 8


class SourceQuality(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the distinct sources cited: primary 1, secondary 0.3, unreliable 0.

    A source is what the case says (`kind`), else what the lists of this judge say of its host, else
    what its registry or the shipped list says. A host that nobody knows leaves the mean; where all
    are unknown, the dimension does not apply. Nothing cited is 0 where the question asks for
    sources or the case gives some, and else not applicable. Of one host's credible pages five
    count.

    Nothing is opened. Where the case gives addresses, one that neither it nor a tool gave is
    unreliable; where only tools brought some, any other is secondary at the most.

    `primary`, `secondary`, `unreliable`: hosts of your own (`example.org`, `example.org/path`,
    `*.example.org` for its subdomains alone).
    """

    primary: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    unreliable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_lists(self.lists)

    @property
    def lists(self) -> HostLists:
        return HostLists(self.primary, self.secondary, self.unreliable)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        output, question = read_citations(case, trace), as_text(case.input)
        cited = find_cited(output)
        ratings = [rate_source(one, output.sources, question, self.lists) for one in cited]
        return (write_signal(output, question, cited, ratings),)


class Cited(NamedTuple):
    """A source that an output cites: one that was given or found, or an address of its own."""

    citation: Citation
    source: Source | None
    url: str

    @property
    def name(self) -> str:
        """Its address or whatever it is called, fit for a line on a terminal."""
        name = self.url or (self.source.title or self.source.id if self.source else "")
        cut = name if len(name) <= 70 else f"{name[:67]}..."
        return cut if cut.isprintable() else repr(cut)


def find_cited(output: CitedOutput) -> list[Cited]:
    """The distinct sources that an output cites; markers that lead nowhere are none."""
    found: dict[object, Cited] = {}
    for citation, source in output.links:
        own = citation.target if citation.form == "url" else address_in(citation.entry)
        url = source.url if source else own
        if source or url:
            key = canonical_url(url) if url else id(source)
            found.setdefault(key, Cited(citation, source, url))
    return list(found.values())


def rate_source(
    cited: Cited, given: Sequence[Source], question: str, lists: HostLists = NO_LISTS
) -> Rating:
    """The kind of a source by what the case says of it, or by its host."""
    source = cited.source
    if source is not None and source.kind in WORTH:
        return Rating(source.kind, "the case says so")  # type: ignore[arg-type]
    if not cited.url:
        return Rating(None, "no address")
    return limit_unseen(rate_address(cited.url, lists), cited, given, question)


def limit_unseen(rating: Rating, cited: Cited, given: Sequence[Source], question: str) -> Rating:
    """A lower rating for what neither the case nor a tool gave: it may be invented."""
    if cited.source is not None or not given or cited.url in question:
        return rating
    if any(one.origin == "case" and one.url for one in given):
        return Rating("unreliable", f"not among the sources given; {rating.reason}")
    if rating.kind == "primary":
        return Rating("secondary", f"not among the sources found; {rating.reason}")
    return rating


def write_signal(
    output: CitedOutput,
    question: str,
    cited: Sequence[Cited],
    ratings: Sequence[Rating],
    sure: Sure | None = None,
) -> Signal:
    """The mean over the sources whose kind is known, with a reason that names them."""
    if not cited:
        if why := why_due(output, question):
            return finding(NAME, 0.0, f"no source is cited, although {why}", "high")
        return inapplicable(NAME, "nothing is cited, and nobody asked for sources")
    unknown = [one.name for one, rating in zip(cited, ratings, strict=True) if rating.kind is None]
    doubt = f"{len(unknown)} unknown, which count for nothing: {', '.join(unknown[:_NAMED])}"
    counted = _select(cited, ratings)
    if not counted:
        return inapplicable(NAME, f"no source that is cited is known; {doubt}")
    kinds = [kind for _, kind, _ in counted]
    amounts = ", ".join([f"{kinds.count(kind)} {kind}" for kind in WORTH if kind in kinds])
    named = [f"{kind}: {one.name} ({why})" for one, kind, why in counted[:_NAMED]]
    reason = f"{amounts} of {len(kinds)} sources: {'; '.join(named)}"
    if left := len(cited) - len(unknown) - len(counted):
        reason += f"; {left} more pages of the same hosts do not count"
    reason += f"; {doubt}" if unknown else ""
    reason += "" if output.sources else "; hosts are taken at their word, not opened"
    reason += f"; only the first {READ:,} characters were read" if output.is_cut else ""
    places = [(one.citation.start, one.citation.end) for one, _, _ in counted[:MOST]]
    evidence = [quote(output.text.raw, start, end) for start, end in places]
    value = sum([WORTH[kind] for kind in kinds]) / len(kinds)
    doubtful: Sure = "low" if len(unknown) >= len(kinds) else "medium" if unknown else "high"
    return finding(NAME, value, reason, sure or doubtful, evidence)


def _select(cited: Sequence[Cited], ratings: Sequence[Rating]) -> list[tuple[Cited, Kind, str]]:
    """The worst first: all unreliable sources, and the first credible pages of each host."""
    seen: dict[str, int] = {}
    kept: list[tuple[Cited, Kind, str]] = []
    for one, (kind, why) in zip(cited, ratings, strict=True):
        if kind in ("primary", "secondary") and one.url and len(cited) > _PER_HOST:
            host = registered_host(one.url)
            seen[host] = seen.get(host, 0) + 1
            if seen[host] > _PER_HOST:
                continue
        if kind is not None:
            kept.append((one, kind, why))
    return sorted(kept, key=lambda each: WORTH[each[1]])
