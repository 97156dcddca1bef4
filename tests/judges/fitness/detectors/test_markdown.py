"""Blocks as CommonMark sees them."""

import pytest

from fourscore import has_code_block
from fourscore.judges.fitness.detectors.markdown import READ, read_markdown


@pytest.mark.parametrize(
    ("output", "fenced"),
    [
        ("```\nx\n```", True),
        ("~~~\nx\n~~~", True),
        ("   ```py\nx", True),
        ("> ```\n> x\n> ```", True),
        ("1. a\n\n   ```\n   x\n   ```", True),
        ("    ```\n    x", False),
        ("```x```", False),
        ("a ``` b", False),
        ("", False),
    ],
)
def test_finds_fences_as_commonmark_does(output: str, fenced: bool) -> None:
    assert has_code_block(output) is fenced


def test_counts_blocks_and_keeps_prose() -> None:
    found = read_markdown(
        "# A\r\n\r\n- a\r\n  - b\r\n- c\r\n\r\n1. d\r\n\r\n```Py x\r\n# no\r\n```\r\n\r\n"
        "|a|b|\r\n|-|-|\r\n|1|2|\r\n\r\nend"
    )
    assert found.fences == (("py", "# no\n"),)
    assert (found.headers, found.items, found.numbers, found.tables) == (1, 3, 1, 1)
    assert "no" not in found.prose
    assert found.prose.endswith("end")


def test_reads_only_the_beginning() -> None:
    assert not has_code_block("a\n\n" * READ + "```\nx\n```")
