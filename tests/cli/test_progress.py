"""The progress bar of `fourscore judge`."""

import io
import sys

import pytest

from fourscore.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def show_progress(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress(100) as progress:
        progress.step("checking", 100)
        progress.restart()
        progress.step("judging", 40)
    return stream.getvalue()


def test_draws_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    text = show_progress(Terminal(), monkeypatch)
    assert "judging" in text
    assert "40/100 bytes" in text


def test_writes_nothing_where_stderr_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert show_progress(io.StringIO(), monkeypatch) == ""
