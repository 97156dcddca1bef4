"""Do the citations lead to a source that says what they are cited for?"""

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

import msgspec

from rubrica.core import Case, Signal, Trace
from rubrica.core.trace import as_text
from rubrica.judges.citing.asked import asks_for_citations
from rubrica.judges.citing.library import Library, library
from rubrica.judges.citing.mark import Mark
from rubrica.judges.citing.marks import marks_of
from rubrica.judges.citing.sources import Source, sources_of
from rubrica.judges.citing.statements import Reading, read
from rubrica.judges.citing.uncited import Uncited, uncited
from rubrica.judges.dimensions.finding import MOST, READ, Sure, finding, inapplicable, quote
from rubrica.judges.text.sentences import Sentence

NAME = "citation_accuracy"
_NAMED = 3
_KINDS = (
    ("dangling", "leads to no source"),
    ("unsupported", "is not supported by its source"),
    ("misquoted", "quotes what its source does not say"),
    ("partial", "is supported in part"),
    ("flawed", "is right but flawed in form"),
)


class CitationAccuracy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the citations: 1 for a right one, `flawed` and `partial` for those that need
    goodwill, 0 for one that leads nowhere or to a source that does not say so.

    A statement taken from a source without a citation counts as `missing` of a citation with 0.
    """

    flawed: float = 0.8
    partial: float = 0.5
    missing: float = 0.5

    def __post_init__(self) -> None:
        check_worth(self)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        cited = cited_in(case, trace)
        return (signal_of(cited, cited.marks, self),)


class Worth(Protocol):
    """What citations are worth that are not right, and what a missing one costs."""

    @property
    def flawed(self) -> float: ...
    @property
    def partial(self) -> float: ...
    @property
    def missing(self) -> float: ...


def check_worth(worth: Worth) -> None:
    for field in ("flawed", "partial", "missing"):
        value = getattr(worth, field)
        if not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ValueError(f"{field}: expected a number from 0 to 1, got {value!r}")


class Cited(NamedTuple):
    """An output read for its citations, with the marks that the rules give them."""

    answer: str
    text: str
    reading: Reading
    known: Library
    marks: Sequence[Mark]
    question: str

    @property
    def sources(self) -> Sequence[Source]:
        return self.known.sources


def cited_in(case: Case, trace: Trace) -> Cited:
    """What the output cites."""
    known = library(sources_of(case, trace))
    answer = trace.answer
    text = answer[:READ]
    reading = read(text)
    question = as_text(case.input)
    marks = marks_of(reading, known, question[:READ])
    return Cited(answer, text, reading, known, marks, question)


def signal_of(
    cited: Cited, marks: Sequence[Mark], worth: Worth, sure: Sure | None = None
) -> Signal:
    """What these marks amount to."""
    text, reading, known = cited.text, cited.reading, cited.known
    if marks:
        signal = _measured(text, reading, marks, known, worth, sure)
    else:
        signal = _nothing_cited(text, reading, known, asks_for_citations(cited.question))
    if len(cited.answer) > READ and signal.value is not None:
        note = f"only the first {READ:,} characters were read; {signal.reason}"
        signal = msgspec.structs.replace(signal, reason=note)
    return signal


def _measured(
    text: str,
    reading: Reading,
    marks: Sequence[Mark],
    known: Library,
    worth: Worth,
    sure: Sure | None,
) -> Signal:
    lost = uncited(reading, marks, known)
    earns = {"right": 1.0, "flawed": worth.flawed, "partial": worth.partial}
    earned = sum([earns.get(mark.verdict, 0.0) for mark in marks])
    value = earned / (len(marks) + worth.missing * len(lost))
    places = [(mark.start, mark.end) for mark in marks if mark.verdict != "right"]
    places += [(one.start, one.end) for one, _ in lost]
    places = places or [(mark.start, mark.end) for mark in marks]
    evidence = [quote(text, start, end) for start, end in places[:MOST]]
    sure = sure or _sure(marks, known.sources)
    return finding(NAME, value, _reason(marks, lost, known.sources), sure, evidence)


def _nothing_cited(text: str, reading: Reading, known: Library, asked: bool) -> Signal:
    """Nothing cited is a failure where sources were given, asked for, or plainly used."""
    given = [source for source in known.sources if source.origin == "case"]
    lost = uncited(reading, (), known) if known.sources else []
    shown = [quote(text, one.start, one.end) for one, _ in lost[:MOST]]
    if given or asked:
        due = f"{len(given)} sources were given" if given else "the question asks for citations"
        taken = f"; {_statements(len(lost))} taken from them" if lost and given else ""
        return finding(NAME, 0.0, f"nothing is cited, although {due}{taken}", "high", shown)
    if lost:
        reason = f"nothing is cited, although {_statements(len(lost))} taken from what tools found"
        return finding(NAME, 0.0, reason, "medium", shown)
    return inapplicable(NAME, "nothing is cited, no sources are given and none were asked for")


def _statements(count: int) -> str:
    return "1 statement is" if count == 1 else f"{count} statements are"


def _reason(marks: Sequence[Mark], lost: Sequence[Uncited], sources: Sequence[Source]) -> str:
    verdicts = [mark.verdict for mark in marks]
    right = verdicts.count("right")
    parts = [f"{right} of {len(marks)} citations {'is' if right == 1 else 'are'} right"]
    for kind, meaning in _KINDS:
        if kind in verdicts:
            of_kind = [mark for mark in marks if mark.verdict == kind]
            named = "; ".join([f"{mark.label}: {mark.why}" for mark in of_kind[:_NAMED]])
            more = f" and {len(of_kind) - _NAMED} more" if len(of_kind) > _NAMED else ""
            parts.append(f"{len(of_kind)} {kind} ({meaning}): {named}{more}")
    if lost:
        named = "; ".join([_owed(one, source, sources) for one, source in lost[:_NAMED]])
        more = f" and {len(lost) - _NAMED} more" if len(lost) > _NAMED else ""
        parts.append(f"{len(lost)} missing (taken from a source, not cited): {named}{more}")
    return ". ".join(parts)


def _owed(statement: Sentence, source: Source, sources: Sequence[Source]) -> str:
    short = statement.text if len(statement.text) <= 60 else f"{statement.text[:57]}..."
    name = source.id or source.url or str(sources.index(source) + 1)
    return f"'{short}' is in source {name}"


def _sure(marks: Sequence[Mark], sources: Sequence[Source]) -> Sure:
    """Low where nothing could be checked or most rests on few common words."""
    if not any(source.text for source in sources):
        return "low"
    weak = sum([mark.weak for mark in marks])
    if weak * 2 > len(marks):
        return "low"
    return "medium" if weak else "high"
