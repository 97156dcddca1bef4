"""Models by script and a way to judge with them, for judges that ask one thing at a time."""

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from rubrica.core import Case, Rubric, Score, Signal, Trace, Usage, score
from rubrica.models.asking import Ask
from rubrica.models.scripted import Scripted

from .scripts import number_of

Said = Mapping[str, tuple[str, str]]


def fenced(ask: Ask, title: str) -> str:
    """What stands in the fence of that title; nothing without one."""
    number = number_of(ask)
    found = re.search(
        rf"\[{number} {title}\]\n(.*?)\n\[{number} /{title}\]", ask.messages[1].content, re.DOTALL
    )
    return found[1] if found else ""


@pytest.fixture
def deciding() -> Callable[..., Scripted]:
    """A model that goes by words of the one thing in question: a verdict and a quotation each, the
    lowest verdict for what has none of the words. Lists by the name of their field."""

    def made(title: str, said: Said, **lists: Any) -> Scripted:
        def script(ask: Ask) -> Mapping[str, Any]:
            number = number_of(ask)
            assert ask.schema is not None
            fields = ask.schema["properties"]
            if "verdict" not in fields:
                return {"number": number, **{name: lists[name] for name in fields if name in lists}}
            thing = fenced(ask, title) or ask.messages[1].content.rsplit("\n\n", 1)[1]
            lowest = (fields["verdict"]["enum"][0], "")
            choice, evidence = next((v for words, v in said.items() if words in thing), lowest)
            return {"number": number, "evidence": evidence, "verdict": choice}

        return Scripted(script)

    return made


def measured(judge: Any, case: Case, trace: Trace) -> Signal:
    """The signal of a judge, whose promises are checked: evidence that is there, and a bound."""
    before = judge.model.calls
    (signal,) = asyncio.run(judge.judge(case, trace))
    spent = judge.model.calls - before
    used, most = signal.usage or Usage(), judge.most(case)
    assert used.calls == spent <= most.calls
    assert used.input_tokens <= most.input_tokens
    assert used.output_tokens <= most.output_tokens
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
        (one,) = asyncio.run(score(Rubric.alone(judge), case, [trace]))
        return one

    return given
