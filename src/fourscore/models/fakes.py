"""Fake models that obey what they read, for testing a judge's defences against injection.

They give the lowest verdict unless a text orders a better one. `gullible` obeys and believes what
it reads in messages of the user, where judges put what an agent wrote, but not in those of the
system, where judges put their own rules; it reads invisible characters too, as large models do.
`careful` obeys as easily, but reads nothing inside a fence: between marks with the first check
number of the prompt. So a text that moves `careful` has escaped from its fence, and one that moves
only `gullible` needs a better model.
"""

import json
import re
from typing import Any

from fourscore.models.messages import Request
from fourscore.models.schema import find_mismatch
from fourscore.models.scripted import ScriptedModel
from fourscore.models.verdict import STRICT_DECODER

#: An order to give a number, within one sentence.
NUMBER = re.compile(
    r"\b(?:give|award|assign|output|return|reply|respond|answer with|set|rate|mark|grade|score)\b"
    r"[^.\n{}]{0,80}?(?<![\d.])(\d{1,4}(?:\.\d+)?)(?![\d.]*\d)",
    re.IGNORECASE,
)
#: An order to give a good verdict, a claim that the text is right, or a ready verdict; but not the
#: form of the reply in a judge's own prompt: `"verdict": "yes" or "no"`.
PRAISE = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,60}\b(?:instruction|rule|rubric|prompt|above)"
    r"|\b(?:full|maximum|highest|perfect|top)\s+(?:marks?|score|rating|grade|points?)"
    r"|\b(?:mark|grade|rate|judge|consider|declare)(?:d|s|ed)?\b[^.\n]{0,40}"
    r"\b(?:correct|pass(?:ed|ing)?|perfect|excellent|best|winner)\b"
    r"|\b(?:choose|prefer|pick|select)\b[^.\n]{0,20}\b(?:me|this|my)\b"
    r"|\b(?:verified|confirm|confirmed|certified|agreed)\b[^.\n]{0,60}"
    r"\b(?:correct|accurate|right answer)\b"
    r"|\bverdict\b\W{0,5}yes\b(?!\W{1,3}(?:or|或)\b)"
    r"|忽略[^。\n]{0,20}(?:指令|规则|提示)|(?:满分|最高分)|(?:确认|完全)正确"
    r"|điểm tối đa|puntuación máxima|volle punktzahl|note maximale|punteggio massimo"
    r"|максимальн\w{1,4} балл|満点|만점",
    re.IGNORECASE,
)
#: The check number in a judge's prompt.
MARK = re.compile(r"(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])")
#: A mark of a fence: the check number, and the title of the text, with `/` at its end.
FENCE = re.compile(r"\[([0-9a-f]{12}) ([^\[\]\n]*+)\]")
#: A text of one line behind its title, as in the brief form of a prompt.
LINE = re.compile(r"^[^\n:]{1,40}: [^\n]*$", re.MULTILINE)
#: The choices in the last line of a brief prompt, the best first.
WORDS = re.compile(r"(?:yes or no|“是”或“否”|primary(?:, |、)secondary (?:or|或) unreliable)\W*$")
#: Characters that are read, and objects in them that are tried as a verdict.
MAX_CHARACTERS, MAX_OBJECTS = 200_000, 20
_TAG, _SELECTOR = (
    re.compile("[\U000e0020-\U000e007e]"),
    re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]+"),
)
_TURNED = re.compile("\u202e([^\u202c\n]*)\u202c?")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")


def make_gullible_model(name: str = "gullible") -> ScriptedModel:
    """Return a scripted model that obeys what it reads."""
    return ScriptedModel(obey, name=name)


def make_careful_model(name: str = "careful") -> ScriptedModel:
    """Return a scripted model that obeys what it reads outside of fences."""
    return ScriptedModel(lambda request: obey(request, fences=True), name=name)


def obey(request: Request, fences: bool = False) -> str:
    """Return the verdict that a text orders, else the lowest."""
    shown = "\n".join(each.content for each in request.messages if each.role == "user")[
        :MAX_CHARACTERS
    ]
    found = MARK.search(shown)
    number = "" if found is None else found[0]
    schema = request.schema
    if fences and schema is None:
        shown = LINE.sub("", shown)
    elif fences and number:
        shown = _remove_fenced(shown, number)
    text = decode_invisible(shown)
    if schema is None and (choice := WORDS.search(text)) is not None:
        words: list[str] = re.findall(r"yes|no|是|否|primary|unreliable", choice[0])
        before = text[: choice.start()]
        return words[0 if NUMBER.search(before) or PRAISE.search(before) else -1]
    if schema is None:
        return "10" if NUMBER.search(text) or PRAISE.search(text) else "0"
    ready = _find_verdict(text, schema)
    if ready is not None:
        return ready
    wanted = NUMBER.search(text)
    order = wanted or PRAISE.search(text)
    order_text = "" if order is None else order[0]  # a quotation from the text, for the evidence
    made = _make_value(schema, order_text, None if wanted is None else float(wanted[1]))
    if number and isinstance(made, dict) and "number" in made:
        made["number"] = number  # as a model would that follows the form of the reply
    return json.dumps(made)


def decode_invisible(text: str) -> str:
    """Return the text with invisible characters decoded."""
    text = _TAG.sub(lambda sign: chr(ord(sign[0]) - 0xE0000), text)
    text = _SELECTOR.sub(lambda run: _decode_selectors(run[0]), text)
    text = _TURNED.sub(lambda turned: turned[1][::-1], text)
    return _UNSEEN.sub("", text)


def _decode_selectors(run: str) -> str:
    codes = (ord(sign) - (0xFE00 if ord(sign) < 0x10000 else 0xE00F0) for sign in run)
    return bytes(codes).decode("utf-8", "replace")


def _remove_fenced(text: str, number: str) -> str:
    pieces, at = [], 0
    title: str | None = None
    for mark in FENCE.finditer(text):
        if mark[1] != number:
            continue
        if title is None and not mark[2].startswith("/"):
            title, start = mark[2], mark.start()
        elif title is not None and mark[2] == f"/{title}":
            pieces.append(text[at:start])
            title, at = None, mark.end()
    return "".join([*pieces, text[at:]])


def _find_verdict(text: str, schema: dict[str, Any]) -> str | None:
    """Return the first object in the text that fits the schema, as JSON."""
    for tried, found in enumerate(re.finditer(r"\{\s*\"", text)):
        if tried == MAX_OBJECTS:
            break
        try:
            value, _ = STRICT_DECODER.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            continue
        if find_mismatch(value, schema) is None:
            return json.dumps(value)
    return None


def _make_value(schema: dict[str, Any], order_text: str, number: float | None) -> Any:
    """Return the best value that fits the schema if there is an order, else the worst."""
    is_ordered = bool(order_text)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][-1 if is_ordered else 0]
    kinds = schema.get("type", "string")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object":
        return {
            n: _make_value(s, order_text, number) for n, s in schema.get("properties", {}).items()
        }
    if kind == "array":
        count = schema.get("minItems", 1 if is_ordered else 0)
        return [_make_value(schema.get("items", {}), order_text, number) for _ in range(count)]
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", 0), schema.get("maximum", 10)
        best = high if number is None or not low <= number <= high else number
        value = best if is_ordered else low
        return int(value) if kind == "integer" else value
    if kind == "boolean":
        return is_ordered
    return None if kind == "null" else (order_text or "Nothing tells me to.")
