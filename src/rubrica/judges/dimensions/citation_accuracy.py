"""Do the citations lead to a source that says what they are cited for?

Each citing sentence is put to the support model of `rubrica.judges.reader`, with the text of the
source that it cites; words in quotation marks are looked for in that text. Nothing is opened.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

import msgspec
from rapidfuzz import fuzz

from rubrica.core import Case, Evidence, Signal, Trace
from rubrica.core.numbers import finite
from rubrica.core.trace import as_text
from rubrica.judges.dimensions.citations import (
    Citation,
    CitedOutput,
    read_citations,
    write_statements,
)
from rubrica.judges.dimensions.finding import MOST, READ, Sure, finding, inapplicable, quote
from rubrica.judges.dimensions.sources import Source
from rubrica.judges.reader.support import Verdict, grade, judge_claims
from rubrica.judges.reader.text import Text

NAME = "citation_accuracy"
#: Pairs of a sentence and a source that are judged, and characters of a sentence.
PAIRS, LONGEST = 200, 1000
#: Sentences of an output that a source may stand for which is only listed at the end.
LISTED = 50
#: How alike, of 100, are two sentences that say the same, a quotation and its source, and two
#: spellings of one word.
ALIKE, QUOTED, SPELT = 90, 85, 80
_NAMED = 3
_QUOTES = re.compile(r"\"[^\"\n]{8,400}+\"|“[^“”\n]{6,400}+”|[「『][^「」『』\n]{6,400}+[」』]")
_GAP = re.compile(r"\.\.\.|…|\[[^\[\]]{0,40}\]")
_WORD = re.compile(r"[㐀-鿿]|[^\W_㐀-鿿]+")
_ASKS = re.compile(
    r"\bcit(?:e|ed|es|ing|ations?)\b|\bbibliography\b|\bfootnote"
    r"|\bsources? (?:please|needed|required)"
    r"|\b(?:with|your|give|list|name|provide|include|add|state)\b(?: \w{1,15}){0,3} "
    r"(?:sources|references|links|source|reference)\b(?! (?:of|code))"
    r"|出处|参考(?:文献|资料|来源)|(?:注明|标注|标明|给出|列出|提供|附上?)[^。？！\n]{0,12}(?:来源|引用|文献|链接|脚注)",
    re.IGNORECASE,
)
_MEANINGS = {
    "dangling": "dangling (lead to no source)",
    "misquoted": "misquoted (the source lacks the words in quotation marks)",
    "asking": "at a question, which states nothing",
    "contradicted": "contradicted by the source",
    "listed": "only listed at the end",
}
#: `cited` is what nobody has read yet.
Finding = Literal[
    "dangling", "misquoted", "asking", "unchecked", "listed", "cited",
    "supported", "partly supported", "contradicted", "not supported",
]  # fmt: skip


class Pair(NamedTuple):
    """A sentence, a source that it cites, and what came of it.

    `share` is how likely the finding is right, `place` where the source decides.
    """

    citation: Citation
    source: Source | None
    statement: str
    finding: Finding
    value: float = 0.0
    share: float = 1.0
    place: tuple[int, int] = (0, 0)


class CitationAccuracy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the distinct pairs of a citing sentence and the source it cites.

    A pair is worth as much as the source surely supports the sentence, and 0 where the source
    contradicts it, lacks what the sentence quotes, or does not exist. A source without a text
    cannot be checked and leaves the mean. Nothing cited is 0 where the case gives sources or the
    question asks for citations, and else not applicable.

    `partial`: what a source is worth that is only listed at the end, times its best support.
    """

    partial: float = 0.5

    def __post_init__(self) -> None:
        finite("partial", self.partial, low=0, high=1)

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline", "thread"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        output = read_citations(case, trace)
        pairs = self._check_pairs(find_pairs(output), output.text)
        return (write_signal(output, pairs, as_text(case.input)),)

    def verdicts(self, claims: Sequence[str], source: str) -> list[Verdict]:
        """A verdict on each claim by the text of a source."""
        return judge_claims(claims, _read_source(source))

    def _check_pairs(self, pairs: Sequence[Pair], text: Text) -> list[Pair]:
        """The pairs with what the support model says of them."""
        claims: dict[str, list[Pair]] = {}
        checked = [pair for pair in pairs if pair.finding not in ("cited", "listed")]
        for pair in pairs:
            source = pair.source.text if pair.source else ""
            if pair.finding == "cited":
                claims.setdefault(source, []).append(pair)
            elif pair.finding == "listed":
                said = [one.text[:LONGEST] for one in text.sentences[:LISTED]]
                best = max(map(grade, self.verdicts(said, source)), default=0.0)
                checked.append(pair._replace(value=self.partial * best, share=0.5))
        for source, of_source in claims.items():
            verdicts = self.verdicts([pair.statement for pair in of_source], source)
            checked += map(_decide, of_source, verdicts)
        return checked


