"""Two signals about the final output: `output_quality` and `structure_score`.

`output_quality` checks the wording and form of the output: is it complete, and free of errors?
`structure_score` checks for headers, lists and fenced blocks with a markdown parser. Most logs have
no output, so the detectors are imported when the first output is scored.
"""

import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from fourscore.core import Case, Signal, Trace
from fourscore.judges.fitness.detectors.markdown import READ, has_code_block, read_markdown
from fourscore.judges.fitness.execution import (
    Execution,
    count_execution,
    make_inapplicable,
    make_signal,
)

QUALITY, STRUCTURE = "output_quality", "structure_score"
CODING = "coding"
FORM = "a sound form"

Completeness = Literal["reachable", "literal"]
Accuracy = Literal["applicable", "literal"]

#: A part of the score, its tenths, and whether the output has it; None where it does not apply.
Part = tuple[str, int, bool | None]


def list_completeness_parts(output: str, task_type: str | None, request: str = "") -> list[Part]:
    from fourscore.judges.fitness.detectors.answer import (
        has_direct_answer,
        has_explanation,
        has_next_steps,
    )

    code = has_code_block(output) if task_type == CODING else None
    return [
        ("an answer", 3, has_direct_answer(output, request)),
        ("code", 3, code),
        ("an explanation", 2, has_explanation(output, request)),
        ("next steps", 2, has_next_steps(output)),
    ]


def list_accuracy_parts(output: str, request: str = "") -> list[Part]:
    from fourscore.judges.failures import has_obvious_errors
    from fourscore.judges.fitness.detectors.format import follows_format
    from fourscore.judges.fitness.detectors.syntax import parses

    return [
        ("code that parses", 4, parses(output)),
        ("no obvious errors", 3, not has_obvious_errors(output)),
        (FORM, 3, follows_format(output, request)),
    ]


def score_completeness(
    output: str,
    task_type: str | None = None,
    completeness: Completeness = "reachable",
    request: str = "",
) -> float:
    """Return 0.3 for an answer, 0.3 for code in a coding task, 0.2 each for reasons and next steps.

    Other tasks cannot earn the 0.3 for code, so their sum is divided by 0.7; not with `literal`.
    """
    parts = list_completeness_parts(output, task_type, request)
    return _literal(parts) if completeness == "literal" else _share(parts)


def score_accuracy(output: str, accuracy: Accuracy = "applicable", request: str = "") -> float:
    """Return 0.4 for code that parses, 0.3 for no obvious errors, 0.3 for a sound form.

    An empty output gets 0. If there is no code to judge, the sum is divided by 0.6; with `literal`
    such an output gets the 0.4, unless it is code without a fence that does not parse.
    """
    if accuracy == "literal":
        from fourscore.judges.fitness.detectors.syntax import parses_as_whole

        (code, n, there), *others = list_accuracy_parts(output, request)
        there = parses_as_whole(output) if there is None else there
        return _literal([(code, n, there is not False), *others])
    return _share(list_accuracy_parts(output, request)) if output.strip() else 0.0


def _literal(parts: Sequence[Part]) -> float:
    return sum(tenths for _, tenths, there in parts if there) / 10


def _share(parts: Sequence[Part]) -> float:
    reachable = sum(tenths for _, tenths, there in parts if there is not None)
    return sum(tenths for _, tenths, there in parts if there) / reachable


class OutputQuality(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The mean of completeness and accuracy.

    completeness: `reachable` (default) divides by the most that a task of its type can reach;
        `literal` by 1
    accuracy: `applicable` (default) leaves out the check of syntax where there is no code;
        `literal` does not
    """

    completeness: Completeness = "reachable"
    accuracy: Accuracy = "applicable"

    @property
    def names(self) -> tuple[str, ...]:
        return (QUALITY,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    def score_halves(self, execution: Execution) -> tuple[float, float]:
        output = execution.output or ""
        return (
            score_completeness(output, execution.task_type, self.completeness, execution.request),
            score_accuracy(output, self.accuracy, execution.request),
        )

    def compute_value(self, execution: Execution) -> float | None:
        return None if execution.output is None else sum(self.score_halves(execution)) / 2

    def measure(self, execution: Execution) -> Signal:
        if execution.output is None:
            return make_inapplicable(QUALITY, "no output was recorded")
        from fourscore.judges.fitness.detectors.format import find_broken_form

        complete, accurate = self.score_halves(execution)
        reason = f"completeness {complete:.2f}, accuracy {accurate:.2f}"
        if not execution.output.strip():
            return make_signal(QUALITY, (complete + accurate) / 2, f"{reason}: the output is empty")
        output, request = execution.output, execution.request
        parts = list_completeness_parts(output, execution.task_type, request)
        parts += list_accuracy_parts(output, request)
        missing = [name for name, _, there in parts if there is False]
        broken = find_broken_form(output, request)
        missing = [f"{name} ({broken})" if name == FORM else name for name in missing]
        if missing:
            reason += f"; missing: {', '.join(missing)}"
        return make_signal(QUALITY, (complete + accurate) / 2, reason)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (self.measure(count_execution(case, trace)),)


Mode = Literal["markdown", "literal"]

#: The parts of the structure score, in tenths.
PARTS = {"headers": 4, "lists": 3, "code blocks": 3}
_LITERAL = {
    "headers": re.compile(r"^#+\s", re.MULTILINE),
    "lists": re.compile(r"^[\-\*\d\.]\s", re.MULTILINE),
    "code blocks": re.compile(r"```"),
}


def find_structure_parts(output: str, structure: Mode = "markdown") -> tuple[str, ...]:
    """Return which of headers, lists and code blocks the output has."""
    if structure == "literal":
        return tuple(part for part, sign in _LITERAL.items() if sign.search(output[:READ]))
    document = read_markdown(output)
    counts = (document.headers, document.items, len(document.fences))
    return tuple(part for part, count in zip(PARTS, counts, strict=True) if count)


def score_structure(output: str, structure: Mode = "markdown") -> float:
    """Return 0.4 for headers, 0.3 for lists, 0.3 for fenced blocks."""
    return sum(PARTS[part] for part in find_structure_parts(output, structure)) / 10


class StructureScore(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Scores headers, lists and fenced blocks.

    `structure`: `markdown` uses a parser, `literal` three patterns that take `5 apples` as a list.
    """

    structure: Mode = "markdown"

    @property
    def names(self) -> tuple[str, ...]:
        return (STRUCTURE,)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    def compute_value(self, execution: Execution) -> float | None:
        if execution.output is None:
            return None
        return score_structure(execution.output, self.structure)

    def measure(self, execution: Execution) -> Signal:
        if execution.output is None:
            return make_inapplicable(STRUCTURE, "no output was recorded")
        there = find_structure_parts(execution.output, self.structure)
        missing = [part for part in PARTS if part not in there]
        reason = f"has {_listed(there)}" if there else "plain text"
        if missing:
            reason += f"; no {', no '.join(missing)}"
        return make_signal(STRUCTURE, sum(PARTS[part] for part in there) / 10, reason)

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return (self.measure(count_execution(case, trace)),)


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
