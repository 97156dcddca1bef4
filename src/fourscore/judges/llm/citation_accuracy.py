"""Citation accuracy by a model: does this source support this sentence?

The rules decide which source a citation refers to and whether quoted words are in that source.
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
from fourscore.judges.llm.item_questions import gather_asks, rate_confidence, set_usage
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import ModelVerdict

#: The value of a citation by the model's verdict.
WORTH = {"unsupported": 0.0, "partly": 0.5, "supported": 1.0}
#: Most citations that are asked about, and characters of the output shown before each.
ASKED, CONTEXT = 50, 1000


class CitationAccuracy(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over all pairs of a sentence and its cited source, each judged by the model."""

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions("citation")

    def most(self, case: Case) -> Usage:
        return self.ceiling("citation", case, ASKED, other_bytes=3 * (self.max_chars + CONTEXT))

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        output = read_citations(case, trace)
        pairs = find_pairs(output)
        undecided = [pair for pair in pairs if pair.finding == "cited"]
        asked = undecided[:ASKED]
        verdicts = await gather_asks([self._ask_pair(case, pair, output) for pair in asked])
        decided = [_apply_verdict(*each) for each in zip(asked, verdicts, strict=True)]
        rest = [pair for pair in pairs if pair not in undecided]
        missing = sum(one.choice != "unsupported" and one.is_quotation_missing for one in verdicts)
        sure = rate_confidence(verdicts, missing) if verdicts else None
        signal = write_signal(output, [*rest, *decided], as_text(case.input), sure)
        if len(undecided) > ASKED:
            note = f"the model was asked about the first {ASKED} citations; {signal.reason}"
            signal = replace(signal, reason=note)
        quoted = [one.evidence for one in verdicts if one.evidence is not None]
        evidence = tuple(dict.fromkeys((*signal.evidence, *quoted)))[:MAX_EVIDENCE]
        return (set_usage(replace(signal, evidence=evidence), verdicts),)

    async def _ask_pair(self, case: Case, pair: CitedPair, output: CitedOutput) -> ModelVerdict:
        source, citation = pair.source or Source(), pair.citation
        fenced = self.fence_case(
            case,
            "",
            source=f"{source.title}\n\n{source.text}" if source.title else source.text,
            context=output.raw[max(0, citation.end - CONTEXT) : citation.end],
            statement=citation.statement,
        )
        name = name_source(source, output.sources.index(source))
        return await self.decide("citation", fenced, tuple(WORTH), text=source.text, field=name)


def _apply_verdict(pair: CitedPair, verdict: ModelVerdict) -> CitedPair:
    """Return the pair with the finding and value of the model's verdict.

    The value is weighted by the model's probabilities where they are known. A quotation that is not
    in the source lowers the confidence, not the value.
    """
    probabilities = verdict.probabilities or {verdict.choice: 1.0}
    value = sum(share * WORTH[choice] for choice, share in probabilities.items())
    kinds: dict[str, Finding] = {"supported": "supported", "partly": "partly supported"}
    return replace(pair, finding=kinds.get(verdict.choice, "not stated"), value=value)
