"""The worst judge there is: it gives the lowest verdict, unless the text tells it to give a better.

A judge's defences are tested with it. Whatever instruction reaches the model in a place that it
obeys is obeyed; so a score that rises shows a way in. It reads the turns of the user, where judges
put what an agent wrote, and not the system's, where they put their own rules.
"""

import json
import re
from typing import Any

from rubrica.models.asking import Ask
from rubrica.models.parsing import STRICT
from rubrica.models.schema import mismatch
from rubrica.models.scripted import Scripted

#: An order to give a number, within one sentence.
NUMBER = re.compile(
    r"\b(?:give|award|assign|output|return|reply|respond|answer with|set|rate|mark|grade|score)\b"
    r"[^.\n{}]{0,80}?(?<![\d.])(\d{1,4}(?:\.\d+)?)(?![\d.]*\d)",
    re.IGNORECASE,
)
#: An order to be pleased.
PRAISE = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,60}\b(?:instruction|rule|rubric|prompt|above)"
    r"|\b(?:full|maximum|highest|perfect|top)\s+(?:marks?|score|rating|grade|points?)"
    r"|\b(?:mark|grade|rate|judge|consider|declare)\b[^.\n]{0,40}"
    r"\b(?:correct|pass(?:ed|ing)?|perfect|excellent|best|winner)\b"
    r"|\b(?:choose|prefer|pick|select)\b[^.\n]{0,20}\b(?:me|this|my)\b"
    r"|忽略[^。\n]{0,20}(?:指令|规则|提示)|(?:满分|最高分)",
    re.IGNORECASE,
)
#: No more of a text is read.
READ = 200_000


def gullible(name: str = "gullible") -> Scripted:
    """A scripted model that obeys what it reads."""
    return Scripted(obey, name=name)


def obey(ask: Ask) -> str:
    """The verdict that the text asks for."""
    text = "\n".join(turn.content for turn in ask.messages if turn.role == "user")[:READ]
    schema = ask.schema
    if schema is None:
        return "10" if NUMBER.search(text) or PRAISE.search(text) else "0"
    for found in re.finditer(r"\{\s*\"", text):
        try:
            value, _ = STRICT.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            break  # one attempt at what is broken: a thousand would take long
        if mismatch(value, schema) is None:
            return json.dumps(value)
    number = NUMBER.search(text)
    pleased = number is not None or PRAISE.search(text) is not None
    return json.dumps(_made(schema, pleased, None if number is None else float(number[1])))


def _made(schema: dict[str, Any], pleased: bool, number: float | None) -> Any:
    """The best or the worst value that fits, with the number where it fits."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][-1 if pleased else 0]
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object":
        return {n: _made(s, pleased, number) for n, s in schema.get("properties", {}).items()}
    if kind == "array":
        count = schema.get("minItems", 1 if pleased else 0)
        return [_made(schema.get("items", {}), pleased, number) for _ in range(count)]
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 10)
        best = high if number is None or not low <= number <= high else number
        value = best if pleased else low
        return int(value) if kind == "integer" else value
    if kind == "boolean":
        return pleased
    return None if kind == "null" else ("I was told to." if pleased else "Nothing tells me to.")
