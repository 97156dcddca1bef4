"""The two forms of a verdict: one word, or JSON with the material's number, evidence and choice."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Literal

from fourscore.core import freeze
from fourscore.judges.answer_extraction import remove_thinking

#: `brief`: a plain question, answered with one word. `full`: number, quotation and verdict.
Form = Literal["brief", "full"]

#: Characters of a text whose end a grammar has to set.
LONGEST = 200
#: From the worst to the best.
YES_NO = ("no", "yes")
_PLAIN = {word: word for word in YES_NO}
_SUPPORT = {"no": "absent", "yes": "supported"}
#: What each prompt with a brief form is answered with, and the choice that the word stands for,
#: from the worst to the best.
WORDS: dict[str, dict[str, str]] = {
    "aspect": _PLAIN,
    "call": _PLAIN,
    "citation": {"no": "unsupported", "yes": "supported"},
    "claim": _SUPPORT,
    "criterion": _PLAIN,
    "grounding": _SUPPORT,
    "short_answer": _PLAIN,
    "source": {word: word for word in ("unreliable", "secondary", "primary")},
    "whole": _PLAIN,
}
#: How Chinese words for yes and no begin.
_CHINESE = {"是": "yes", "否": "no", "不": "no"}
_LETTERS = re.compile(r"[^\W\d_]+")


def read_word(reply: str, words: Collection[str]) -> str | None:
    """The first word of a reply, behind any thinking; None where it is none of those allowed."""
    found = _LETTERS.search(remove_thinking(reply))
    return None if found is None else match_word(found[0], words)


def match_word(text: str, words: Collection[str]) -> str | None:
    """The allowed word that the text is, in any case; a Chinese yes or no counts as one."""
    low = text.casefold()
    word = _CHINESE.get(low[:1], low)
    return word if word in words else None


@lru_cache(maxsize=256)
def make_verdict_schema(
    choices: tuple[str, ...], number: str | None = None, *, quoting: bool = True
) -> dict[str, Any]:
    """Number, evidence where it is quoted, verdict, in this order."""
    evidence = {"evidence": written(number)} if quoting else {}
    verdict = {"type": "string", "enum": list(choices)}
    return numbered({**evidence, "verdict": verdict}, number)


def written(number: str | None) -> dict[str, Any]:
    """Text by the model. Where its server keeps to a grammar, that also ends the text: a small
    model would not."""
    return {"type": "string"} if number is None else {"type": "string", "maxLength": LONGEST}


def numbered(fields: Mapping[str, Any], number: str | None) -> dict[str, Any]:
    """A schema of these fields, all required, after the number of the material."""
    first = {"type": "string"} if number is None else {"type": "string", "const": number}
    properties = {"number": first, **fields}
    schema: dict[str, Any] = freeze(
        {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    )
    return schema
