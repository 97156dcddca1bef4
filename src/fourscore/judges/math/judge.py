"""The math judge: does the boxed answer equal the reference, as text or mathematically?"""

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

import msgspec

from fourscore.core import Case, CaseError, Evidence, JudgeError, Signal, Trace
from fourscore.core.extras import require_extra
from fourscore.core.frozen import FrozenList
from fourscore.core.numbers import check_finite, decimal_text
from fourscore.executors.portal import require_loop
from fourscore.executors.worker_pool import WorkerDied, WorkerPool, WorkerTimeout
from fourscore.judges.answer_extraction import Box, BoxForms, Think, find_boxed, remove_thinking
from fourscore.judges.math.comparison_result import Equivalence
from fourscore.judges.math.equality import decide, is_constant
from fourscore.judges.math.math_verify import verify

#: `marked`: the text after the last `####`, if there is one; `whole`: all of it.
ReferenceForm = Literal["marked", "whole"]


class MathJudge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Gives 1 if the last box of the answer has the reference answer, else 0.

    match: `exact` (default) compares texts; `equivalent` accepts a mathematically equal answer, and
        what the exact fast path cannot decide, Math-Verify decides in a worker process
    box, box_forms: which box holds the answer, and what counts as a box
    think: `drop` (default) ignores text inside <think>…</think>, `keep` reads it
    reference: `marked` (default) is what follows the last `####`, `whole` is all of it
    deadline: seconds after which the worker is killed
    """

    match: Literal["exact", "equivalent"] = "exact"
    box: Box = "last"
    box_forms: BoxForms = "any"
    think: Think = "drop"
    reference: ReferenceForm = "marked"
    deadline: float = 5.0

    def __post_init__(self) -> None:
        check_finite("deadline", self.deadline, low=0.001)
        if self.match == "equivalent":
            require_extra("math", "match: equivalent")

    @property
    def names(self) -> tuple[str, ...]:
        return ("math",)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        expected = read_reference(case, self.reference)
        text = trace.answer
        if not text:
            return (_wrong("the agent gave no final_answer"),)
        if self.think == "drop":
            text = remove_thinking(text)
        given = find_boxed(text, self.box, self.box_forms)
        if given is None:
            return (_wrong("no \\boxed{…} in the answer"),)
        if not given:
            return (_wrong("the box is empty"),)
        try:
            if given == expected or (
                self.match == "equivalent" and await are_equivalent(given, expected, self.deadline)
            ):
                return (_RIGHT,)
        except IncomparableError as error:
            # If the reference is a plain number, the answer is the cause, and an agent must not
            # avoid a 0 by writing what cannot be compared. Otherwise the cause is not known.
            if not is_constant(expected):
                raise
            return (_wrong(str(error)),)
        reason = f"the box holds {_short(given)}, the reference is {_short(expected)}"
        return (_wrong(reason, Evidence(text=given[:200], field="answer")),)


class IncomparableError(JudgeError, TimeoutError):
    """Neither the fast path nor Math-Verify could compare the answer in time."""


async def are_equivalent(given: str, expected: str, deadline: float) -> bool:
    """Whether two texts are mathematically equal; raise `IncomparableError` after the deadline."""
    verdict = decide(given, expected).verdict
    if verdict is not Equivalence.UNKNOWN:
        return verdict is Equivalence.EQUAL
    require_loop()
    try:
        return await _verifiers().run(verify, given, expected, deadline=deadline)
    except WorkerTimeout:
        message = f"{_short(given)} could not be compared within {deadline:g} s"
        raise IncomparableError(message) from None
    except WorkerDied as error:
        raise IncomparableError(f"{_short(given)} could not be compared: {error}") from None


@cache
def _verifiers() -> WorkerPool:
    """Return the worker processes with Math-Verify loaded; the first starts when it is needed."""
    return WorkerPool(16, warm=["fourscore.judges.math.math_verify_warmup"], template=True)


_RIGHT = Signal(name="math", value=1.0, passed=True, reason="the box holds the reference")


def _wrong(reason: str, *evidence: Evidence) -> Signal:
    return Signal(name="math", value=0.0, passed=False, reason=reason, evidence=evidence)


def _short(text: str) -> str:
    """Return a text cut to 60 characters, safe to print on a terminal."""
    cut = text if len(text) <= 60 else f"{text[:57]}..."
    return f"'{cut}'" if cut.isprintable() else repr(cut)


def read_reference(case: Case, form: ReferenceForm = "marked") -> str:
    """Return the reference answer of a case; raise `CaseError` if it has no usable one."""
    key, value = "expected", case.expected
    if isinstance(value, dict):
        key, value = "expected.answer", value.get("answer")
    if value is None:
        key, value = "metadata.answer", case.metadata.get("answer")
    if value is None:
        raise CaseError(case.id, "metadata.answer", "the task has no reference answer")
    text = _reference_text(value)
    if text is None:
        kind = {bool: "a bool", FrozenList: "a list"}.get(type(value), "an object")
        raise CaseError(case.id, key, f"expected text or a number as the reference, got {kind}")
    if form == "marked":
        text = text[text.rfind("####") + 4 :] if "####" in text else text
    text = text.strip()
    if not text:
        raise CaseError(case.id, key, "the reference answer is empty")
    return text


def _reference_text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | dict | list):
        return None
    return decimal_text(value)
