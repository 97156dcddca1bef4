"""All that the page tells of one case: what was asked, done and measured, cut where it must be."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from fourscore.core import Canary, Evidence, Message, Signal, ToolCall
from fourscore.core.trace import as_text
from fourscore.report.run_page.marks import place, units
from fourscore.report.run_page.truncate import PIECE, ROW, SIGNAL, STEP, Cut, Sizes
from fourscore.stores.run import Label, StoredRow

#: Signals of a row, pieces of evidence of a signal, and characters of a name, a level, a quote.
SIGNALS, PIECES, NAME, QUOTE = 60, 40, 120, 500

_encode = msgspec.json.Encoder().encode


def readable(value: Any) -> str:
    """A text as it is, any other value as JSON in lines."""
    if value is None or isinstance(value, str | int | float):
        return as_text(value)
    return msgspec.json.format(_encode(value), indent=2).decode()


def short(text: str, most: int = NAME) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def sizes(row: StoredRow) -> Sizes:
    trace, score = row.trace, row.score
    texts = [_length(row.case.input), _length(row.case.expected), _length(trace.output)]
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
    return Sizes(texts, reasons, steps, frame + STEP * len(steps))


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    return 0 if value is None else len(_encode(value))


def detail(row: StoredRow, labels: Sequence[Label], cap: int) -> tuple[dict[str, Any], int]:
    """The case as a JSON value, and how many of its texts were cut."""
    return _Detail(row, Cut.at(cap)).document(labels)


class _Detail:
    def __init__(self, row: StoredRow, cut: Cut) -> None:
        self.row, self.cut, self.cuts = row, cut, 0
        answer = row.trace.answer
        self.texts = {
            "output": answer,
            "input": readable(row.case.input),
            "expected": readable(row.case.expected),
        }
        self.marks: dict[str, list[tuple[int, int, int]]] = {field: [] for field in self.texts}
        self.pieces = 0

    def document(self, labels: Sequence[Label]) -> tuple[dict[str, Any], int]:
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
                [short(label.who), short(label.verdict), short(label.note, QUOTE), label.stale]
                for label in labels
            ],
        }
        if score is not None:
            found["reason"] = self.kept(score.reason, self.cut.text)
            found["coverage"] = score.coverage
        if not self.cut.brief:
            found |= self.at_length()
        told = {key: value for key, value in found.items() if value not in (None, "", [], {}, 0)}
        return told, self.cuts + bool(found.get("more_steps"))

    def at_length(self) -> dict[str, Any]:
        """Signals with reasons and evidence, and steps."""
        steps, signals = self.row.trace.steps, self.row.score.signals if self.row.score else ()
        told: dict[str, Any] = {
            "signals": [self.signal(signal) for signal in signals[:SIGNALS]],
            "more_signals": max(0, len(signals) - SIGNALS),
            "steps": [self.step(step) for step in steps[: self.cut.steps]],
            "more_steps": max(0, len(steps) - self.cut.steps),
        }
        return told | {
            "marks": {field: self.units(field) for field, at in self.marks.items() if at}
        }

    def kept(self, text: str, most: int) -> Any:
        """A text, or its beginning with the length of the whole."""
        if len(text) <= most:
            return text
        self.cuts += 1
        return {"cut": text[:most], "of": len(text)}

    def fault(self, fault: Any) -> Any:
        return None if fault is None else [fault.kind, self.kept(fault.message, self.cut.text)]

    def signal(self, signal: Signal) -> dict[str, Any]:
        pieces = [self.piece(evidence, signal) for evidence in signal.evidence[:PIECES]]
        told = {
            "name": short(signal.name),
            "value": signal.value,
            "level": short(signal.level),
            "passed": signal.passed,
            "reason": self.kept(signal.reason, self.cut.text),
            "relative": signal.relative or None,
            "reward": signal.reward if signal.relative or signal.reward != signal.value else None,
            "fault": self.fault(signal.fault),
            "evidence": pieces,
            "canary": None if signal.canary is None else _canary(signal.canary),
            "more": max(0, len(signal.evidence) - PIECES) or None,
        }
        return {key: value for key, value in told.items() if value not in (None, "", [])}

    def piece(self, evidence: Evidence, signal: Signal) -> dict[str, Any]:
        """A mark in a text where it can be shown there, else a quotation."""
        self.pieces += 1
        step = signal.step if evidence.step is None else evidence.step
        told: dict[str, Any] = {"k": self.pieces, "step": step}
        field = "output" if evidence.field in ("output", "answer") else evidence.field
        if field in self.texts and step is None:
            at = place(evidence, self.texts[field])
            if at is not None and at[1] <= self.cut.text:
                self.marks[field].append((*at, self.pieces))
                told["in"] = field
                return told
            told["why"] = "not found there" if at is None else "beyond the cut"
        told["field"] = short(evidence.field)
        told["text"] = short(evidence.text, min(QUOTE, self.cut.text))
        return told

    def units(self, field: str) -> list[list[int]]:
        marks = self.marks[field]
        at = units(self.texts[field], [end for mark in marks for end in mark[:2]])
        return [[at[start], at[end], number] for start, end, number in marks]

    def step(self, step: Message | ToolCall) -> dict[str, Any]:
        if isinstance(step, Message):
            told: dict[str, Any] = {
                "role": short(step.role),
                "content": self.kept(readable(step.content), self.cut.step),
            }
            return told
        told = {
            "name": short(step.name),
            "arguments": self.kept(_arguments(step.arguments), self.cut.step),
            "result": self.kept(readable(step.result), self.cut.step),
            "exit_code": step.exit_code,
            "seconds": step.seconds,
            "error": None if step.error is None else self.kept(step.error, self.cut.step),
        }
        return {key: value for key, value in told.items() if value not in (None, "")}


def _canary(canary: Canary) -> list[Any]:
    return [short(canary.kind), canary.passed]


def _arguments(value: Any) -> str:
    """One plain argument on a line, several as JSON."""
    if isinstance(value, Mapping) and all(isinstance(item, str) for item in value.values()):
        return "\n".join(f"{key}: {item}" for key, item in value.items())
    return readable(value)
