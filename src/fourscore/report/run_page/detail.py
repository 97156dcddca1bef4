"""One case as the page shows it: input, output, steps and signals, truncated where needed."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from fourscore.core import Canary, Evidence, Message, Signal, ToolCall
from fourscore.core.trace import as_text
from fourscore.report.run_page.truncate import PIECE, ROW, SIGNAL, STEP, RowSizes, TextLimits
from fourscore.stores.labels import Label
from fourscore.stores.run import StoredRow

#: Signals of a row, pieces of evidence of a signal, and characters of a name, a level, a quote.
SIGNALS, PIECES, NAME, QUOTE = 60, 40, 120, 500
#: A text longer than this is not searched for a piece whose place is wrong or not given.
SEARCHED = 1 << 20

_encode = msgspec.json.Encoder().encode


def format_value(value: Any) -> str:
    """Return a text as it is, any other value as indented JSON."""
    if value is None or isinstance(value, str | int | float):
        return as_text(value)
    return msgspec.json.format(_encode(value), indent=2).decode()


def shorten(text: str, most: int = NAME) -> str:
    """Return the text, cut to at most `most` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def measure_row(row: StoredRow) -> RowSizes:
    """Return the lengths of all texts of a row."""
    trace, score = row.trace, row.score
    texts = [_length(row.case.input), _length(_find_expected(row)), _length(trace.output)]
    frame, reasons = ROW, []
    if score is not None:
        signals = score.signals[:SIGNALS]
        texts.append(len(score.reason))
        reasons = [len(signal.reason) for signal in signals]
        frame += SIGNAL * len(signals)
        frame += PIECE * sum(min(PIECES, len(signal.evidence)) for signal in signals)
    steps = []
    for step in trace.steps[:200]:
        if isinstance(step, Message):
            steps.append(_length(step.content))
        else:
            steps += [_length(step.arguments), _length(step.result)]
    return RowSizes(texts, reasons, steps, frame + STEP * len(steps))


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return 0 if value is None else len(_encode(value))


def make_detail(row: StoredRow, labels: Sequence[Label], cap: int) -> tuple[dict[str, Any], int]:
    """Return the case as a JSON value, and how many of its texts were truncated."""
    return _Detail(row, TextLimits.at(cap)).make_document(labels)


def _find_expected(row: StoredRow) -> object:
    """Return what the case expects: its reference answer, its checks, or both."""
    case = row.case
    if not case.checks:
        return case.expected
    return case.checks if case.expected is None else [case.expected, *case.checks]


