"""The form of a verdict, as JSON Schema: the number of the material, evidence, then the choice."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from rubrica.core import freeze

#: Characters of a text whose end a grammar has to set.
LONGEST = 200
#: From the worst to the best.
YES_NO = ("no", "yes")


@lru_cache(maxsize=256)
def verdict_schema(
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
