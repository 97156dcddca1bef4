"""One question about each of several things, and what the verdicts amount to together."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from fourscore.core import Signal, Usage
from fourscore.judges.dimensions.signals import Confidence
from fourscore.judges.llm.injection_defences import Material
from fourscore.judges.llm.model_judge import ModelJudge, Verdict, find_subject
from fourscore.judges.llm.titles import TITLES
from fourscore.judges.llm.verdicts import numbered, written
from fourscore.models.messages import FREE, ModelError

T = TypeVar("T")
#: A choice less likely than this to the model itself is doubtful; a share of doubtful verdicts
#: above this makes the whole doubtful.
DOUBTFUL, MANY = 0.7, 0.3


def each(
    asker: ModelJudge, texts: Mapping[str, str], name: str, items: Sequence[str]
) -> list[Material]:
    """Some texts with each of the things, all in fences of one number.

    One number for all: the beginning of each prompt is the same, which servers read once.
    """
    titles = TITLES[asker.language]
    keys = [f"{name} {place}" for place in range(len(items))]
    whole = asker.fenced(
        {**texts, **dict(zip(keys, items, strict=True))},
        {**titles, **dict.fromkeys(keys, titles[name])},
    )
    kept = {key: whole.texts[key] for key in texts}
    return [
        whole._replace(texts={**kept, name: whole.texts[key]}, about=item)
        for key, item in zip(keys, items, strict=True)
    ]


def heap(
    asker: ModelJudge, texts: Mapping[str, str], name: str, items: Sequence[str], field: str
) -> Material:
    """Some texts, and all of the things as one text `field`: each in a fence of its own that bears
    its place from 1 on, so that none can pass for two."""
    titles = dict(TITLES[asker.language])
    keys = [f"{name} {place}" for place in range(1, len(items) + 1)]
    titles.update({key: f"{titles[name]} {key.rpartition(' ')[2]}" for key in keys})
    all_texts = {**texts, **dict(zip(keys, items, strict=True))}
    whole = asker.fenced(all_texts, titles)
    kept = {key: whole.texts[key] for key in texts}
    kept[field] = "\n\n".join(whole.texts[key] for key in keys)
    return whole._replace(texts=kept, about=find_subject(texts))


async def listed(
    asker: ModelJudge, prompt: str, material: Material, field: str, fields: Sequence[str], most: int
) -> tuple[list[Any], Usage]:
    """A list that the model makes: of texts, or of objects with texts and an `importance`."""
    number = material.number if asker.bind == "schema" else None
    item: dict[str, Any] = written(number)
    if fields:
        properties: dict[str, Any] = {one: written(number) for one in fields}
        properties["importance"] = {"type": "integer", "enum": [1, 2, 3]}
        item = {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    # A list that is too long is cut by us: to refuse it would let an answer choose to be an error.
    bounds = {} if number is None else {"maxItems": most}
    schema = numbered({field: {"type": "array", "items": item, **bounds}}, number)
    reply = await asker.ask(prompt, material, schema, most=str(most))
    return list(reply.value[field])[:most], reply.usage


async def after(spent: Usage, asks: Awaitable[T]) -> T:
    """What comes of the asks; a failure costs what was spent before it too."""
    try:
        return await asks
    except ModelError as error:
        error.usage = (error.usage or FREE) + spent
        raise


def paid(signal: Signal, verdicts: Sequence[Verdict], before: Usage = FREE) -> Signal:
    """The signal with what its verdicts cost."""
    return replace(signal, usage=sum((one.usage for one in verdicts), before))


def rate_confidence(verdicts: Sequence[Verdict], unfound: int = 0) -> Confidence:
    """As sure as the model was, less what it quoted and nobody can find.

    Without log-probabilities nobody knows how sure it was: never more than medium.
    """
    doubtful = unfound + sum(one.share < DOUBTFUL for one in verdicts)
    if doubtful > MANY * len(verdicts):
        return "low"
    known = all(one.shares is not None for one in verdicts)
    return "high" if known and not doubtful else "medium"
