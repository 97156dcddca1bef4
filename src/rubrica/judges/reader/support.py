"""How likely a text supports a claim, how likely it contradicts it, and which sentence says so."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from rubrica.judges.reader.text import Text, words_of

Kind = Literal["supported", "contradicted", "not stated"]


class Verdict(NamedTuple):
    """What a text says of a claim. `start` and `end` are the place of the sentence that decides."""

    kind: Kind
    support: float
    contradiction: float
    start: int
    end: int


def judge_claims(claims: Sequence[str], text: Text, question: str = "") -> list[Verdict]:
    """A verdict on each claim. `question` is what the text answers: its words prove nothing."""
    return [_verdict(claim, text, question) for claim in claims]


def _verdict(claim: str, text: Text, question: str) -> Verdict:
    asked = set(words_of(question))
    wanted = [word for word in words_of(claim) if word not in asked] or words_of(claim)
    best, place = 0.0, (0, 0)
    for sentence in text.sentences:
        said = set(words_of(sentence.text))
        share = sum(word in said for word in wanted) / max(1, len(wanted))
        if share > best:
            best, place = share, (sentence.start, sentence.end)
    return Verdict("supported" if best > 0.6 else "not stated", best, 0.0, *place)
