"""`Check`: the base of plain checks, and the signals that they return."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec

from fourscore.core import Case, Evidence, Signal, Trace
from fourscore.core.numbers import check_finite, decimal_text
from fourscore.core.trace import as_text
from fourscore.judges.answer_extraction import remove_thinking
from fourscore.judges.dimensions.case_fields import read_expected

Plain = str | int | float
#: One text or several of which each is right; a number is compared as its shortest decimal text.
Texts = Plain | tuple[Plain, ...] | None
#: Most characters of an answer that a reason quotes.
_SHOWN = 80


class NotApplicable(Exception):  # noqa: N818 - no error: there is nothing to measure
    """Raised by a check that has nothing to compare the answer with."""


class Check(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the plain checks: options are fields, and `measure` returns one signal.

    `name` is the check's name in rubrics and cases. In `{contains: Rome}`, an entry of a case, the
    value `Rome` is the option that `main` names.
    """

    name: ClassVar[str]
    main: ClassVar[str] = ""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def runs(self) -> Literal["inline", "thread"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        try:
            return (self.measure(case, trace),)
        except NotApplicable as why:
            return (Signal(name=self.name, reason=str(why)),)

    def measure(self, case: Case, trace: Trace) -> Signal:
        """Return the signal of one trace; raise `NotApplicable` if nothing can be compared."""
        raise NotImplementedError(f"{type(self).__name__} has no measure()")

    def decide(self, passed: bool, reason: str, evidence: Sequence[Evidence] = ()) -> Signal:
        """Return a signal of 1 or 0."""
        return Signal(
            name=self.name,
            value=float(passed),
            passed=passed,
            reason=reason,
            evidence=tuple(evidence),
        )


class GradedCheck(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of checks whose value lies between 0 and 1; they pass from `at_least` on."""

    at_least: float = 0.7

    def __post_init__(self) -> None:
        check_finite("at_least", self.at_least, low=0, high=1)

    def grade(self, value: float, reason: str) -> Signal:
        """Return a signal with a value from 0 to 1."""
        value = min(1.0, max(0.0, value))
        return Signal(
            name=self.name, value=value, passed=value >= self.at_least - 1e-9, reason=reason
        )


def read_answer(trace: Trace) -> str:
    """Return the answer without its thinking and without space at its ends."""
    return remove_thinking(trace.answer).strip()


def read_texts(given: Texts, case: Case) -> list[str]:
    """Return the right texts: those of the option, else what the case expects."""
    found = list_texts(read_expected(case).answer if given is None else given)
    if not found:
        raise NotApplicable("the case has no expected answer, and the check has no text")
    return found


def list_texts(given: object) -> list[str]:
    """Return one text or several as a list of texts that are not empty."""
    if given is None:
        return []
    several = given if isinstance(given, list | tuple) else [given]
    return [text for text in (write_text(one).strip() for one in several) if text]


def write_text(value: object) -> str:
    """Return a value as text: a number as its shortest decimal text, a structure as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return decimal_text(value) if isinstance(value, int | float) else as_text(value)


def shorten(text: str) -> str:
    """Return the beginning of a text in quotes, on one line, for a reason."""
    flat = " ".join(text[: 4 * _SHOWN].split())
    return repr(flat if len(flat) <= _SHOWN else f"{flat[: _SHOWN - 3]}...")


def join_or(texts: Sequence[str]) -> str:
    """Return texts in quotes, joined by `or`; after three of them, how many more there are."""
    shown = " or ".join(map(shorten, texts[:3]))
    return f"{shown} or {len(texts) - 3} more" if len(texts) > 3 else shown
