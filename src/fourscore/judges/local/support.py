"""Judge claims and topics with a local model; the verdicts are of the type of `reader.support`."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from fourscore.judges.local.model import LocalModel
from fourscore.judges.reader.support import ClaimVerdict, Kind, judge_claims
from fourscore.judges.reader.text import MAX_READ, Text, read_text, split_words

#: Sentences that an entailment model reads for each claim: those that share most words with it.
_SENTENCES = 3
#: Most passages of a text that an embedding model reads; in a long text, each is several sentences.
_MAX_PASSAGES = 200
#: A claim of at most so many words is an answer ("Paris"), which needs its question to be a claim.
_MAX_ANSWER = 4


class _Scale(NamedTuple):
    """The cosine at which a claim is as likely stated as not, and the slope of that probability."""

    even: float
    steepness: float


#: Logistic regressions over all-MiniLM-L6-v2: 750 claims of five sets, 1,400 topics of reviews.
_CLAIM, _TOPIC = _Scale(0.58, 2.6), _Scale(0.17, 15.6)


def judge_claims_locally(
    model: LocalModel, claims: Sequence[str], text: Text, question: str = ""
) -> list[ClaimVerdict]:
    """Return a verdict on each claim, as `reader.support.judge_claims` does.

    An entailment model compares each claim with the sentences that share most words with it and, if
    it fits, with the whole text: support is the highest probability of entailment, contradiction
    that of the sentence that shares most words, because one about something else contradicts
    nothing. A model that only knows contradiction reads the whole text, or the deciding sentence,
    and lowers the reader's own support. An embedding model uses the similarity of the nearest
    sentence; it cannot distinguish a claim from its denial, so `contradiction` is always 0.
    """
    if len(text.raw) > MAX_READ:
        text = read_text(text.raw[:MAX_READ])
    if not (claims and text.sentences):
        return [ClaimVerdict("not stated", 0.0, 0.0, 0, 0) for _ in claims]
    if model.kind == "embedding":
        return _judge_by_similarity(model, claims, text, _CLAIM)
    if model.kind == "contradiction":
        return _judge_by_contradiction(model, claims, text, question)
    return _judge_by_entailment(model, claims, text, question)


def judge_topics_locally(
    model: LocalModel, topics: Sequence[str], text: Text
) -> list[ClaimVerdict]:
    """Return a verdict on each topic ("the price"): does the text mention it? No contradiction.

    For an embedding model, a topic is less similar to a sentence about it than a statement is, so
    topics have their own scale; an entailment model gets the topic as a statement. A model that
    only knows contradiction is not used: the reader decides.
    """
    if len(text.raw) > MAX_READ:
        text = read_text(text.raw[:MAX_READ])
    if model.kind == "embedding" and topics and text.sentences:
        return _judge_by_similarity(model, topics, text, _TOPIC)
    if model.kind == "entailment" and topics and text.sentences:
        statements = [f"This is about {topic}." for topic in topics]
        found = _judge_by_entailment(model, statements, text, "")
    else:
        found = judge_claims(topics, text)
    return [_make_verdict(one.support, 0.0, (one.start, one.end)) for one in found]


def _judge_by_entailment(
    model: LocalModel, claims: Sequence[str], text: Text, question: str
) -> list[ClaimVerdict]:
    words = [set(split_words(one.text)) for one in text.sentences]
    whole = [text.raw] if len(text.sentences) > 1 and model.fits(text.raw) else []
    chosen, pairs = [], []
    for claim in claims:
        wanted = set(split_words(claim))
        shared = [len(wanted & found) for found in words]
        order = sorted(range(len(words)), key=shared.__getitem__, reverse=True)
        best = [text.sentences[place] for place in order[:_SENTENCES]]
        chosen.append(best)
        pairs += [_pair(one, claim, question) for one in [*(one.text for one in best), *whole]]
    found = model.entail(pairs)
    verdicts, each = [], len(pairs) // len(claims)
    for number, best in enumerate(chosen):
        mine = found[number * each : (number + 1) * each]
        deciding = max(range(each), key=[one.support for one in mine].__getitem__)
        sentence = best[deciding] if deciding < len(best) else best[0]
        place = (sentence.start, sentence.end)
        verdicts.append(_make_verdict(mine[deciding].support, mine[0].contradiction, place))
    return verdicts


def _judge_by_contradiction(
    model: LocalModel, claims: Sequence[str], text: Text, question: str
) -> list[ClaimVerdict]:
    read = [judge_claims([claim], text, question)[0] for claim in claims]
    whole = text.raw if model.fits(text.raw) else ""
    premises = [whole or text.raw[one.start : one.end] for one in read]
    pairs = [_pair(*pair, question) for pair in zip(premises, claims, strict=True)]
    return [
        _make_verdict(
            one.support * (1 - found.contradiction), found.contradiction, (one.start, one.end)
        )
        for one, found in zip(read, model.entail(pairs), strict=True)
    ]


def _judge_by_similarity(
    model: LocalModel, claims: Sequence[str], text: Text, scale: _Scale
) -> list[ClaimVerdict]:
    step = math.ceil(len(text.sentences) / _MAX_PASSAGES)
    spans = [
        (group[0].start, group[-1].end)
        for group in (text.sentences[at : at + step] for at in range(0, len(text.sentences), step))
    ]
    vectors = model.embed([*claims, *(text.raw[start:end] for start, end in spans)])
    verdicts = []
    for claim in vectors[: len(claims)]:
        cosines = [float(claim @ passage) for passage in vectors[len(claims) :]]
        nearest = max(range(len(cosines)), key=cosines.__getitem__)
        support = 1 / (1 + math.exp(-scale.steepness * (cosines[nearest] - scale.even)))
        verdicts.append(_make_verdict(support, 0.0, spans[nearest]))
    return verdicts


def _pair(premise: str, claim: str, question: str) -> tuple[str, str]:
    if question and len(split_words(claim)) <= _MAX_ANSWER:
        return f"{question} {premise}", f"{question} {claim}"
    return premise, claim


def _make_verdict(support: float, contradiction: float, place: tuple[int, int]) -> ClaimVerdict:
    kind: Kind = "not stated"
    if max(support, contradiction) >= 0.5:
        kind = "supported" if support >= contradiction else "contradicted"
    return ClaimVerdict(kind, support, contradiction, *place)
