"""A block of code as what its comments name: each is of the lines below it, or of its own."""

import re
from collections.abc import Iterator
from typing import NamedTuple

#: A comment that opens or ends a line: two words, so that `#!/bin/sh` and `# TODO` are none.
_COMMENT = re.compile(r"(?:^|(?<=\s))(?:#|//|--|;)[ \t]+([^\W\d_][^\n]*[ \t][^\n]*?)[ \t]*$")


class Step(NamedTuple):
    """Some lines of a block, and the comment that says what they do.

    The text ends in a line break, which tells it from a sentence.
    """

    label: str
    text: str
    start: int
    end: int


def steps(block: str, start: int) -> list[Step]:
    """The steps of a block that begins at `start`; none where comments do not part it."""
    found = [step for step in _steps(block, start) if any(map(str.isalnum, step.text))]
    return found if len(found) > 1 else []


def _steps(block: str, start: int) -> Iterator[Step]:
    label, begin, place = "", start, start
    for line in block.splitlines(keepends=True):
        comment = _COMMENT.search(line)
        if comment is not None:
            if label and block[begin - start : place - start].strip():
                yield _step(label, block, begin, place, start)
            code = line[: comment.start()]
            label, begin = (comment[1], place + len(line)) if not code.strip() else ("", begin)
            if not label:
                yield _step(comment[1], block, place, place + len(code), start)
        place += len(line)
    if label:
        yield _step(label, block, begin, place, start)


def _step(label: str, block: str, begin: int, end: int, start: int) -> Step:
    lines = block[begin - start : end - start]
    bare = lines.strip()
    begin += len(lines) - len(lines.lstrip())
    return Step(label, f"{bare}\n", begin, begin + len(bare))
