"""Flags that several commands share."""

from typing import Any

import pytest

from fourscore.cli.flags import parse_key_value
from fourscore.core import ConfigError


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("format_score=0.2", ("format_score", 0.2)),
        ("strict=true", ("strict", True)),
        ("answer=no", ("answer", "no")),
        ("words=[a, b]", ("words", ["a", "b"])),
        ("equation=1+1=2", ("equation", "1+1=2")),
        (" key = 3", ("key", 3)),
        ("nothing=", ("nothing", None)),
    ],
)
def test_reads_the_value_of_a_key_as_yaml(text: str, pair: tuple[str, Any]) -> None:
    assert parse_key_value(text, "--set") == pair


@pytest.mark.parametrize("text", ["format_score", "=0.2", " =1", "words=[a", "a={b: 1, b: 2}"])
def test_refuses_text_that_is_no_key_and_value(text: str) -> None:
    with pytest.raises(ConfigError, match="--set"):
        parse_key_value(text, "--set")
