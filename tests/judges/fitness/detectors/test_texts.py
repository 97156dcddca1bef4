"""Next steps in the texts beside this file, which nobody labelled but their writer."""

from pathlib import Path

import pytest

from rubrica.judges.fitness.detectors import has_next_steps


def texts(name: str, section: str) -> list[str]:
    """The lines of one section of a list."""
    found: list[str] = []
    inside = False
    for line in Path(__file__).with_name(f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].isidentifier():
            inside = line == f"[{section}]"
        elif inside and line.strip():
            found.append(line)
    assert len(found) > 50
    return found


def behind_an_answer(text: str) -> str:
    if any("\u4e00" <= sign <= "\u9fff" for sign in text):
        return "答案是 42。" + text
    return ("The answer is 42. " if text.isascii() else "Đáp án là 42. ") + text


@pytest.mark.parametrize("text", texts("steps", "step"))
def test_a_step_is_offered(text: str) -> None:
    assert has_next_steps(behind_an_answer(text))


@pytest.mark.parametrize("text", texts("steps", "no_step"))
def test_no_step_is_offered(text: str) -> None:
    assert not has_next_steps(behind_an_answer(text))
