"""Estimate how likely a text supports or contradicts a claim, and which sentence decides it.

The probabilities come from a logistic regression over the features, trained on public data with
human labels and calibrated on data sets that it was not trained on.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import exp
from operator import itemgetter, mul
from typing import Literal, NamedTuple

from fourscore.judges.reader.features import NAMES, Claim, Match, denies_bare_answer, measure
from fourscore.judges.reader.text import Sentence, Text, split_words, stem_word
from fourscore.judges.reader.weights import LinearModel, Weights, shipped_weights

Kind = Literal["supported", "contradicted", "not stated"]
#: Most characters of a claim that are read.
MAX_CLAIM = 2000
#: The least share of a claim's words that a sentence must have to contradict it; with fewer it is
#: about something else.
SAME_TOPIC = 0.4
#: A claim earns all from the first probability of support on, and nothing up to the second.
FULL, NONE = 0.75, 0.25
_in_order = itemgetter(*NAMES)


class ClaimVerdict(NamedTuple):
    """What a text says of a claim. `start` and `end` are offsets of the sentence that decides."""

    kind: Kind
    support: float
    contradiction: float
    start: int
    end: int


def grade(verdict: ClaimVerdict) -> float:
    """Return what a claim earns: 1 if it is surely stated, 0 if it surely is not."""
    if verdict.kind == "contradicted":
        return 0.0
    return min(1.0, max(0.0, (verdict.support - NONE) / (FULL - NONE)))


def judge_claims(
    claims: Sequence[str], text: Text, question: str = "", weights: Weights | None = None
) -> list[ClaimVerdict]:
    """Return a verdict on each claim. Words of the question that the text answers do not count."""
    weights = weights or shipped_weights()
    if not text.sentences:
        return [ClaimVerdict("not stated", 0.0, 0.0, 0, 0) for _ in claims]
    read = read_claims(claims, stem_question(question))
    return [_judge(Match(claim, text), weights) for claim in read]


def judge_wordings(
    wordings: Sequence[str], text: Text, question: str = "", weights: Weights | None = None
) -> ClaimVerdict:
    """Return the best verdict on a claim in several wordings, any of which may be stated."""
    each = [judge_claims([wording], text, question, weights)[0] for wording in wordings]
    return max(each, key=lambda verdict: verdict.support)


@lru_cache(maxsize=256)
def stem_question(question: str) -> frozenset[str]:
    """Return the stems of a question."""
    return frozenset(stem_word(word) for word in split_words(question[:MAX_CLAIM]))


@lru_cache(maxsize=256)
def read_claim(claim: str) -> Sentence:
    """Return a claim as one sentence."""
    text = claim[:MAX_CLAIM]
    return Sentence(text, 0, len(text))


def read_claims(claims: Sequence[str], question: frozenset[str]) -> list[Claim]:
    """Return the claims of one case; a word that several of them have counts less for each."""
    sentences = [read_claim(claim) for claim in claims]
    if len(sentences) == 1:
        return [Claim(sentences[0], question)]
    shared: dict[str, int] = {}
    for sentence in sentences:
        for stem in sentence.content:
            shared[stem] = shared.get(stem, 0) + 1
    return [Claim(one, question, shared) for one in sentences]


def _judge(match: Match, weights: Weights) -> ClaimVerdict:
    best = match.best
    if denies_bare_answer(match):
        return ClaimVerdict("contradicted", 0.0, 1.0, best.start, best.end)
    values = measure(match)
    support = probability(weights.support, values)
    contradiction = 0.0
    if match.share >= SAME_TOPIC:
        contradiction = probability(weights.contradiction, values)
    kind: Kind = "not stated"
    if support >= weights.cut:
        kind = "supported"
    elif contradiction >= weights.contradiction_cut:
        kind = "contradicted"
    return ClaimVerdict(kind, support, contradiction, best.start, best.end)


def probability(model: LinearModel, values: Sequence[float]) -> float:
    """Return the probability that a model gives to these features, in the order of `NAMES`."""
    total = sum(map(mul, _in_order(model.coefficients), values), model.intercept)
    return 1 / (1 + exp(-max(-30.0, min(30.0, total))))
