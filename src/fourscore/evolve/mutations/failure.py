"""A case that failed, as far as a mutation may know it: what was asked, what came, what was wrong.

Everything in it but the numbers was written by others, the agent among them. It is bounded here and
fenced where a model reads it.
"""

from collections.abc import Iterable, Sequence
from statistics import fmean

import msgspec

from fourscore.core import Case, Score, Trace
from fourscore.core.trace import as_text

#: Characters of a text that are kept, pieces of evidence for each signal, and signals.
LONGEST, PIECES, SIGNALS = 4000, 3, 20


class Complaint(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one judge said."""

    signal: str
    value: float
    reason: str = ""
    evidence: tuple[str, ...] = ()


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`complaints` begin with the weakest signal; an agent that broke down has a `reason` only."""

    case: str
    input: str = ""
    output: str = ""
    value: float = 0.0
    reason: str = ""
    complaints: tuple[Complaint, ...] = ()

    @classmethod
    def of(cls, case: Case, trace: Trace, score: Score) -> "Failure":
        """What was measured of one attempt. A ranking says nothing about it alone."""
        measured = [one for one in score.signals if one.value is not None and not one.relative]
        measured.sort(key=lambda one: (one.value, one.name))
        return cls(
            case=case.id,
            input=as_text(case.input)[:LONGEST],
            output=trace.answer[:LONGEST],
            value=score.value or 0.0,
            reason=score.reason[:LONGEST],
            complaints=tuple(
                Complaint(
                    signal=one.name,
                    value=one.value or 0.0,
                    reason=one.reason[:LONGEST],
                    evidence=tuple(piece.text[:LONGEST] for piece in one.evidence[:PIECES]),
                )
                for one in measured[:SIGNALS]
            ),
        )

    @property
    def signals(self) -> dict[str, float]:
        return {one.signal: one.value for one in self.complaints}

    @property
    def words(self) -> tuple[str, ...]:
        """All that others wrote in it."""
        said = [text for one in self.complaints for text in (one.reason, *one.evidence)]
        return tuple(text for text in (self.input, self.output, self.reason, *said) if text)


class Sorted(msgspec.Struct, frozen=True):
    """The cases of a run by how they ended. Those that were not measured are in neither part."""

    failures: tuple[Failure, ...] = ()
    passed: tuple[Case, ...] = ()


def sort_cases(rows: Iterable[tuple[Case, Trace, Score]]) -> Sorted:
    """Failures, and the cases that passed in every measured attempt."""
    failures: list[Failure] = []
    failed: set[str] = set()
    passed: dict[str, Case] = {}
    for case, trace, score in rows:
        if score.passed is None:
            continue
        if score.passed:
            passed.setdefault(case.id, case)
        else:
            failures.append(Failure.of(case, trace, score))
            failed.add(case.id)
    return Sorted(tuple(failures), tuple(c for c in passed.values() if c.id not in failed))


def weakest(failures: Sequence[Failure]) -> tuple[str, float] | None:
    """The signal with the lowest mean over the failures, and the mean; two alike go by name."""
    values: dict[str, list[float]] = {}
    for failure in failures:
        for name, value in failure.signals.items():
            values.setdefault(name, []).append(value)
    means = [(fmean(found), name) for name, found in values.items()]
    if not means:
        return None
    mean, name = min(means)
    return name, mean
