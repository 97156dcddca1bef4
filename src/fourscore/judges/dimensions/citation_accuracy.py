"""Citation accuracy: does each cited source support the sentence that cites it?

Each citing sentence is checked by the support model of `fourscore.judges.reader` against the text
of the source that it cites; words in quotation marks must stand in that text. No URL is fetched.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import msgspec
from msgspec.structs import replace
from rapidfuzz import fuzz

from fourscore.core import Case, Signal, Trace
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.citations import Citation, CitedOutput, read_citations
from fourscore.judges.dimensions.signals import (
    MAX_EVIDENCE,
    Confidence,
    make_signal,
    not_applicable,
    quote,
)
from fourscore.judges.dimensions.sources import Source
from fourscore.judges.reader.support import ClaimVerdict, grade, judge_claims
from fourscore.judges.reader.text import MAX_READ, Text

NAME = "citation_accuracy"
#: Most pairs of a sentence and a source that are judged, and most pairs that the reason names.
MAX_PAIRS, _MAX_NAMED = 200, 3
#: The least similarity, of 100, of a quotation and the passage that it quotes.
QUOTE_SIMILARITY = 93
_QUOTES = re.compile(r"\"[^\"\n]{8,400}+\"|“[^“”\n]{6,400}+”|[「『][^「」『』\n]{6,400}+[」』]")
_GAP = re.compile(r"\.\.\.|…|\[[^\[\]]{0,40}\]")
_ASKS = re.compile(
    r"(?i)\bcit(?:e|ed|es|ing|ations?)\b|\bbibliography\b|\bfootnote"
    r"|\bsources? (?:please|needed|required)"
    r"|\b(?:with|your|give|list|name|provide|include|add|state)\b(?: \w{1,15}){0,3} "
    r"(?:sources|references|links|source|reference)\b(?! (?:of|code))"
    r"|出处|参考(?:文献|资料|来源)|(?:注明|标注|标明|给出|列出|提供|附上?)[^。？！\n]{0,12}(?:来源|引用|文献|链接|脚注)"
)
#: `cited`: not yet checked; `unchecked`: no text of the source is known.
Finding = Literal[
    "dangling", "misquoted", "unchecked", "cited",
    "supported", "partly supported", "contradicted", "not stated",
]  # fmt: skip


class CitedPair(msgspec.Struct, frozen=True, kw_only=True):
    """A citing sentence, a source that it cites, and what the check found.

    `value` is what the pair earns, `probability` how likely the finding is right.
    """

    citation: Citation
    source: Source | None
    finding: Finding
    value: float = 0.0
    probability: float = 1.0


class CitationAccuracy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the distinct pairs of a citing sentence and the source it cites.

    A pair earns more the surer it is that the source supports the sentence, and 0 if the source
    contradicts it, lacks what the sentence quotes, or does not exist. A source without a text
    cannot be checked and is left out of the mean. An output without citations gets 0 if the case
    gives sources or the question asks for citations; otherwise the dimension is not applicable.
    """

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline", "thread"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        output = read_citations(case, trace)
        pairs = self._check_pairs(find_pairs(output))
        return (write_signal(output, pairs, as_text(case.input)),)

    def find_verdicts(self, claims: Sequence[str], source: str) -> list[ClaimVerdict]:
        """Return a verdict on each claim by the text of a source."""
        return judge_claims(claims, _read_source(source))

    def _check_pairs(self, pairs: Sequence[CitedPair]) -> list[CitedPair]:
        """Return the pairs with what the support model finds, all of one source at once."""
        checked = [pair for pair in pairs if pair.finding != "cited"]
        unread: dict[str, list[CitedPair]] = {}
        for pair in pairs:
            if pair.finding == "cited" and pair.source:
                unread.setdefault(pair.source.text, []).append(pair)
        for source, cited in unread.items():
            verdicts = self.find_verdicts([pair.citation.statement for pair in cited], source)
            checked += map(_decide, cited, verdicts)
        return checked


def find_pairs(output: CitedOutput) -> list[CitedPair]:
    """Return the distinct pairs of a sentence and a source, with what needs no model to find."""
    pairs: dict[tuple[str, object], CitedPair] = {}
    for citation, source in output.links:
        statement, target = citation.statement, citation.target if source is None else id(source)
        if statement and (statement, target) not in pairs:
            found = _look_up(source, statement, bool(output.sources))
            pairs[statement, target] = CitedPair(citation=citation, source=source, finding=found)
        if len(pairs) == MAX_PAIRS:
            break
    # Where a sentence cites several sources, its quotation need stand in one of them only.
    quoted = {statement for (statement, _), pair in pairs.items() if pair.finding == "cited"}
    for key, pair in pairs.items():
        if pair.finding == "misquoted" and key[0] in quoted:
            pairs[key] = replace(pair, finding="cited")
    return list(pairs.values())


