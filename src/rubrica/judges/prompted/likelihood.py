"""How sure a model was of a choice, from the log-probabilities of the token that decided it."""

import json
from collections.abc import Sequence
from math import exp

from rubrica.models.asking import Reply


def likelihoods(reply: Reply, key: str, choices: Sequence[str]) -> dict[str, float] | None:
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