class _Detail:
    def __init__(self, row: StoredRow, cut: TextLimits) -> None:
        self.row, self.cut, self.cuts = row, cut, 0
        answer = row.trace.answer
        self.texts = {
            "output": answer,
            "input": format_value(row.case.input),
            "expected": format_value(_find_expected(row)),
        }
        self.marks: dict[str, list[tuple[int, int, int]]] = {field: [] for field in self.texts}
        self.pieces = 0

    def make_document(self, labels: Sequence[Label]) -> tuple[dict[str, Any], int]:
        row, trace, score = self.row, self.row.trace, self.row.score
        whole = as_text(trace.output)
        found: dict[str, Any] = {
            "input": self.kept(self.texts["input"], self.cut.text),
            "output": self.kept(self.texts["output"], self.cut.text),
            "expected": self.kept(self.texts["expected"], self.cut.text),
            "whole": self.kept(whole, self.cut.text) if whole != self.texts["output"] else None,
            "fault": self.fault(trace.fault),
            "brief": self.cut.brief,
            "seconds": trace.seconds,
            "attempt": row.attempt if row.attempt > 1 else None,
            "labels": [
                [
                    shorten(label.who),
                    shorten(label.verdict),
                    shorten(label.note, QUOTE),
                    label.stale,
                ]
                for label in labels
            ],
        }
        if score is not None:
            found["reason"] = self.kept(score.reason, self.cut.text)
            found["coverage"] = score.coverage
        if not self.cut.brief:
            found |= self.full_parts()
        document = {
            key: value for key, value in found.items() if value not in (None, "", [], {}, 0)
        }
        return document, self.cuts + bool(found.get("more_steps"))

    def full_parts(self) -> dict[str, Any]:
        """Return signals with reasons and evidence, and steps."""
        steps, signals = self.row.trace.steps, self.row.score.signals if self.row.score else ()
        document: dict[str, Any] = {
            "signals": [self.signal(signal) for signal in signals[:SIGNALS]],
            "more_signals": max(0, len(signals) - SIGNALS),
            "steps": [self.step(step) for step in steps[: self.cut.steps]],
            "more_steps": max(0, len(steps) - self.cut.steps),
        }
        return document | {
            "marks": {field: self.units(field) for field, at in self.marks.items() if at}
        }

    def kept(self, text: str, most: int) -> Any:
        """Return a text, or its beginning with the length of the whole."""
        if len(text) <= most:
            return text
        self.cuts += 1
        return {"cut": text[:most], "of": len(text)}

    def fault(self, fault: Any) -> Any:
        return None if fault is None else [fault.kind, self.kept(fault.message, self.cut.text)]

    def signal(self, signal: Signal) -> dict[str, Any]:
        pieces = [self.piece(evidence, signal) for evidence in signal.evidence[:PIECES]]
        document = {
            "name": shorten(signal.name),
            "value": signal.value,
            "level": shorten(signal.level),
            "passed": signal.passed,
            "reason": self.kept(signal.reason, self.cut.text),
            "relative": signal.relative or None,
            "reward": signal.reward if signal.relative or signal.reward != signal.value else None,
            "fault": self.fault(signal.fault),
            "evidence": pieces,
            "canary": None if signal.canary is None else _canary(signal.canary),
            "more": max(0, len(signal.evidence) - PIECES) or None,
        }
        return {key: value for key, value in document.items() if value not in (None, "", [])}

    def piece(self, evidence: Evidence, signal: Signal) -> dict[str, Any]:
        """Return a mark in a text where the evidence is shown there, else a quotation."""
        self.pieces += 1
        step = signal.step if evidence.step is None else evidence.step
        document: dict[str, Any] = {"k": self.pieces, "step": step}
        field = "output" if evidence.field in ("output", "answer") else evidence.field
        if field in self.texts and step is None:
            at = locate_evidence(evidence, self.texts[field])
            if at is not None and at[1] <= self.cut.text:
                self.marks[field].append((*at, self.pieces))
                document["in"] = field
                return document
            document["why"] = "not found there" if at is None else "beyond the cut"
        document["field"] = shorten(evidence.field)
        document["text"] = shorten(evidence.text, min(QUOTE, self.cut.text))
        return document

    def units(self, field: str) -> list[list[int]]:
        marks = self.marks[field]
        at = count_utf16_units(self.texts[field], [end for mark in marks for end in mark[:2]])
        return [[at[start], at[end], number] for start, end, number in marks]

    def step(self, step: Message | ToolCall) -> dict[str, Any]:
        if isinstance(step, Message):
            document: dict[str, Any] = {
                "role": shorten(step.role),
                "content": self.kept(format_value(step.content), self.cut.step),
            }
            return document
        document = {
            "name": shorten(step.name),
            "arguments": self.kept(_arguments(step.arguments), self.cut.step),
            "result": self.kept(format_value(step.result), self.cut.step),
            "exit_code": step.exit_code,
            "seconds": step.seconds,
            "error": None if step.error is None else self.kept(step.error, self.cut.step),
        }
        return {key: value for key, value in document.items() if value not in (None, "")}


def _canary(canary: Canary) -> list[Any]:
    return [shorten(canary.kind), canary.passed]


def _arguments(value: Any) -> str:
    """Return arguments one per line where all are texts, else as JSON."""
    if isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values()):
        return "\n".join(f"{key}: {item}" for key, item in value.items())
    return format_value(value)


def locate_evidence(evidence: Evidence, text: str) -> tuple[int, int] | None:
    """Return start and end of the evidence in the text: as given, else where it is found first."""
    piece, start = evidence.text, evidence.start
    if not piece:
        return None
    if start is not None and text.startswith(piece, start):
        return start, start + len(piece)
    start = text.find(piece, 0, SEARCHED)
    return None if start < 0 else (start, start + len(piece))


def count_utf16_units(text: str, places: list[int]) -> dict[int, int]:
    """Return each position counted in UTF-16 units, as JavaScript counts."""
    if not places or text.isascii() or max(text) <= "\uffff":
        return {at: at for at in places}
    found, last, count = {}, 0, 0
    for at in sorted(set(places)):
        count += len(text[last:at].encode("utf-16-le")) // 2
        found[at], last = count, at
    return found
