"""Citation accuracy by a model: does this source bear out this sentence?

Where a citation leads and whether quoted words stand in the source is for the rules to see.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from fourscore.core import Case, Signal, Trace, Usage
from fourscore.core.trace import as_text
from fourscore.judges.dimensions.citation_accuracy import (
    NAME,
    CitedPair,
    Finding,
    find_pairs,
    write_signal,
)
from fourscore.judges.dimensions.citations import CitedOutput, read_citations
from fourscore.judges.dimensions.signals import MAX_EVIDENCE
from fourscore.judges.dimensions.sources import Source
from fourscore.judges.llm.grounding import name_source
from fourscore.judges.llm.item_questions import paid, rate_confidence
from fourscore.judges.llm.model_judge import ModelJudge, Verdict, together

#: What a citation is worth by each verdict of the model.
WORTH = {"unsupported": 0.0, "partly": 0.5, "supported": 1.0}
#: Citations that are asked about, and characters of the output before one that are shown.
ASKED, CONTEXT = 50, 1000


class CitationAccuracy(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the pairs of sentence and source, as by rules; the model reads the sources."""

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.versions("citation")

    def most(self, case: Case) -> Usage:
        return self.ceiling("citation", case, ASKED, own=3 * (self.max_chars + CONTEXT))

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        output = read_citations(case, trace)
        pairs = find_pairs(output)
        unread = [pair for pair in pairs if pair.finding == "cited"]
        asked = unread[:ASKED]
        verdicts = await together([self._ask(case, pair, output) for pair in asked])
        decided = [_decide(*each) for each in zip(asked, verdicts, strict=True)]
        rest = [pair for pair in pairs if pair not in unread]
        unfound = sum(one.choice != "unsupported" and one.is_quotation_missing for one in verdicts)
        sure = rate_confidence(verdicts, unfound) if verdicts else None
        signal = write_signal(output, [*rest, *decided], as_text(case.input), sure)
        if len(unread) > ASKED:
            note = f"the model was asked about the first {ASKED} citations; {signal.reason}"
            signal = replace(signal, reason=note)
        quoted = [one.evidence for one in verdicts if one.evidence is not None]
        evidence = tuple(dict.fromkeys((*signal.evidence, *quoted)))[:MAX_EVIDENCE]
        return (paid(replace(signal, evidence=evidence), verdicts),)

    async def _ask(self, case: Case, pair: CitedPair, output: CitedOutput) -> Verdict:
        source, citation = pair.source or Source(), pair.citation
        material = self.material(
            case,
            "",
            source=f"{source.title}\n\n{source.text}" if source.title else source.text,
            context=output.raw[max(0, citation.end - CONTEXT) : citation.end],
            statement=citation.statement,
        )
        name = name_source(source, output.sources.index(source))
        return await self.decide("citation", material, tuple(WORTH), text=source.text, field=name)


def _decide(pair: CitedPair, verdict: Verdict) -> CitedPair:
    """The pair by the model's verdict, graded where its probabilities are known.

    Words that it quotes and nobody finds make the verdict less sure; they do not undo it.
    """
    shares = verdict.shares or {verdict.choice: 1.0}
    value = sum(share * WORTH[choice] for choice, share in shares.items())
    kinds: dict[str, Finding] = {"supported": "supported", "partly": "partly supported"}
    return replace(pair, finding=kinds.get(verdict.choice, "not stated"), value=value)