def find_pairs(output: CitedOutput) -> list[Pair]:
    """The distinct pairs of a sentence and a source, with what is known before reading these."""
    statements = write_statements([citation for citation, _ in output.links], output.text)
    pairs: dict[tuple[str, object], Pair] = {}
    for (citation, source), statement in zip(output.links, statements, strict=True):
        statement = statement[:LONGEST]
        target = citation.target if source is None else id(source)
        named = citation.entry or citation.form in ("url", "author", "listed")
        if (statement, target) in pairs or (
            source is None and (citation.weak or not (named or output.sources))
        ):
            continue  # again, or no citation: [draft], the interval [1, 3]
        found = _look_up(source, statement, bool(output.sources))
        pairs[statement, target] = Pair(citation, source, statement, found)
        if len(pairs) == PAIRS:
            break
    # Where a sentence cites several sources, its quotation is from one of them.
    quoted = {pair.statement for pair in pairs.values() if pair.finding == "cited"}
    wrong = [key for key, pair in pairs.items() if pair.finding == "misquoted"]
    pairs |= {key: pairs[key]._replace(finding="cited") for key in wrong if key[0] in quoted}
    return list(pairs.values())


def _look_up(source: Source | None, statement: str, any_sources: bool) -> Finding:
    if source is None:
        return "dangling" if any_sources else "unchecked"
    if not source.text:
        return "unchecked"
    if not statement:
        return "listed"
    if statement.endswith(("?", "？")):
        return "asking"  # the question again, with markers
    return "cited" if has_quotations(statement, source.text) else "misquoted"


@lru_cache(maxsize=256)
def asks_for_citations(question: str) -> bool:
    """Whether a question plainly asks for sources, in English or Chinese."""
    return _ASKS.search(question) is not None


def why_due(output: CitedOutput, question: str) -> str:
    """Why an output has to cite something; empty where it need not."""
    if given := sum(source.origin == "case" for source in output.sources):
        return f"the case gives sources ({given})"
    return "the question asks for sources" if asks_for_citations(question) else ""


def has_quotations(statement: str, source: str) -> bool:
    """Whether all words in quotation marks stand in the source, give or take a typing error."""
    if not any(map(statement.__contains__, '"“「『')):
        return True
    text = _plain_source(source)
    for found in _QUOTES.finditer(statement):
        words = found[0][1:-1]
        if words.isascii() and len(words.split()) < 3:
            continue  # a term or a title, hardly a quotation
        for part in _GAP.split(words):
            part = _plain_text(part)
            if len(part) > 4 and part not in text and not _is_near(part, text):
                return False
    return True


def _plain_text(text: str) -> str:
    """The words alone: punctuation and capitals of a quotation do not matter."""
    return " ".join(_WORD.findall(text.lower()))


_plain_source = lru_cache(maxsize=64)(_plain_text)
_read_source = lru_cache(maxsize=64)(Text)  # apart: those of one case must not push out its output


def _is_near(quotation: str, text: str) -> bool:
    """Whether the same words are there but for spelling: no other word, no other number."""
    if len(quotation) > len(text):
        return False
    place = fuzz.partial_ratio_alignment(quotation, text, score_cutoff=QUOTED)
    if place is None:
        return False
    start, end, said = place.dest_start, place.dest_end, _WORD.findall(quotation)
    around = _WORD.findall(text[max(0, start - 20) : end + 20])
    return _has_words(around, said) and _has_words(said, _WORD.findall(text[start:end])[1:-1])


