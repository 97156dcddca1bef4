"""Scripted models for judges: a function of the question gives the verdict."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from fourscore.models.messages import Request
from fourscore.models.scripted import ScriptedModel

NUMBER = re.compile(r"\[([0-9a-f]{12}) ")


def number_of(ask: Request) -> str:
    """Return the check number in the fences of a judge's question."""
    found = NUMBER.search(ask.messages[1].content)
    assert found is not None
    return found[1]


def answering(decide: Callable[[str], Mapping[str, Any]], name: str = "scripted") -> ScriptedModel:
    """Make a model that copies the check number and decides by the text of the question."""

    def script(ask: Request) -> Mapping[str, Any]:
        return {"number": number_of(ask), **decide(ask.messages[1].content)}

    return ScriptedModel(script, name=name)


def verdict(choice: str, evidence: str = "") -> Mapping[str, Any]:
    return {"evidence": evidence, "verdict": choice}


def word_of(choice: str) -> str:
    """Return the brief form's word for a choice of the full form."""
    if choice in ("primary", "secondary", "unreliable"):
        return choice
    return "Yes" if choice in ("yes", "supported") else "No"
