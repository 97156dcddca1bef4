"""The mark each citation gets: right, flawed, partial, dangling, unsupported or misquoted."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from rubrica.judges.citing.agreement import agree, common
from rubrica.judges.citing.find import Citation
from rubrica.judges.citing.library import Agreement, Library
from rubrica.judges.citing.mark import Mark, distinct, joined
from rubrica.judges.citing.passages import passage_of, share
from rubrica.judges.citing.quotes import Quote, quotes, stands
from rubrica.judges.citing.references import Reference, key_of
from rubrica.judges.citing.resolve import Resolved, resolve, resolve_entry
from rubrica.judges.citing.sources import Source
from rubrica.judges.citing.statements import Reading, Use, is_bare
from rubrica.judges.text.words import fold_to_words

#: Sentences before a clump at the end of a paragraph that are tried, and before one at the end.
_BACK, _MOST = 12, 100
#: Characters of the question that a statement is compared with, and the share that repeats it.
_ASKED, _RETOLD = 4000, 0.95
_RANK = {"supported": 2, "partial": 1, "unsupported": 0}


class Answer(NamedTuple):
    """What all citations of an answer are judged with."""

    reading: Reading
    known: Library
    listed: Mapping[str, str]
    cited: frozenset[int]  # statements with a citation
    beside: Mapping[int, Sequence[Source]]  # sources of each group of markers
    lone: bool  # there is but one citation
    question: str


def marks_of(reading: Reading, known: Library, question: str = "") -> list[Mark]:
    """The marks in order; a citation that repeats another one earns nothing more."""
    listed: dict[str, str] = {}
    for position, entry in enumerate(reading.listed, 1):
        listed.setdefault(entry.key or f"#{position}", entry.text)
    sources = known.sources
    uses = [use for use in _unlike(reading.uses) if _cites(use.citation, listed, sources)]
    found = [(use, resolve(use.citation, listed, sources)) for use in uses]
    beside: dict[int, list[Source]] = {}
    for use, resolved in found:
        if resolved is not None:
            beside.setdefault(use.group, []).append(resolved.source)
    cited = frozenset([use.sentence for use in (*uses, *reading.plain_uses)])
    lone = len(uses or reading.listed) == 1
    answer = Answer(reading, known, listed, cited, beside, lone, question)
    if uses:
        return distinct(joined([_mark(use, resolved, answer) for use, resolved in found]))
    return distinct([_listed(entry, answer) for entry in reading.listed])


def _unlike(uses: Sequence[Use]) -> list[Use]:
    """Copies of a sentence with its marker are looked at once: 30,000 of them cost no time."""
    found = {(use.citation.form, use.citation.marker, use.claim): use for use in reversed(uses)}
    return list(found.values())[::-1]


def _cites(citation: Citation, listed: Mapping[str, str], sources: Sequence[Source]) -> bool:
    """A name in brackets cites only where something is called so, or so much alike."""
    if citation.form != "name":
        return True
    if key_of(citation.marker) in listed or resolve(citation, listed, sources) is not None:
        return True
    shape = _shape(citation.marker)
    return shape is not None and any(shape == _shape(source.id) for source in sources)


def _shape(name: str) -> str | None:
    """`smith-2020` as `a-9`; names of several words, and plain words, have none."""
    if not name or " " in name or len(name) > 40:
        return None
    shape = re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "9", name))
    return shape if shape != "a" or len(name) == 1 else None


def _mark(use: Use, resolved: Resolved | None, answer: Answer) -> Mark:
    citation, sentence, claim = use.citation, use.sentence, use.claim
    label, start, end = _label(citation), citation.start, citation.end
    if resolved is None:
        why = _nowhere(citation, answer.listed, answer.known.sources)
        weak = not answer.known.sources
        return Mark(label, "dangling", why, start, end, sentence, claim, weak=weak, settled=True)
    flaw = resolved.note if resolved.flawed else ""
    mark = Mark(
        label, "dangling", "", start, end, sentence, claim, source=resolved.source, flaw=flaw
    )
    if not resolved.source.text.strip():
        why = "its source has no text to check"
        return replace(mark, verdict="right", why=why, weak=True, settled=True)
    if use.sentence < 0 or is_bare(answer.reading.statements[use.sentence]):
        return _clumped(mark, resolved, answer)
    return _stated(mark, use, resolved, answer)


def _stated(mark: Mark, use: Use, resolved: Resolved, answer: Answer) -> Mark:
    """A citation that stands at a statement."""
    if _repeats(use.claim, answer.question):
        why = "it states nothing beyond the question"
        return replace(mark, verdict="unsupported", why=why, settled=True)
    quoted, note = _quoted(use, resolved.source, answer.beside[use.group])
    if quoted == "misquoted":
        return replace(mark, verdict=quoted, why=note, settled=True)
    mark = replace(mark, flaw=note) if note else mark
    agreement = _agreement(use, resolved.source, answer)
    if agreement.kind == "unsupported":
        if not quoted:
            return _earlier(mark, use, agreement, resolved.source, answer)
        # A quotation that stands in the source carries few other words, but no wrong number.
        agreement = replace(agreement, kind="supported" if agreement.weak else "partial")
    verdict = "partial" if agreement.kind == "partial" else "flawed" if mark.flaw else "right"
    why = agreement.why if verdict == "partial" else mark.flaw
    return replace(mark, verdict=verdict, why=why, weak=agreement.weak, about=agreement.about)


def _repeats(claim: str, question: str) -> bool:
    """The question with markers pasted into it shares all its words with the sources."""
    if claim.rstrip(" *_").endswith(("?", "？")):
        return True
    mine = passage_of(claim)
    if not mine.terms or share(mine, passage_of(question[:_ASKED])) < _RETOLD:
        return False
    # Whoever copies whole stretches of it says nothing; few words in common may well be an answer.
    return " ".join(fold_to_words(claim)) in " ".join(fold_to_words(question[:_ASKED]))


def _agreement(use: Use, source: Source, answer: Answer) -> Agreement:
    """Whether the source says it, be the words of a link part of the statement or not."""
    before = answer.reading.statements[max(0, use.sentence - 4) : use.sentence]
    context = (answer.question, *[statement.text for statement in before])
    first = agree(use.claim, source, answer.known, context)
    if use.other == use.claim or first.kind == "supported":
        return first
    other = agree(use.other, source, answer.known, context)
    return other if _RANK[other.kind] > _RANK[first.kind] else first


def _quoted(use: Use, source: Source, beside: Sequence[Source]) -> tuple[str, str]:
    """`right` where a quotation was found, `flawed`, `misquoted`, or nothing; and why."""
    verdict = why = ""
    for quote in _quotes_of(use):
        found = stands(quote, source.text)
        short = quote.text if len(quote.text) <= 60 else f"{quote.text[:57]}..."
        if found == "absent":
            if any(stands(quote, other.text) in ("exact", "near") for other in beside):
                continue  # words that a citation beside this one vouches for
            return "misquoted", f"the source does not have '{short}'"
        if found == "near":
            verdict, why = "flawed", f"the source writes '{short}' with other signs or capitals"
        elif found == "exact" and verdict != "flawed":
            verdict = "right"
    return verdict, why


def _quotes_of(use: Use) -> list[Quote]:
    """Those in the words it vouches for, and after the last marker of the sentence."""
    found = quotes(use.claim)
    if use.following and use.following not in use.claim:
        found = found + quotes(use.following)
    return found


def _earlier(mark: Mark, use: Use, agreement: Agreement, source: Source, answer: Answer) -> Mark:
    """A clump at the end of a paragraph may be meant for the sentences before it."""
    statements = answer.reading.statements
    number = use.sentence - 1
    covers = []
    while number >= 0 and use.sentence - number <= _BACK and number not in answer.cited:
        if not answer.reading.beside(number, use.sentence):
            break
        if agree(statements[number].text, source, answer.known).kind == "supported":
            covers.append(number)
        number -= 1
    if covers:
        why = "it supports an earlier sentence, not the one it stands at"
        return replace(mark, verdict="partial", why=why, covers=tuple(covers))
    return replace(
        mark, verdict="unsupported", why=agreement.why, weak=agreement.weak, about=agreement.about
    )


def _clumped(mark: Mark, resolved: Resolved, answer: Answer) -> Mark:
    """A citation that stands at no statement: half, where it supports one that has none."""
    uncited = [
        (number, statement.text)
        for number, statement in enumerate(answer.reading.statements[:_MOST])
        if not is_bare(statement) and number not in answer.cited
    ]
    covers = tuple(
        number
        for number, text in uncited
        if common(text, resolved.source)
        and agree(text, resolved.source, answer.known).kind != "unsupported"
    )
    if not covers:
        why = "the source supports none of the statements before it"
        return replace(mark, verdict="unsupported", why=why)
    if answer.lone and len(covers) == len(uncited):
        verdict = "flawed" if resolved.flawed else "right"
        return replace(mark, verdict=verdict, why=resolved.note, covers=covers)
    why = "it stands at no statement: the reader cannot tell what it supports"
    return replace(mark, verdict="partial", why=why, covers=covers)


def _listed(entry: Reference, answer: Answer) -> Mark:
    """An entry of a reference list to which nothing in the text points."""
    short = entry.text if len(entry.text) <= 60 else f"{entry.text[:57]}..."
    mark = Mark(short, "dangling", "", entry.start, entry.end, -1)
    resolved = resolve_entry(entry, answer.known.sources)
    if resolved is None:
        weak = not answer.known.sources
        return replace(mark, why="no source is that", weak=weak, settled=True)
    flaw = resolved.note if resolved.flawed else ""
    return _clumped(replace(mark, source=resolved.source, flaw=flaw), resolved, answer)


def _label(citation: Citation) -> str:
    marker = citation.marker if len(citation.marker) <= 80 else f"{citation.marker[:77]}..."
    if citation.form == "footnote":
        return f"[^{marker}]"
    return f"[{marker}]" if citation.form in ("number", "name") else marker


def _nowhere(citation: Citation, listed: Mapping[str, str], sources: Sequence[Source]) -> str:
    if not sources:
        return "there are no sources in the case or the trace to check it against"
    if citation.form in ("link", "url", "doi"):
        return "no source has this address"
    if citation.form == "author_year":
        return "no source is by these authors and of this year"
    if key_of(citation.marker) in listed:
        return "its entry in the reference list is none of the sources"
    return "the reference list has no such entry" if listed else "no source has this number"
