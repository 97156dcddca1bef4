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
from fourscore.executors.worker_pool import WorkerError, WorkerPool, WorkerTimeout
from fourscore.judges.answer_extraction import (
    AnswerIn,
    Box,
    BoxForms,
    Think,
    find_answer,
    find_box_list,
    remove_phantoms,
    remove_thinking,
)
from fourscore.judges.math.comparison_result import Equivalence
from fourscore.judges.math.equality import decide
from fourscore.judges.math.limits import REFERENCE_CACHE
from fourscore.judges.math.math_verify import compare_with_itself, verify

#: `marked`: the text after the last `####`, if there is one; `whole`: all of it.
ReferenceForm = Literal["marked", "whole"]
#: Seconds in which a reference has to be compared with itself, unless `deadline` is longer.
REFERENCE_SECONDS = 10.0
#: Seconds that an answer waits for a worker.
PATIENCE = 3600.0


class MathJudge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Gives 1 if the last box of the answer has the reference answer, else 0.

    Boxes that only "and", "or", commas or spacing separate are one list where the reference is one.

    match: `exact` (default) compares texts; `equivalent` accepts a mathematically equal answer, and
        what the exact fast path cannot decide, Math-Verify decides in a worker process
    answer_in: where the answer stands: `boxed` (default), `tag` (`<answer>…</answer>`), `hash`
        (after `####`), `final_answer` (after "the answer is"), `last_number`, or `any` of them
    percent: `strict` (default) reads 5% as 0.05; `either` also as 5
    box, box_forms: which box holds the answer, and what counts as a box
    think: `drop` (default) ignores text inside <think>…</think>, `keep` reads it
    reference: `marked` (default) is what follows the last `####`, `whole` is all of it
    deadline: seconds after which the worker is killed
    """

    match: Literal["exact", "equivalent"] = "exact"
    answer_in: AnswerIn = "boxed"
    percent: Literal["strict", "either"] = "strict"
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
        given = find_answer(text, self.answer_in, box=self.box, forms=self.box_forms)
        if given is None:
            return (_wrong(_NOTHING[self.answer_in]),)
        if not given:
            return (
                _wrong("the box is empty" if self.answer_in == "boxed" else "the answer is empty"),
            )
        if "," in expected and self.answer_in in ("boxed", "any") and self.box == "last":
            given = self._join_boxes(text, given)
        try:
            if given == expected or await self._is_equivalent(given, expected):
                return (_RIGHT if self.answer_in == "boxed" else _RIGHT_UNBOXED,)
        except IncomparableError as error:
            # An agent must not avoid a 0 by writing what cannot be compared. The reference is to
            # blame only if it cannot be compared with itself either.
            await check_reference(expected, self.deadline)
            return (_wrong(str(error)),)
        verb = "the box holds" if self.answer_in == "boxed" else "the answer is"
        reason = f"{verb} {_short(given)}, the reference is {_short(expected)}"
        return (_wrong(reason, Evidence(text=given[:200], field="answer")),)

    def _join_boxes(self, text: str, given: str) -> str:
        """Return several boxes that are one list as a list; else the answer that was found."""
        boxes = [remove_phantoms(one) for one in find_box_list(text, self.box_forms)]
        return ", ".join(boxes) if len(boxes) > 1 and boxes[-1] == given else given

    async def _is_equivalent(self, given: str, expected: str) -> bool:
        if self.match == "exact":
            return False
        if await are_equivalent(given, expected, self.deadline):
            return True
        if self.percent == "strict" or ("%" in given) == ("%" in expected):
            return False
        mine, theirs = (text.replace("\\%", "").replace("%", "") for text in (given, expected))
        return await are_equivalent(mine, theirs, self.deadline)


#: The reason where no answer was found, by `answer_in`.
_NOTHING: dict[AnswerIn, str] = {
    "boxed": "no \\boxed{…} in the answer",
    "tag": "no <answer>…</answer> in the answer",
    "hash": "no #### in the answer",
    "final_answer": 'the answer does not say "the answer is"',
    "last_number": "no number in the answer",
    "any": "no answer was found: no box, no tag, no #### and no number",
}


class IncomparableError(JudgeError):
    """An answer could not be compared with the reference: one of the two texts is the cause."""


async def are_equivalent(given: str, expected: str, deadline: float) -> bool:
    """Whether two texts are mathematically equal.

    Raises `IncomparableError` where a text makes Math-Verify fail, crash, run out of memory or
    exceed the deadline, and `WorkerError` where it could not run at all.
    """
    verdict = decide(given, expected).verdict
    if verdict is not Equivalence.UNKNOWN:
        return verdict is Equivalence.EQUAL
    require_loop()
    try:
        return await _verifiers().run(verify, given, expected, deadline=deadline)
    except WorkerTimeout as error:
        if not error.has_run:
            raise
        message = f"{_short(given)} could not be compared within {deadline:g} s"
        raise IncomparableError(message) from None
    except WorkerError as error:
        if not error.has_run:
            raise
        raise IncomparableError(f"{_short(given)} could not be compared: {error}") from None
    except Exception as error:  # of SymPy, ANTLR or Math-Verify; its text may quote the answer
        message = f"{_short(given)} could not be compared: {type(error).__name__}"
        raise IncomparableError(message) from error


#: References that were compared with themselves; cleared when it has `REFERENCE_CACHE` entries.
_comparable: set[str] = set()


async def check_reference(expected: str, deadline: float) -> None:
    """Raise `JudgeError` if Math-Verify cannot compare a reference with itself."""
    if expected in _comparable:
        return
    # The user wrote the reference: it may take longer than an answer, on a busy machine too.
    seconds = max(deadline, REFERENCE_SECONDS)
    try:
        await _verifiers().run(compare_with_itself, expected, deadline=seconds)
    except Exception as error:
        cause = str(error) if isinstance(error, WorkerError) else type(error).__name__
        message = f"the reference {_short(expected)} cannot be compared with itself: {cause}"
        raise JudgeError(message) from error
    if len(_comparable) >= REFERENCE_CACHE:
        _comparable.clear()
    _comparable.add(expected)


@cache
def _verifiers() -> WorkerPool:
    """Return the worker processes with Math-Verify loaded; the first starts when it is needed."""
    warm = ["fourscore.judges.math.math_verify_warmup"]
    # However many answers are stopped at their deadline, those behind them are judged in the end.
    return WorkerPool(16, warm=warm, template=True, patience=PATIENCE)


_RIGHT = Signal(name="math", value=1.0, passed=True, reason="the box holds the reference")
_RIGHT_UNBOXED = Signal(name="math", value=1.0, passed=True, reason="the answer is the reference")


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