def _has_words(words: Sequence[str], wanted: Sequence[str]) -> bool:
    return all(
        one in words or (one.isalpha() and any(fuzz.ratio(one, other) >= SPELT for other in words))
        for one in wanted
    )


def _decide(pair: Pair, verdict: Verdict) -> Pair:
    place, support = (verdict.start, verdict.end), verdict.support
    if verdict.kind == "contradicted":
        return pair._replace(finding="contradicted", share=verdict.contradiction, place=place)
    if verdict.kind == "supported":
        return pair._replace(finding="supported", value=grade(verdict), share=support, place=place)
    return pair._replace(
        finding="not supported", value=grade(verdict), share=1 - support, place=place
    )


def write_signal(
    output: CitedOutput, pairs: Sequence[Pair], question: str, sure: Sure | None = None
) -> Signal:
    """The mean over what was checked, with a reason that counts what went wrong."""
    checked = _drop_repeats([pair for pair in pairs if pair.finding != "unchecked"])
    unchecked = sum(pair.finding == "unchecked" for pair in pairs)
    if not checked:
        return _nothing_checked(output, unchecked, question)
    value = sum([pair.value for pair in checked]) / len(checked)
    reason = _write_reason(checked)
    if unchecked:
        reason += f"; {unchecked} more cannot be checked: no text of their source is known"
    if len(pairs) == PAIRS:
        reason += f"; only the first {PAIRS} were judged"
    if output.is_cut:
        reason += f"; only the first {READ:,} characters were read"
    wrong = [pair for pair in checked if pair.finding != "supported"] or checked
    wrong = sorted(wrong, key=lambda pair: pair.citation.start)[:MOST]
    evidence = dict.fromkeys([_quote_sentence(output.text, pair.citation) for pair in wrong])
    if sure is None:
        mean = sum([pair.share for pair in checked]) / len(checked)
        sure = "high" if mean >= 0.85 else "medium" if mean >= 0.65 else "low"
    return finding(NAME, value, reason, sure, list(evidence))


def _nothing_checked(output: CitedOutput, unchecked: int, question: str) -> Signal:
    if unchecked:
        count = "1 citation" if unchecked == 1 else f"{unchecked} citations"
        return inapplicable(NAME, f"{count} cannot be checked: no text of a source is known")
    if why := why_due(output, question):
        return finding(NAME, 0.0, f"nothing is cited, although {why}", "high")
    return inapplicable(NAME, "nothing is cited, no sources are given and none were asked for")


def _drop_repeats(pairs: Sequence[Pair]) -> list[Pair]:
    """What says the same of the same passage counts once: a truth told ten times is one."""
    kept: list[Pair] = []
    seen: dict[tuple[int, tuple[int, int]], list[str]] = {}
    for pair in pairs:
        if pair.finding == "supported":
            said = seen.setdefault((id(pair.source), pair.place), [])
            statement = pair.statement.lower()
            if any(fuzz.token_set_ratio(statement, other) >= ALIKE for other in said):
                continue
            said.append(statement)
        kept.append(pair)
    return kept


def _write_reason(checked: Sequence[Pair]) -> str:
    kinds: dict[str, list[Pair]] = {}
    for pair in checked:
        kinds.setdefault(pair.finding, []).append(pair)
    right = len(kinds.pop("supported", ()))
    parts = [f"{right} of {len(checked)} citations {'is' if right == 1 else 'are'} supported"]
    for kind, found in kinds.items():
        named = "; ".join([_name(pair) for pair in found[:_NAMED]])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        parts.append(f"{len(found)} {_MEANINGS.get(kind, kind)}: {named}{more}")
    return ". ".join(parts)


def _name(pair: Pair) -> str:
    said = pair.statement if len(pair.statement) <= 60 else f"{pair.statement[:57]}..."
    return f"[{pair.citation.target[:60]}]" + (f" for {said!r}" if said else "")


def _quote_sentence(text: Text, citation: Citation) -> Evidence:
    """The sentence up to its marker."""
    start = text.sentences[citation.sentence].start if citation.sentence >= 0 else citation.start
    return quote(text.raw, min(start, citation.start), citation.end)