def _look_up(source: Source | None, statement: str, has_sources: bool) -> Finding:
    if source is None:
        return "dangling" if has_sources else "unchecked"
    if not source.text:
        return "unchecked"
    if statement.endswith(("?", "？")):
        return "not stated"  # the question repeated, with markers
    return "cited" if has_quotations(statement, source.text) else "misquoted"


def judge_nothing_cited(name: str, output: CitedOutput, question: str) -> Signal:
    """Return a signal for an output without citations: 0 if it had to cite, else not applicable."""
    given = sum(source.origin == "case" for source in output.sources)
    if given or _ASKS.search(question):
        why = f"the case gives sources ({given})" if given else "the question asks for sources"
        return make_signal(name, 0.0, f"nothing is cited, although {why}", "high")
    return not_applicable(name, "nothing is cited, no sources are given and none were asked for")


def has_quotations(statement: str, source: str) -> bool:
    """Whether all words in quotation marks stand in the source; small typing errors are allowed."""
    for part in [part for found in _QUOTES.findall(statement) for part in _GAP.split(found)]:
        words, text = _plain_text(part), _plain_text(source)
        if (words.isascii() and words.count(" ") < 2) or words in text:
            continue  # one or two words are a term or a title, not a quotation
        if len(words) > len(text):
            return False
        place = fuzz.partial_ratio_alignment(words, text, score_cutoff=QUOTE_SIMILARITY)
        passage = text[place.dest_start : place.dest_end] if place else ""
        if not set(re.findall(r"\d+", words)) <= set(re.findall(r"\d+", passage)) or not passage:
            return False
    return True


@lru_cache(maxsize=256)
def _plain_text(text: str) -> str:
    """Return the words in lower case: punctuation and capitals of a quotation do not matter."""
    return " ".join(re.findall(r"\w+", text.lower()))


# A cache of its own: the sources of one case must not evict its output from that of `read_text`.
_read_source = lru_cache(maxsize=64)(Text)


def _decide(pair: CitedPair, verdict: ClaimVerdict) -> CitedPair:
    known = {"supported": verdict.support, "contradicted": verdict.contradiction}
    probability = known.get(verdict.kind, 1 - verdict.support)
    return replace(pair, finding=verdict.kind, value=grade(verdict), probability=probability)


def write_signal(
    output: CitedOutput,
    pairs: Sequence[CitedPair],
    question: str,
    confidence: Confidence | None = None,
) -> Signal:
    """Return the mean over the pairs that were checked, with a reason that counts the failures."""
    checked = [pair for pair in pairs if pair.finding != "unchecked"]
    unchecked = len(pairs) - len(checked)
    if not pairs:
        return judge_nothing_cited(NAME, output, question)
    if not checked:
        return not_applicable(NAME, f"no text of what is cited is known (citations: {unchecked})")
    wrong = [pair for pair in checked if pair.finding != "supported"]
    shown = sorted(wrong or checked, key=lambda pair: pair.citation.end)[:MAX_EVIDENCE]
    counts = Counter([pair.finding for pair in wrong])
    reason = f"{len(checked) - len(wrong)} of {len(checked)} citations supported"
    reason += "".join([f", {count} {kind}" for kind, count in counts.items()])
    named = [
        f"{pair.finding} [{pair.citation.target[:60]}] for {pair.citation.statement[:60]!r}"
        for pair in shown[:_MAX_NAMED]
    ]
    reason += f": {'; '.join(named)}" if wrong else ""
    if unchecked:
        reason += f"; {unchecked} more cannot be checked: no text of their source is known"
    if len(pairs) == MAX_PAIRS:
        reason += f"; only the first {MAX_PAIRS} were judged"
    if output.is_cut:
        reason += f"; only the first {MAX_READ:,} characters were read"
    places = dict.fromkeys([(pair.citation.start, pair.citation.end) for pair in shown])
    if confidence is None:
        mean = sum([pair.probability for pair in checked]) / len(checked)
        confidence = "high" if mean >= 0.85 else "medium" if mean >= 0.65 else "low"
    value = sum([pair.value for pair in checked]) / len(checked)
    evidence = [quote(output.raw, *place) for place in places]
    return make_signal(NAME, value, reason, confidence, evidence)
