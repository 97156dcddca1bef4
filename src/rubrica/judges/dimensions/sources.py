"""How good are the sources that an answer rests on?"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal, NamedTuple

import msgspec

from rubrica.core import Case, Signal, Trace
from rubrica.core.trace import as_text
from rubrica.judges.citing.sources import Source, sources_of
from rubrica.judges.dimensions.finding import MOST, READ, Sure, finding, inapplicable, quote
from rubrica.judges.reliability.cited import Cited, Reading, key_of, read
from rubrica.judges.reliability.entries import publisher_in, rate_entry
from rubrica.judges.reliability.listing import Lists
from rubrica.judges.reliability.question import About, about
from rubrica.judges.reliability.rating import Rated, classify, host_of
from rubrica.judges.reliability.rejection import is_rejected

NAME = "source_quality"
WORTH = {"primary": 1.0, "secondary": 0.3, "unreliable": 0.0}
#: What an answer with any credible source is worth at least.
_FLOOR = 0.25
#: Credible pages of one host that count: a long list of them must not drown the rest.
_PER_HOST = 5
#: Sources that the reason names.
_TOLD = 8


class Weighed(NamedTuple):
    """A source with its rating."""

    cited: Cited
    rated: Rated


class SourceQuality(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the distinct sources cited: primary 1, secondary 0.3, unreliable 0.

    Any credible source makes it at least 0.25. Nothing cited is 0 where the question asks for
    sources or the case gives some, and else not applicable. A link in code and one that the answer
    sets aside are no sources; of one host's credible pages the first five count.

    `primary`, `secondary` and `unreliable` name hosts (`example.org`, `example.org/path`,
    `*.example.org` for its subdomains alone) and win over the shipped list; the `kind` of a source
    of the case wins over both.

    Nothing is opened. Where the case gives sources, an address that is not among them counts as
    unreliable, or as secondary on the host of one of them; where only the agent's tools brought
    some, it counts as secondary at most. Where nothing is given, hosts are taken at their word, and
    the reason says so.
    """

    primary: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    unreliable: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_hosts(self.lists)

    @property
    def lists(self) -> Lists:
        return Lists(self.primary, self.secondary, self.unreliable)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        seen = read_sources(case, trace)
        return (signal_of(seen, weighed(seen, partial(rate, seen=seen, lists=self.lists))),)


def check_hosts(lists: Lists) -> None:
    for field, hosts in zip(Lists._fields, lists, strict=True):
        for host in hosts:
            if not host.strip() or any(map(str.isspace, host)):
                raise ValueError(f"{field}: {host!r} is no host")
            if (others := [name for name in Lists._fields if host in getattr(lists, name)])[1:]:
                raise ValueError(f"{field}: {host!r} is listed as {' and as '.join(others)}")


class Read(NamedTuple):
    """An output read for its sources, with the question and what could be cited."""

    text: str
    reading: Reading
    question: About
    given: Sequence[Source]
    beyond: str  # what to say of a text that was too long

    @property
    def known(self) -> dict[str, Source]:
        """The sources given, by address."""
        return {key_of(source.url): source for source in reversed(self.given) if source.url}


def read_sources(case: Case, trace: Trace) -> Read:
    given = sources_of(case, trace)
    answer = trace.answer
    beyond = "" if len(answer) <= READ else f"; only the first {READ} characters were read"
    text = answer[:READ]
    return Read(text, read(text, given), about(as_text(case.input)), given, beyond)


def _nothing(reading: Reading, question: About, given: Sequence[Source], beyond: str) -> Signal:
    """Nothing cited: a failure only where something was due."""
    if reading.dangling:
        reason = f"{reading.dangling} markers lead to no source, and nothing else is cited"
        return finding(NAME, 0.0, reason + beyond, "medium")
    if any(source.origin == "case" for source in given):
        return finding(NAME, 0.0, f"none of the sources given is cited{beyond}", "high")
    if question.wants:
        return finding(NAME, 0.0, f"the question asks for sources, none is cited{beyond}", "high")
    return inapplicable(NAME, f"nothing is cited, and nobody asked for sources{beyond}")


def weighed(seen: Read, rater: Callable[[Cited, Source | None], Rated]) -> list[Weighed]:
    """Each source once, rated; those that the answer sets aside are left out."""
    known = seen.known
    shelf: _Shelf | None = None
    ratings: dict[str, Weighed] = {}
    for cited in seen.reading.cited:
        if cited.key in ratings:
            continue
        source = cited.source or known.get(cited.key)
        rated = rater(cited, source)
        if source is None and known and cited.form in ("address", "work"):
            shelf = shelf or _shelf_of(seen.given)
            rated = _outside(rated, cited, seen.question, shelf)
        if is_rejected(seen.reading.bare, cited.start, cited.end, rated.kind == "primary"):
            continue
        ratings[cited.key] = Weighed(cited, rated)
    return list(ratings.values())


