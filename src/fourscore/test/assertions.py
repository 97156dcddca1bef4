"""`assert_passes`: an answer in a test of one's own, held against a rubric.

def test_the_refund_policy():
    assert_passes({"input": question, "expected": truth}, agent(question), "rubric.yaml")
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fourscore.core import Case, Rubric, Score, Signal, Trace, score
from fourscore.executors.local import Local
from fourscore.executors.portal import PORTAL
from fourscore.formats.case_fields import case_from
from fourscore.formats.plain_text import plain
from fourscore.judges.rubric_file import RESEARCH, read_rubric

#: Characters shown of an answer and of a piece of evidence.
SHOWN, QUOTED = 600, 160


def assert_passes(
    case: Case | Mapping[str, Any],
    output: Any,
    rubric: Rubric | str | Path = RESEARCH,
    *,
    deadline: float = 60.0,
) -> Score:
    """The score of a passing output; an `AssertionError` that says what is wrong with another.

    `case` is a Case or the fields of one, `output` a text, any JSON value or a Trace, `rubric` a
    Rubric or the path of its file. An output that could not be measured does not pass.
    """
    known = case if isinstance(case, Case) else case_from(case)
    trace = output if isinstance(output, Trace) else Trace(output=output)
    rules = rubric if isinstance(rubric, Rubric) else read_rubric(str(rubric))
    (given,) = PORTAL.run(score(rules, known, [trace], executor=Local(deadline)))
    if given.passed is not True:
        raise AssertionError(explained(known, trace, given, rules))
    return given


def explained(case: Case, trace: Trace, given: Score, rubric: Rubric) -> str:
    """Why it did not pass, the worst dimension first."""
    if given.passed is None:
        head = f"case {plain(case.id)!s} could not be measured: {given.status}"
    elif given.value is None or given.status != "scored":
        head = f"case {plain(case.id)} failed: {given.status}"
    else:
        head = f"case {plain(case.id)} scored {given.value:.3f}, {rubric.pass_threshold:g} passes"
    lines = [head]
    if given.reason:
        lines.append(f"  {plain(given.reason)}")
    ranked = sorted(given.signals, key=lambda signal: 1.0 if signal.value is None else signal.value)
    for signal in ranked:
        lines += _said(signal)
    if trace.answer:
        lines.append(f"  output: {plain(trace.answer, SHOWN)}")
    return "\n".join(lines)


def _said(signal: Signal) -> list[str]:
    value = "–" if signal.value is None else f"{signal.value:.3f}"
    level = f" ({plain(signal.level)})" if signal.level else ""
    why = signal.reason or (signal.fault.message if signal.fault else "")
    lines = [f"  {plain(signal.name)} {value}{level}  {plain(why)}".rstrip()]
    if signal.value is not None and signal.value < 1:
        lines += [f"      “{plain(piece.text, QUOTED)}”" for piece in signal.evidence[:3]]
    return lines
