"""How sure a model was of a choice, from the log-probabilities of the token that decided it."""

import json
from collections.abc import Collection, Sequence
from math import exp

from fourscore.judges.llm.verdicts import match_word
from fourscore.models.messages import Response

#: The least probability of all words together, where one of them was asked for.
LEAST = 0.05


def read_choice_probabilities(
    reply: Response, key: str, choices: Sequence[str]
) -> dict[str, float] | None:
    """The share of each choice at the place where the value of `key` begins; None without them.

    The last such key counts: the verdict comes last, and evidence may quote another.
    """
    if not reply.logprobs or not isinstance(reply.value, dict):
        return None
    text = "".join(token.text for token in reply.logprobs)
    head = text.rfind(f'"{key}"')
    if head < 0:
        return None
    begin = text.find(json.dumps(reply.value[key]), head + len(key) + 2) + 1
    if begin <= head:
        return None
    at = 0
    for token in reply.logprobs:
        if at <= begin < at + len(token.text):
            return _shares(
                token.text, begin - at, (*token.top, (token.text, token.logprob)), choices
            )
        at += len(token.text)
    return None


def read_word_probabilities(reply: Response, words: Collection[str]) -> dict[str, float] | None:
    """The share of each word at the reply's first word, behind any thinking; None without them.

    `Yes`, ` yes` and `是` are one word here. A token that begins several words counts for none. Nor
    is there a share where other beginnings are far likelier: the model was about to say no word.
    """
    text = "".join(token.text for token in reply.logprobs)
    begin = text.rfind("</think>") + len("</think>") if "</think>" in text else 0
    at = 0
    for token in reply.logprobs:
        at += len(token.text)
        if at <= begin or not _bare(token.text):
            continue
        mass = dict.fromkeys(words, 0.0)
        for piece, logprob in {**dict(token.top), token.text: token.logprob}.items():
            if (word := _begun(_bare(piece), words)) is not None:
                mass[word] += exp(logprob)
        total = sum(mass.values())
        return {word: part / total for word, part in mass.items()} if total >= LEAST else None
    return None


def _bare(piece: str) -> str:
    return piece.strip(" \t\r\n\"'*`._:▁Ġ").casefold()


def _begun(piece: str, words: Collection[str]) -> str | None:
    """The only word that a token can be the beginning of, or is."""
    if (whole := match_word(piece, words)) is not None:
        return whole
    fits = [word for word in words if piece and word.startswith(piece)]
    return fits[0] if len(fits) == 1 else None


def _shares(
    text: str, skip: int, top: Sequence[tuple[str, float]], choices: Sequence[str]
) -> dict[str, float] | None:
    """What the likeliest tokens in that place would have begun.

    A token may carry the quotation mark before the word; one that fits two choices tells nothing.
    """
    mass = dict.fromkeys(choices, 0.0)
    before = text[:skip]
    for word, logprob in dict(top).items():
        if not word.startswith(before):
            continue
        start = word[skip:].rstrip('"}, \n')
        fits = [
            one for one in choices if start and (one.startswith(start) or start.startswith(one))
        ]
        if len(fits) == 1:
            mass[fits[0]] += exp(logprob)
    total = sum(mass.values())
    return {one: part / total for one, part in mass.items()} if total > 0 else None
