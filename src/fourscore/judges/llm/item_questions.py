"""Ask one question for each of several items (claims, aspects, calls); sum up their verdicts."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from fourscore.core import Signal, Usage
from fourscore.judges.dimensions.signals import Confidence
from fourscore.judges.llm.injection_defences import FencedTexts
from fourscore.judges.llm.model_judge import ModelJudge, find_subject
from fourscore.judges.llm.prompts import TITLES
from fourscore.judges.llm.verdicts import ModelVerdict, make_reply_schema, make_text_schema
from fourscore.models.messages import NO_USAGE, ModelError

T = TypeVar("T")
#: A verdict is doubtful if the model's probability of its choice is below `DOUBTFUL`. If the share
#: of doubtful verdicts is above `MANY`, the confidence in the signal is low.
DOUBTFUL, MANY = 0.7, 0.3


def fence_each(
    judge: ModelJudge, texts: Mapping[str, str], name: str, items: Sequence[str]
) -> list[FencedTexts]:
    """Return, for each item, the texts and this item in fences, all with one check number.

    With one number for all, every prompt begins alike, so that servers can reuse that part.
    """
    titles = TITLES[judge.language]
    keys = [f"{name} {place}" for place in range(len(items))]
    fenced = judge.fence(
        {**texts, **dict(zip(keys, items, strict=True))},
        {**titles, **dict.fromkeys(keys, titles[name])},
    )
    common = {key: fenced.texts[key] for key in texts}
    return [
        replace(fenced, texts={**common, name: fenced.texts[key]}, subject=item)
        for key, item in zip(keys, items, strict=True)
    ]


def fence_numbered(
    judge: ModelJudge, texts: Mapping[str, str], name: str, items: Sequence[str], field: str
) -> FencedTexts:
    """Return the texts in fences, and all items, each in a numbered fence, as one text `field`.

    The number (from 1) is in the title of the fence, so that one item cannot look like two.
    """
    titles = dict(TITLES[judge.language])
    keys = [f"{name} {place}" for place in range(1, len(items) + 1)]
    titles.update({key: f"{titles[name]} {key.rpartition(' ')[2]}" for key in keys})
    fenced = judge.fence({**texts, **dict(zip(keys, items, strict=True))}, titles)
    shown = {key: fenced.texts[key] for key in texts}
    shown[field] = "\n\n".join(fenced.texts[key] for key in keys)
    return replace(fenced, texts=shown, subject=find_subject(texts))


async def ask_list(
    judge: ModelJudge,
    prompt: str,
    fenced: FencedTexts,
    field: str,
    *,
    item_fields: Sequence[str],
    most: int,
) -> tuple[list[Any], Usage]:
    """Ask the model for a list: of texts, or of objects with `item_fields` and an `importance`."""
    number = fenced.number if judge.bind == "schema" else None
    item: dict[str, Any] = make_text_schema(number)
    if item_fields:
        properties: dict[str, Any] = {one: make_text_schema(number) for one in item_fields}
        properties["importance"] = {"type": "integer", "enum": [1, 2, 3]}
        item = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    # A list that is too long is cut, not refused: else an answer could make itself an error.
    bounds = {} if number is None else {"maxItems": most}
    schema = make_reply_schema({field: {"type": "array", "items": item, **bounds}}, number)
    reply = await judge.ask(prompt, fenced, schema, most=str(most))
    return list(reply.value[field])[:most], reply.usage


async def gather_asks(asks: Sequence[Any]) -> list[Any]:
    """Return all results; after a failure wait for the rest, then raise it with their usage."""
    if len(asks) == 1:  # saves a task
        return [await asks[0]]
    done = await asyncio.gather(*asks, return_exceptions=True)
    failed = [one for one in done if isinstance(one, BaseException)]
    if not failed:
        return list(done)
    first = failed[0]
    if isinstance(first, ModelError):
        first.usage = sum((_get_usage(one) for one in done), NO_USAGE)
    raise first


def _get_usage(done: Any) -> Usage:
    """Return the usage of a verdict or a failure, as far as it is known."""
    return getattr(done, "usage", None) or NO_USAGE


async def add_spent(spent: Usage, asks: Awaitable[T]) -> T:
    """Await `asks`; add `spent`, the usage before them, to the usage of a failure."""
    try:
        return await asks
    except ModelError as error:
        error.usage = (error.usage or NO_USAGE) + spent
        raise


def set_usage(signal: Signal, verdicts: Sequence[ModelVerdict], before: Usage = NO_USAGE) -> Signal:
    """Return the signal with the usage of its verdicts plus `before`, the usage before them."""
    return replace(signal, usage=sum((one.usage for one in verdicts), before))


def rate_confidence(verdicts: Sequence[ModelVerdict], missing: int = 0) -> Confidence:
    """Return the confidence in the verdicts; each missing quotation counts as a doubtful verdict.

    Without log-probabilities it is never more than medium.
    """
    doubtful = missing + sum(one.choice_probability < DOUBTFUL for one in verdicts)
    if doubtful > MANY * len(verdicts):
        return "low"
    known = all(one.probabilities is not None for one in verdicts)
    return "high" if known and not doubtful else "medium"
