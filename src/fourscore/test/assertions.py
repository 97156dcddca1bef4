"""`assert_passes`: score an answer with a rubric inside a test of your own.

def test_the_refund_policy():
    assert_passes({"input": question, "expected": truth}, agent(question), "rubric.yaml")
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fourscore.core import Case, Rubric, Score, Signal, Trace, score
from fourscore.executors.local import LocalExecutor
from fourscore.executors.portal import PORTAL
from fourscore.formats.case_fields import parse_case
from fourscore.formats.cases import CaseFileInfo
from fourscore.formats.plain_text import make_printable
from fourscore.judges.case_rubric import read_case_rubric
from fourscore.judges.checks.case_checks import add_case_checks

#: Characters of an answer and of a piece of evidence in the message.
ANSWER_LENGTH, EVIDENCE_LENGTH = 600, 160


def assert_passes(
    case: Case | Mapping[str, Any],
    output: Any,
    rubric: Rubric | str | Path | None = None,
    *,
    deadline: float = 60.0,
) -> Score:
    """Return the score of a passing output; raise an `AssertionError` with the reasons of another.

    `case` is a Case or the fields of one, `output` a text, any JSON value or a Trace, `rubric` a
    Rubric or the path of its file; without one, the case's own checks, else the rubric for research
    answers. An output that could not be measured does not pass.
    """
    checked = case if isinstance(case, Case) else parse_case(case)
    trace = output if isinstance(output, Trace) else Trace(output=output)
    if isinstance(rubric, Rubric):
        rules = add_case_checks(rubric) if checked.checks else rubric
    else:
        about = CaseFileInfo(1, "", with_checks=int(bool(checked.checks)))
        rules = read_case_rubric(None if rubric is None else str(rubric), about)
    (found,) = PORTAL.run(score(rules, checked, [trace], executor=LocalExecutor(deadline)))
    if found.passed is not True:
        raise AssertionError(explain_failure(checked, trace, found, rules))
    return found


def explain_failure(case: Case, trace: Trace, found: Score, rubric: Rubric) -> str:
    """The message of a failed assertion: the reason, then each dimension, the lowest first."""
    name = make_printable(case.id)
    if found.passed is None:
        head = f"case {name} could not be measured: {found.status}"
    elif found.value is None or found.status != "scored":
        head = f"case {name} failed: {found.status}"
    else:
        head = f"case {name} scored {found.value:.3f}, {rubric.pass_threshold:g} passes"
    lines = [head]
    if found.reason:
        lines.append(f"  {make_printable(found.reason)}")
    ranked = sorted(found.signals, key=lambda signal: 1.0 if signal.value is None else signal.value)
    for signal in ranked:
        lines += _format_signal(signal)
    if trace.answer:
        lines.append(f"  output: {make_printable(trace.answer, ANSWER_LENGTH)}")
    return "\n".join(lines)


def _format_signal(signal: Signal) -> list[str]:
    value = "–" if signal.value is None else f"{signal.value:.3f}"
    level = f" ({make_printable(signal.level)})" if signal.level else ""
    why = signal.reason or (signal.fault.message if signal.fault else "")
    lines = [f"  {make_printable(signal.name)} {value}{level}  {make_printable(why)}".rstrip()]
    if signal.value is not None and signal.value < 1:
        lines += [
            f"      “{make_printable(piece.text, EVIDENCE_LENGTH)}”"
            for piece in signal.evidence[:3]
        ]
    return lines
