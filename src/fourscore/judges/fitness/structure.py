"""Headers, lists and fenced blocks, as a markdown parser sees them (`structure_score`)."""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from fourscore.core import Case, Signal, Trace
from fourscore.judges.fitness.detectors.markdown import has_code_block, read_markdown
from fourscore.judges.fitness.document import inapplicable, measured
from fourscore.judges.fitness.execution import Execution, execution_of

__all__ = ["StructureScore", "has_code_block", "parts_of", "score_structure"]

NAME = "structure_score"

Mode = Literal["markdown", "literal"]

#: What counts, in tenths.
PARTS = {"headers": 4, "lists": 3, "code blocks": 3}
_LITERAL = {
    "headers": re.compile(r"^#+\s", re.MULTILINE),
    "lists": re.compile(r"^[\-\*\d\.]\s", re.MULTILINE),
    "code blocks": re.compile(r"```"),
}


def parts_of(output: str, structure: Mode = "markdown") -> tuple[str, ...]:
    """Which of the parts are there."""
    if structure == "literal":
        return tuple(part for part, sign in _LITERAL.items() if sign.search(output))
    document = read_markdown(output)
    counts = (document.headers, document.items, len(document.fences))
    return tuple(part for part, count in zip(PARTS, counts, strict=True) if count)


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