def rate(cited: Cited, source: Source | None, *, seen: Read, lists: Lists) -> Rated:
    """By rules."""
    question, bare = seen.question, seen.reading.bare
    if source is not None:
        if source.origin == "case" and source.kind in WORTH:
            kind: Literal["primary", "secondary", "unreliable"] = source.kind  # type: ignore[assignment]
            return Rated(kind, "the case says so", "high", settled=True)
        if source.url:
            return classify(source.url, question, bare, lists)
        described = " ".join(filter(None, (source.title, source.author, source.year)))
        return _rate_text(described or source.text[:300])
    if cited.form == "entry":
        return _rate_text(cited.target)
    if cited.form == "name":
        group = publisher_in(cited.target)
        kind = "unreliable" if group is None or group.kind == "unreliable" else "secondary"
        return Rated(kind, "named only, with nothing to look up", "low")
    return classify(cited.target, question, bare, lists)


def _rate_text(text: str) -> Rated:
    group, enough = rate_entry(text)
    kind = group.kind if enough or group.kind != "primary" else "secondary"
    reason = group.reason if enough else f"{group.reason}; too little to look it up"
    return Rated(kind, reason, "medium" if enough else "low")  # type: ignore[arg-type]


class _Shelf(NamedTuple):
    """The hosts of the sources given, and whether the case gives them."""

    hosts: frozenset[str]
    closed: bool


def _shelf_of(given: Sequence[Source]) -> _Shelf:
    hosts = frozenset(filter(None, (host_of(source.url) for source in given if source.url)))
    return _Shelf(hosts, any(source.origin == "case" and source.url for source in given))


def _outside(rated: Rated, cited: Cited, question: About, shelf: _Shelf) -> Rated:
    """A source that neither the case nor a tool gave: it may be invented, so it earns little."""
    if rated.kind == "unreliable" or cited.target.casefold() in question.text:
        return rated
    if shelf.closed and cited.form == "address" and host_of(cited.target) not in shelf.hosts:
        return Rated("unreliable", f"not among the sources given; {rated.reason}", "medium")
    if rated.kind == "primary":
        return Rated("secondary", f"not among the sources given or found; {rated.reason}", "medium")
    return rated


def signal_of(seen: Read, ratings: Sequence[Weighed]) -> Signal:
    """What these ratings amount to."""
    if not ratings:
        return _nothing(seen.reading, seen.question, seen.given, seen.beyond)
    counted = _counted(ratings)
    kinds = [each.rated.kind for each in counted]
    value = sum([WORTH[kind] for kind in kinds]) / len(kinds)
    if kinds.count("unreliable") < len(kinds):
        value = max(value, _FLOOR)
    ranked = sorted(counted, key=lambda each: WORTH[each.rated.kind])
    left = len(ratings) - len(counted)
    reason = _described(ranked, kinds)
    if left:
        reason += f"; {left} more pages of the same hosts do not count"
    if not seen.given:
        reason += "; hosts are taken at their word, not opened"
    evidence = [quote(seen.text, each.cited.start, each.cited.end) for each in ranked[:MOST]]
    return finding(NAME, value, reason + seen.beyond, _sure(counted), evidence)


def _counted(weighed: Sequence[Weighed]) -> list[Weighed]:
    """All unreliable sources, and the first credible pages of each host."""
    seen: dict[str, int] = {}
    counted: list[Weighed] = []
    for each in weighed:
        host = host_of(each.cited.target) if each.cited.form == "address" else ""
        if host and each.rated.kind != "unreliable":
            seen[host] = seen.get(host, 0) + 1
            if seen[host] > _PER_HOST:
                continue
        counted.append(each)
    return counted


def _described(ranked: Sequence[Weighed], kinds: Sequence[str]) -> str:
    amounts = ", ".join([f"{kinds.count(kind)} {kind}" for kind in WORTH if kind in kinds])
    lines = "; ".join(
        [f"{rated.kind}: {_short(cited)} ({rated.reason})" for cited, rated in ranked[:_TOLD]]
    )
    more = f"; and {len(ranked) - _TOLD} more" if len(ranked) > _TOLD else ""
    return f"{amounts} of {len(ranked)} sources: {lines}{more}"


def _short(cited: Cited) -> str:
    """A piece of hostile text, fit for a line on a terminal."""
    name = cited.target or (cited.source.id if cited.source else "") or cited.key
    cut = name if len(name) <= 70 else f"{name[:67]}..."
    return cut if cut.isprintable() else repr(cut)


def _sure(counted: Sequence[Weighed]) -> Sure:
    """The surest word that fits most: half of them unsure make the whole unsure."""
    words = [each.rated.sure for each in counted]
    if words.count("low") * 2 >= len(words):
        return "low"
    return "high" if words.count("high") == len(words) else "medium"
