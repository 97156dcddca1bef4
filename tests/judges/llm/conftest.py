"""Scripted models and helpers for judges that ask one question per item."""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fourscore.core import Case, Rubric, Score, Signal, Trace, Usage, score
from fourscore.models.messages import Request
from fourscore.models.scripted import ScriptedModel

from .scripts import number_of, word_of

#: A choice and a quotation, by words of the item in question.
Verdicts = Mapping[str, tuple[str, str]]


def fenced(ask: Request, title: str) -> str:
    """Return the text in the fence of that title, or on its line; "" if there is none."""
    text = ask.messages[-1].content
    if ask.schema is None:
        line = re.search(rf"^{title.capitalize()}: (.*)$", text, re.MULTILINE)
        return line[1] if line else ""
    number = number_of(ask)
    found = re.search(rf"\[{number} {title}\]\n(.*?)\n\[{number} /{title}\]", text, re.DOTALL)
    return found[1] if found else ""


@pytest.fixture
def deciding() -> Callable[..., ScriptedModel]:
    """Make a model that decides by words of the item in question.

    Each word has a choice and a quotation; an item with none of the words gets the lowest choice.
    Lists are given by the name of their field. In the brief form the model replies with one word.
    """

    def made(title: str, verdicts: Verdicts, **lists: Any) -> ScriptedModel:
        def script(ask: Request) -> Mapping[str, Any] | str:
            if ask.schema is None:
                last = ask.messages[-1].content.rsplit("\n", 1)[1]
                item = fenced(ask, title) or fenced(ask, "CORRECT ANSWER") or last
                worst = "unreliable" if "unreliable" in last else "no"
                return word_of(
                    next((v[0] for words, v in verdicts.items() if words in item), worst)
                )
            number, fields = number_of(ask), ask.schema["properties"]
            if "verdict" not in fields:
                return {"number": number, **{name: lists[name] for name in fields if name in lists}}
            item = fenced(ask, title) or ask.messages[1].content.rsplit("\n\n", 1)[1]
            choices = fields["verdict"]["enum"]
            lowest = ("absent" if "absent" in choices else choices[0], "")
            choice, evidence = next((v for words, v in verdicts.items() if words in item), lowest)
            return {"number": number, "evidence": evidence, "verdict": choice}

        return ScriptedModel(script)

    return made


def measured(judge: Any, case: Case, trace: Trace, tries: int = 1) -> Signal:
    """Return the judge's signal, and check that its evidence exists and its usage is bounded.

    `tries` is how many requests each verdict takes.
    """
    before = judge.model.calls
    (signal,) = asyncio.run(judge.judge(case, trace))
    spent = judge.model.calls - before
    used, most = signal.usage or Usage(), judge.most(case)
    assert used.calls == spent <= tries * most.calls
    assert used.input_tokens <= tries * most.input_tokens
    assert used.output_tokens <= tries * most.output_tokens
    for piece in signal.evidence:
        if piece.field == "output":
            assert piece.start is not None
            assert piece.text == trace.answer[piece.start : piece.end]
    if signal.value is not None:
        assert signal.reason.endswith(
            ("(confidence: high)", "(confidence: medium)", "(confidence: low)")
        )
    assert isinstance(signal, Signal)
    return signal


@pytest.fixture
def judged() -> Callable[..., Signal]:
    return measured


@pytest.fixture
def scored() -> Callable[..., Score]:
    def given(judge: Any, case: Case, trace: Trace) -> Score:
        (one,) = asyncio.run(score(Rubric.from_judge(judge), case, [trace]))
        return one

    return given
