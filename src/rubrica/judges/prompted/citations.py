"""Citation accuracy by a model: does this source bear out this sentence?

Where a citation leads and whether quoted words stand in the source is for the rules to see.
"""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from rubrica.core import Case, Signal, Trace, Usage
from rubrica.core.numbers import finite
from rubrica.core.trace import as_text
from rubrica.judges.dimensions.citation_accuracy import NAME, Pair, find_pairs, write_signal
from rubrica.judges.dimensions.citations import CitedOutput, read_citations
from rubrica.judges.dimensions.finding import MOST
from rubrica.judges.dimensions.sources import Source
from rubrica.judges.prompted.asker import Asker, Verdict, together
from rubrica.judges.prompted.several import paid, sure_of
from rubrica.judges.prompted.sourced import name_of

CHOICES = ("unsupported", "partly", "supported")
#: Citations that are asked about; sentences before one, and characters of them, that are shown.
ASKED, BEFORE, CONTEXT = 50, 2, 1000


class CitationAccuracy(Asker, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean over the pairs of sentence and source, as by rules; the model reads the sources.

    `partial`: what a source is worth that bears a sentence out in part, or is only listed.
    """

    partial: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        finite("partial", self.partial, low=0, high=1)

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
        unread = [pair for pair in pairs if pair.finding in ("cited", "listed")]
        asked = unread[:ASKED]
        verdicts = await together([self._ask(case, pair, output) for pair in asked])
        decided = [self._decide(*each) for each in zip(asked, verdicts, strict=True)]
        rest = [pair for pair in pairs if pair not in unread]
        unfound = sum(one.choice != "unsupported" and one.is_unfound for one in verdicts)
        sure = sure_of(verdicts, unfound) if verdicts else None
        signal = write_signal(output, [*rest, *decided], as_text(case.input), sure)
        if len(unread) > ASKED:
            note = f"the model was asked about the first {ASKED} citations; {signal.reason}"
            signal = replace(signal, reason=note)
        quoted = [one.evidence for one in verdicts if one.evidence is not None]
        evidence = tuple(dict.fromkeys((*signal.evidence, *quoted)))[:MOST]
        return (paid(replace(signal, evidence=evidence), verdicts),)

    async def _ask(self, case: Case, pair: Pair, output: CitedOutput) -> Verdict:
        source = pair.source or Source()
        sentences, at = output.text.sentences, pair.citation.sentence
        before = sentences[max(0, at - BEFORE) : at + 1] if pair.statement else ()
        material = self.material(
            case,
            "",
            source=f"{source.title}\n\n{source.text}" if source.title else source.text,
            context=" ".join(one.text for one in before)[-CONTEXT:],
            statement=pair.statement or output.text.raw[: self.max_chars],
        )
        name = name_of(source, output.sources.index(source))
        return await self.decide("citation", material, CHOICES, text=source.text, field=name)

    def _decide(self, pair: Pair, verdict: Verdict) -> Pair:
        """The pair by the model's verdict, graded where its probabilities are known.

        Words that it quotes and nobody finds make the verdict less sure; they do not undo it.
        """
        worth = {"unsupported": 0.0, "partly": self.partial, "supported": 1.0}
        shares = verdict.shares or {verdict.choice: 1.0}
        value = sum(share * worth[choice] for choice, share in shares.items())
        if pair.finding == "listed":
            return pair._replace(value=value * self.partial)
        if verdict.choice == "unsupported":
            return pair._replace(finding="not supported", value=value)
        place = verdict.evidence
        at = (place.start or 0, place.end or 0) if place else pair.place
        kind = "supported" if verdict.choice == "supported" else "partly supported"
        return pair._replace(finding=kind, value=value, place=at)  # type: ignore[arg-type]
