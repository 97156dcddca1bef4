"""A bar on a terminal, nothing anywhere else."""

import io
import sys

import pytest

from fourscore.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(100) as progress:
        progress.step("checking", 100)
        progress.restart()
        progress.step("judging", 40)
    return stream.getvalue()


def test_a_terminal_sees_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(Terminal(), monkeypatch)
    assert "judging" in text
    assert "40/100 bytes" in text


def test_nobody_else_sees_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(io.StringIO(), monkeypatch) == ""
