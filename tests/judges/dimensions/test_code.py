"""Code that is explained by its comments covers what they name."""

import asyncio

import pytest

from rubrica.core import Case, Trace
from rubrica.judges.dimensions.completeness import Completeness
from rubrica.judges.dimensions.coverage.code import steps

ABOVE = "# list what runs\ndocker ps\n\n# stop one\ndocker stop web\n# remove it\ndocker rm web"
BESIDE = "git switch -c topic  # create a branch\ngit commit -am msg  # commit the work\n"


def covered(output: str, *aspects: str) -> float | None:
    case = Case(id="x", input="How do I do it?", expected={"aspects": list(aspects)})
    (signal,) = asyncio.run(Completeness().judge(case, Trace(output=output)))
    return signal.value


def test_comments_stand_over_the_lines_below_or_on_their_own() -> None:
    assert [step[:2] for step in steps(ABOVE, 0)] == [
        ("list what runs", "docker ps\n"),
        ("stop one", "docker stop web\n"),
        ("remove it", "docker rm web\n"),
    ]
    assert [step[:2] for step in steps(BESIDE, 0)] == [
        ("create a branch", "git switch -c topic\n"),
        ("commit the work", "git commit -am msg\n"),
    ]
    for block in (ABOVE, BESIDE):
        text = f"Run this:\n```sh\n{block}\n```"
        for step in steps(block, at := text.index(block)):
            assert text[step.start : step.end] == step.text.rstrip("\n"), at


@pytest.mark.parametrize(
    "block",
    ["#!/bin/sh\nls\n# TODO\nps", "x = 1\ny = 2", "# one note only\nx = 1", "a - b\nc -- d"],
)
def test_a_block_without_steps(block: str) -> None:
    assert steps(block, 0) == []


def test_code_covers_what_its_comments_name() -> None:
    docker = ("listing containers", "stopping a container", "removing a container")
    assert covered(f"```sh\n{ABOVE}\n```", *docker) == 1.0
    assert covered(f"```sh\n{BESIDE}```", "creating a branch", "committing", "pushing") == 2 / 3
    script = "// open the file\nconst handle = fopen(path)\n// read a line\nfgets(handle, buffer)"
    assert covered(f"```js\n{script}\n```", "open the file", "read a line") == 1.0


def test_a_command_in_a_sentence_says_its_name_again() -> None:
    both = ("installation", "configuration")
    there = "Install it with `apt install nginx`. Then edit /etc/nginx.conf, set a name and reload."
    assert covered(there, *both) == 1.0
    assert covered("Install it with `install`. Then configure it by `configure`.", *both) == 0.0
    assert covered("`installation` `configuration`", *both) == 0.0


@pytest.mark.parametrize("code", ["", "foo", "the history"])
def test_comments_alone_cover_nothing(code: str) -> None:
    block = f"# the history\n{code}\n# the economy\n{code}\n"
    assert covered(f"```\n{block}```", "the history", "the economy") == 0.0


def test_a_comment_is_no_heading() -> None:
    output = (
        "## Setting up\n```sh\n# the rest is left out\n```\nInstall 3 parts with `pip install x`."
    )
    assert covered(output, "setting up", "costs") == 0.5
