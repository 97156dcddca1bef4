"""Failures and prompts for the tests of mutations, and a model that writes as it is told."""

import re
from collections.abc import Callable
from typing import Any

from fourscore.core import Case, Evidence, Score, Signal, Status, Trace
from fourscore.evolve.mutations.failures import Failure
from fourscore.models.messages import Request
from fourscore.models.scripted import ScriptedModel

PARENT = """You are a support agent for {shop}.

Rules:
- Be polite.
- Never promise a refund.
- Always cite the policy you rely on.

Steps:
1. Read the question.
2. Look up the order.
3. Answer it.

The answer must be short. Do not use tables. Write plain text.

Question: {question}
"""
NUMBER = re.compile(r"number of this request is ([0-9a-f]{12})|本次请求的编号是 ([0-9a-f]{12})")


def failure(
    output: str = "I do not know.", *, evidence: str = "", reason: str = "", **signals: Any
) -> Failure:
    """A failure with these signals."""
    pieces = (Evidence(text=evidence),) if evidence else ()
    found = tuple(
        Signal(name=name, value=value, reason=reason, evidence=pieces)
        for name, value in signals.items()
    )
    score = Score(status=Status.SCORED, value=0.3, passed=False, reward=0.3, signals=found)
    return Failure.from_score(Case(input="Where is it?"), Trace(output=output), score)


def number_of(ask: Request) -> str:
    found = NUMBER.search(ask.messages[-1].content)
    assert found is not None
    return found[1] or found[2]


def writing(text: str | Callable[[Request], str], **others: Any) -> ScriptedModel:
    """A model that always writes this prompt, with the number it was shown."""

    def answer(ask: Request) -> dict[str, Any]:
        prompt = text(ask) if callable(text) else text
        return {"number": number_of(ask), "evidence": "They lack a source.", "prompt": prompt}

    return ScriptedModel(answer, **others)
