"""Headers, lists and fenced blocks, as a markdown parser sees them (`structure_score`)."""

import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

import msgspec

from rubrica.core import Case, Signal, Trace
from rubrica.judges.fitness.execution import Execution, execution_of
from rubrica.judges.fitness.telling import inapplicable, measured

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

NAME = "structure_score"
#: Characters that are read; a document shows its form long before that.
READ = 100_000

Mode = Literal["markdown", "literal"]

#: What counts, in tenths.
PARTS = {"headers": 4, "lists": 3, "code blocks": 3}
_LITERAL = {
    "headers": re.compile(r"^#+\s", re.MULTILINE),
    "lists": re.compile(r"^[\-\*\d\.]\s", re.MULTILINE),
    "code blocks": re.compile(r"```"),
}


@cache
def _parser() -> "MarkdownIt":
    """Blocks only: what stands inside of a line does not matter here, and costs the most."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _blocks(output: str) -> "list[Token]":
    return _parser().parse(output[:READ])


def fences(output: str) -> list[tuple[str, str]]:
    """The fenced blocks: the language in lower case, and the code."""
    if "```" not in output and "~~~" not in output:
        return []
    found = (token for token in _blocks(output) if token.type == "fence")
    return [((token.info.split() or [""])[0].lower(), token.content) for token in found]


def has_code_block(output: str) -> bool:
    """A fenced block stands in it."""
    return bool(fences(output))


def parts_of(output: str, structure: Mode = "markdown") -> tuple[str, ...]:
    """Which of the parts are there."""
    if structure == "literal":
        return tuple(part for part, sign in _LITERAL.items() if sign.search(output))
    kinds = {token.type for token in _blocks(output)} if output else set()
    there = {
        "headers": "heading_open" in kinds,
        "lists": bool({"bullet_list_open", "ordered_list_open"} & kinds),
        "code blocks": "fence" in kinds,
    }
    return tuple(part for part, is_there in there.items() if is_there)


def score_structure(output: str, structure: Mode = "markdown") -> float:
    """0.4 for headers, 0.3 for lists, 0.3 for fenced blocks."""
    return sum(PARTS[part] for part in parts_of(output, structure)) / 10


class StructureScore(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`literal` looks for three expressions, and so finds a list in `5 apples`."""

    structure: Mode = "markdown"

    @property
    def names(self) -> tuple[str, ...]:
        return (NAME,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    def value_of(self, execution: Execution) -> float | None:
        if execution.output is None:
            return None
        return score_structure(execution.output, self.structure)

    def measure(self, execution: Execution) -> Signal:
        if execution.output is None:
            return inapplicable(NAME, "no output was recorded")
        there = parts_of(execution.output, self.structure)
        missing = [part for part in PARTS if part not in there]
        reason = f"has {_listed(there)}" if there else "plain text"
        if missing:
            reason += f"; no {', no '.join(missing)}"
        return measured(NAME, sum(PARTS[part] for part in there) / 10, reason)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (self.measure(execution_of(case, trace)),)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
