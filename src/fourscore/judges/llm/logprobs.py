"""A model's probability of each choice, from the log-probabilities of the deciding token."""

import json
from collections.abc import Collection, Sequence
from math import exp

from fourscore.judges.llm.verdicts import match_word
from fourscore.models.messages import Response

#: The allowed words must have at least this probability together.
LEAST = 0.05


def read_choice_probabilities(
    reply: Response, key: str, choices: Sequence[str]
) -> dict[str, float] | None:
    """Return the probability of each choice where the value of `key` begins, scaled to sum to 1.

    None without log-probabilities. The last occurrence of `key` counts: the verdict comes last, and
    the evidence before it may quote such a key.
    """
    if not reply.logprobs or not isinstance(reply.value, dict):
        return None
    text = "".join(token.text for token in reply.logprobs)
    head = text.rfind(f'"{key}"')
    if head < 0 or (reply.extra_keys and text.find(f'"{key}"') != head):
        return None  # a key that was ignored may hold another verdict
    begin = text.find(json.dumps(reply.value[key]), head + len(key) + 2) + 1
    if begin <= head:
        return None
    at = 0
    for token in reply.logprobs:
        if at <= begin < at + len(token.text):
            return _sum_choices(
                token.text, begin - at, (*token.top, (token.text, token.logprob)), choices
            )
        at += len(token.text)
    return None


def read_word_probabilities(reply: Response, words: Collection[str]) -> dict[str, float] | None:
    """Return the probability of each word as the reply's first word, scaled to sum to 1.

    None without log-probabilities, or if all allowed words together have less than `LEAST`.
    Thinking is skipped. `Yes`, ` yes` and `是` count as one word. A token that is the beginning of
    several words counts for none of them.
    """
    text = "".join(token.text for token in reply.logprobs)
    begin = text.rfind("</think>") + len("</think>") if "</think>" in text else 0
    at = 0
    for token in reply.logprobs:
        at += len(token.text)
        if at <= begin or not _strip_marks(token.text):
            continue
        mass = dict.fromkeys(words, 0.0)
        for piece, logprob in {**dict(token.top), token.text: token.logprob}.items():
            if (word := _match_beginning(_strip_marks(piece), words)) is not None:
                mass[word] += exp(logprob)
        total = sum(mass.values())
        return {word: part / total for word, part in mass.items()} if total >= LEAST else None
    return None


def _strip_marks(piece: str) -> str:
    return piece.strip(" \t\r\n\"'*`._:▁Ġ").casefold()


def _match_beginning(piece: str, words: Collection[str]) -> str | None:
    """Return the only word that equals or starts with the token; None if there is not just one."""
    if (whole := match_word(piece, words)) is not None:
        return whole
    fits = [word for word in words if piece and word.startswith(piece)]
    return fits[0] if len(fits) == 1 else None


def _sum_choices(
    text: str, skip: int, top: Sequence[tuple[str, float]], choices: Sequence[str]
) -> dict[str, float] | None:
    """Return the probability of each choice, summed over the likeliest tokens at one position.

    The first `skip` characters of `text` (such as a quotation mark) come before the choice. A token
    that fits two choices is ignored.
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
