"""Factual accuracy: how many of the expected facts does the output state?

The facts are `expected.claims`, or the sentences of `expected.answer`; a list of answers means that
any of them will do. The value is the weighted mean over the claims: 1 for a claim that is surely
stated, 0 for one that surely is not stated or is contradicted, and graded in between.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from fourscore.core import Case, CaseError, Evidence, Signal, Trace, digest
from fourscore.core.numbers import check_finite
from fourscore.core.trace import as_text
from fourscore.judges.answer_extraction import Think
from fourscore.judges.dimensions.case_fields import cache_by_identity, find_question, read_expected
from fourscore.judges.dimensions.signals import Confidence, make_signal, not_applicable, quote
from fourscore.judges.empty_answers import explain_empty_answer
from fourscore.judges.reader.support import ClaimVerdict, grade, judge_claims, judge_wordings
from fourscore.judges.reader.text import MAX_READ, Text, read_text
from fourscore.judges.reader.weights import Weights, read_weights

NAME = "factual_accuracy"
#: Most claims that are judged, most that a reason names, and most characters of one there.
MAX_CLAIMS, _MAX_NAMED, _MAX_SHOWN = 100, 3, 100
#: Most words of an answer that is one fact by itself: `42`, `Canberra`.
_MAX_SHORT = 6
#: The least probability of a verdict that the reader is sure of.
SURE = 0.7


class Fact(NamedTuple):
    """Something that a good answer states. `short`: a bare result; `others`: other wordings."""

    text: str
    weight: float
    short: bool = False
    others: tuple[str, ...] = ()


class FactualAccuracy(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True
):
    """The weighted mean of the claims' accuracy.

    contradiction_cost: what a contradicted claim takes off, as a share of its weight (default 0)
    think: `drop` (default) what stands inside <think>…</think>, or `keep` it
    weights: file of weights that `calibrate --fit` fitted to your own labels
    """

    contradiction_cost: float = 0.0
    think: Think = "drop"
    weights: str | None = None

    def __post_init__(self) -> None:
        check_finite("contradiction_cost", self.contradiction_cost, low=0, high=1)
        self.learned  # noqa: B018 - read, so that a mistake in the file shows before the first case

    @cached_property
    def learned(self) -> Weights:
        """The weights that it uses, as they were when the judge was made."""
        return read_weights(self.weights)

    @property
    def fingerprint(self) -> str:
        """A digest of the options and the content of the weights, whatever their path."""
        options = {name: getattr(self, name) for name in self.__struct_fields__}
        return digest([NAME, {**options, "weights": self.learned.version}])

    @property
    def fitted(self) -> Mapping[str, str]:
        """The file of fitted weights, and its version."""
        if self.weights is None:
            return {}
        learned = self.learned
        return {Path(self.weights).name: f"{learned.version}, {learned.labels} labels"}

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline", "thread"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        facts = read_facts(case)
        if not facts:
            return (not_applicable(NAME, "the case expects neither claims nor an answer"),)
        answer = trace.answer
        if (reason := explain_empty_answer(case, answer)) is not None:
            return (make_signal(NAME, 0.0, reason, "high"),)
        text = read_text(answer, keep_thinking=self.think == "keep")
        verdicts = self.find_verdicts(facts, text, find_question(case.input))
        signal = write_signal(facts, verdicts, answer, self.contradiction_cost)
        if self.weights is not None:
            reason = f"{signal.reason} (weights fitted to {self.learned.labels} labels)"
            signal = msgspec.structs.replace(signal, reason=reason)
        return (signal,)

    def find_verdicts(self, facts: Sequence[Fact], text: Text, question: str) -> list[ClaimVerdict]:
        """Return a verdict on each fact, by shared words and the learned weights."""
        return judge_facts(facts, text, question, self.learned)


def judge_facts(
    facts: Sequence[Fact], text: Text, question: str, weights: Weights
) -> list[ClaimVerdict]:
    """Return a verdict on each fact; for one with several wordings, the best verdict."""
    if any(fact.others for fact in facts):
        return [
            judge_wordings((fact.text, *fact.others), text, question, weights) for fact in facts
        ]
    return judge_claims([fact.text for fact in facts], text, question, weights)


@cache_by_identity
def read_facts(case: Case) -> Sequence[Fact]:
    """Read the claims of a case, or else the facts that its answer states."""
    expected = read_expected(case)
    if not expected.claims:
        return _read_answer_facts(expected.answer)
    if not any(claim.weight for claim in expected.claims[:MAX_CLAIMS]):
        raise CaseError(case.id, "expected.claims", "no claim has any weight")
    return [Fact(claim.text, claim.weight) for claim in expected.claims[:MAX_CLAIMS]]


def _read_answer_facts(answer: object) -> list[Fact]:
    if answer is None or answer == "":
        return []
    if isinstance(answer, list):
        first, *others = [as_text(one) for one in answer if one not in (None, "")] or [""]
        return [Fact(first, 1.0, _is_short(first), tuple(others))] if first else []
    if isinstance(answer, dict):
        lines = [f"{key}: {as_text(value)}" for key, value in answer.items()]
        return [Fact(line, 1.0) for line in lines[:MAX_CLAIMS]]
    # GSM8K and its like write the working, the mark ####, and the result.
    text = as_text(answer).rpartition("####")[2].strip()
    if _is_short(text):
        return [Fact(text, 1.0, short=True)] if text else []
    return [Fact(one.text, 1.0) for one in Text(text).sentences[:MAX_CLAIMS]]


def _is_short(text: str) -> bool:
    return len(text.split()) <= _MAX_SHORT and len(text) <= 8 * _MAX_SHORT


def write_signal(
    facts: Sequence[Fact], verdicts: Sequence[ClaimVerdict], answer: str, cost: float = 0.0
) -> Signal:
    """Return the weighted mean of the verdicts, a reason, and the sentences that decided."""
    total = sum(fact.weight for fact in facts)
    pairs = list(zip(facts, verdicts, strict=True))
    earned = sum(
        fact.weight * (-cost if one.kind == "contradicted" else grade(one)) for fact, one in pairs
    )
    parts = [_describe(pairs)]
    if len(answer) > MAX_READ:
        parts.append(f"only the first {MAX_READ:,} characters were read")
    return make_signal(
        NAME, earned / total, "; ".join(parts), find_confidence(verdicts), _evidence(pairs, answer)
    )


def _describe(pairs: Sequence[tuple[Fact, ClaimVerdict]]) -> str:
    """Return a sentence that counts the supported claims and names the others."""
    kinds = [one.kind for _, one in pairs]
    supported = kinds.count("supported")
    parts = [f"{supported} of {len(pairs)} claims {'is' if supported == 1 else 'are'} supported"]
    for kind in ("contradicted", "not stated"):
        found = [(fact, one) for fact, one in pairs if one.kind == kind]
        if found:
            listed = [f"{quote_claim(fact.text)} ({one.support:.0%})" for fact, one in found]
            named = ", ".join(listed[:_MAX_NAMED])
            more = f" and {len(found) - _MAX_NAMED} more" if len(found) > _MAX_NAMED else ""
            parts.append(f"{kind}: {named}{more}")
    return "; ".join(parts)


def find_confidence(verdicts: Sequence[ClaimVerdict]) -> Confidence:
    """Return how sure most verdicts are, by their probabilities, which are calibrated."""
    sure = sum(max(one.support, 1 - one.support) >= SURE for one in verdicts) / len(verdicts)
    return "high" if sure > 0.8 else "medium" if sure >= 0.5 else "low"


def quote_claim(text: str) -> str:
    """Return a text in quotation marks, cut to fit into a reason."""
    cut = " ".join(text[: 4 * _MAX_SHOWN].split())
    return f"'{cut}'" if len(cut) <= _MAX_SHOWN else f"'{cut[: _MAX_SHOWN - 3]}...'"


def _evidence(pairs: Sequence[tuple[Fact, ClaimVerdict]], answer: str) -> list[Evidence]:
    """Return the sentences that contradict, then those that support, each once."""
    ranked = [one for kind in ("contradicted", "supported") for _, one in pairs if one.kind == kind]
    spans = dict.fromkeys((one.start, one.end) for one in ranked)
    return [quote(answer, start, end) for start, end in spans]
