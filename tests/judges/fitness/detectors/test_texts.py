"""Failures in the texts beside this file, which nobody labelled but their writer."""

from pathlib import Path

import pytest

from rubrica.judges.fitness.detectors.failures import failure


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


@pytest.mark.parametrize("text", texts("failures", "report"))
def test_a_failure_is_reported(text: str) -> None:
    found = failure(text)
    assert found is not None
    assert found.text in text


@pytest.mark.parametrize("text", texts("failures", "no_report"))
def test_no_failure_is_reported(text: str) -> None:
    assert failure(text) is None
