"""What an agent gave as its answer is read for its text; what cannot be read is named."""

from types import SimpleNamespace
from typing import Any

import pytest

from fourscore.core.answer import read_answer, read_message_text


class Msg:
    """AgentScope's message: `get_text_content()` joins the text blocks, None without any."""

    def __init__(self, *texts: str) -> None:
        self.content = [{"type": "text", "text": text} for text in texts]

    def get_text_content(self) -> str | None:
        return "\n".join(block["text"] for block in self.content) or None


class Model:
    """A pydantic model."""

    def model_dump(self, mode: str) -> dict[str, Any]:
        return {"answer": 4, "mode": mode}


class Broken:
    def get_text_content(self) -> str:
        raise RuntimeError("lost")


class Endless:
    def get_text_content(self) -> Any:
        return Endless()


class Array:
    def tolist(self) -> list[float]:
        return [1.0, 2.0]


def content(value: object) -> SimpleNamespace:
    return SimpleNamespace(content=value)


TEXT = SimpleNamespace(type="text", text="b")
READ = [
    (None, None),
    ("a", "a"),
    (3, 3),
    (True, True),
    ({"a": [1, (2.5,)]}, {"a": [1, [2.5]]}),
    (Msg("a", "b"), "a\nb"),
    (Msg(), ""),
    ([Msg("a")], ["a"]),
    ({"x": content("a")}, {"x": "a"}),
    (content("a"), "a"),
    (content(None), ""),
    (content([{"type": "image"}, {"text": "a"}, TEXT, "c", {"text": 7}]), "abc"),
    (content({"text": "a"}), "a"),
    (content(7), ""),
    (Model(), {"answer": 4, "mode": "json"}),
    (Array(), [1.0, 2.0]),
]


@pytest.mark.parametrize(("value", "expected"), READ)
def test_answer_is_read(value: object, expected: object) -> None:
    assert read_answer(value) == expected


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (object(), r"builtins\.object cannot be read as an answer: expected text"),
        (b"bytes", r"builtins\.bytes cannot"),
        (Msg, r"the class tests\.core\.test_answer\.Msg cannot"),
        ([{"a": object()}], r"builtins\.object cannot"),
        (content(b"raw"), r"SimpleNamespace: ValueError: a message's content of type bytes"),
        (Broken(), r"test_answer\.Broken: RuntimeError: lost"),
        (Endless(), "nested more than 100 deep"),
        (float("nan"), "not a finite number"),
    ],
)
def test_unreadable_answer_is_named(value: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_answer(value)


def test_content_without_text_is_empty() -> None:
    assert read_message_text([{"type": "image", "image": object()}, None]) == ""
