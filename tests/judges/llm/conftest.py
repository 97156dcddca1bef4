"""Models by script and a way to judge with them, for judges that ask one thing at a time."""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fourscore.core import Case, Rubric, Score, Signal, Trace, Usage, score
from fourscore.models.messages import Request
from fourscore.models.scripted import ScriptedModel

from .scripts import number_of, word_of

Said = Mapping[str, tuple[str, str]]


def fenced(ask: Request, title: str) -> str:
    """What stands in the fence of that title, or on its line; nothing without one."""
    text = ask.messages[-1].content
    if ask.schema is None:
        line = re.search(rf"^{title.capitalize()}: (.*)$", text, re.MULTILINE)
        return line[1] if line else ""
    number = number_of(ask)
    found = re.search(rf"\[{number} {title}\]\n(.*?)\n\[{number} /{title}\]", text, re.DOTALL)
    return found[1] if found else ""


@pytest.fixture
def deciding() -> Callable[..., ScriptedModel]:
    """A model that goes by words of the one thing in question: a verdict and a quotation each, the
    lowest verdict for what has none of the words. Lists by the name of their field. A brief
    question is answered with the word alone."""

    def made(title: str, said: Said, **lists: Any) -> ScriptedModel:
        def script(ask: Request) -> Mapping[str, Any] | str:
            if ask.schema is None:
                last = ask.messages[-1].content.rsplit("\n", 1)[1]
                thing = fenced(ask, title) or fenced(ask, "CORRECT ANSWER") or last
                worst = "unreliable" if "unreliable" in last else "no"
                return word_of(next((v[0] for words, v in said.items() if words in thing), worst))
            number, fields = number_of(ask), ask.schema["properties"]
            if "verdict" not in fields:
                return {"number": number, **{name: lists[name] for name in fields if name in lists}}
            thing = fenced(ask, title) or ask.messages[1].content.rsplit("\n\n", 1)[1]
            choices = fields["verdict"]["enum"]
            lowest = ("absent" if "absent" in choices else choices[0], "")
            choice, evidence = next((v for words, v in said.items() if words in thing), lowest)
            return {"number": number, "evidence": evidence, "verdict": choice}

        return ScriptedModel(script)

    return made


def measured(judge: Any, case: Case, trace: Trace, tries: int = 1) -> Signal:
    """The signal of a judge, whose promises are checked: evidence that is there, and a bound for
    verdicts that take that many tries."""
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
