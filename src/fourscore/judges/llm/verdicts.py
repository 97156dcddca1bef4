"""A model's verdict and its two forms: one word, or JSON with check number, evidence and choice."""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any, Literal

import msgspec

from fourscore.core import Evidence, Usage, freeze
from fourscore.judges.answer_extraction import remove_thinking

#: `brief`: a plain question, answered with one word. `full`: check number, quotation and verdict.
Form = Literal["brief", "full"]

#: Longest text, in characters, that a schema allows where the server enforces it as a grammar.
LONGEST = 200
#: The choices of a yes-or-no question, from the worst to the best.
YES_NO = ("no", "yes")
_PLAIN = {word: word for word in YES_NO}
_SUPPORT = {"no": "absent", "yes": "supported"}
#: For each prompt with a brief form: the allowed one-word replies and the choice that each means,
#: from the worst to the best.
BRIEF_WORDS: dict[str, dict[str, str]] = {
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
#: First characters of the Chinese words for yes and no.
_CHINESE = {"是": "yes", "否": "no", "不": "no"}
_LETTERS = re.compile(r"[^\W\d_]+")


class ModelVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """A model's choice, the words that it quoted, and their position in the text (`evidence`).

    `probabilities` are the model's own, by choice; None without log-probabilities. Without
    `asked_to_quote` the judge itself searched for the evidence.
    """

    choice: str
    quotation: str = ""
    evidence: Evidence | None = None
    probabilities: Mapping[str, float] | None = None
    usage: Usage
    asked_to_quote: bool = True

    @property
    def choice_probability(self) -> float:
        """The model's probability of its choice; 1 without log-probabilities."""
        return 1.0 if self.probabilities is None else self.probabilities[self.choice]

    @property
    def is_quotation_missing(self) -> bool:
        """Whether the model was asked to quote and its quotation is not in the text."""
        return self.asked_to_quote and self.evidence is None

    def get_probability(self, choice: str) -> float:
        """Return the model's probability of a choice; 1 or 0 without log-probabilities."""
        if self.probabilities is None:
            return float(self.choice == choice)
        return self.probabilities.get(choice, 0.0)


def read_word(reply: str, words: Collection[str]) -> str | None:
    """Return the first word of a reply, after any thinking; None if it is not an allowed word."""
    found = _LETTERS.search(remove_thinking(reply))
    return None if found is None else match_word(found[0], words)


def match_word(text: str, words: Collection[str]) -> str | None:
    """Return the allowed word that equals the text, ignoring case, or its Chinese yes or no."""
    low = text.casefold()
    word = _CHINESE.get(low[:1], low)
    return word if word in words else None


@lru_cache(maxsize=256)
def make_verdict_schema(
    choices: tuple[str, ...], number: str | None = None, *, quoting: bool = True
) -> dict[str, Any]:
    """Return the JSON Schema of a verdict: check number, evidence if quoted, choice, in order."""
    evidence = {"evidence": make_text_schema(number)} if quoting else {}
    verdict = {"type": "string", "enum": list(choices)}
    return make_reply_schema({**evidence, "verdict": verdict}, number)


def make_text_schema(number: str | None) -> dict[str, Any]:
    """Return the schema of a text by the model, with a maximum length if `number` is given.

    A small model may not end its text; a server that enforces the schema as a grammar then ends it.
    """
    return {"type": "string"} if number is None else {"type": "string", "maxLength": LONGEST}


def make_reply_schema(fields: Mapping[str, Any], number: str | None) -> dict[str, Any]:
    """Return the schema of a reply: an object with the check number, then these fields.

    With `number`, the schema allows only that check number.
    """
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
