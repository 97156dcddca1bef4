"""What a trainer gets for a score: the reward, its components for the log, or why there is none."""

from collections.abc import Mapping
from typing import Literal

from fourscore.core import Case, CaseError, ConfigError, FourscoreError, JudgeError, Rubric, Score
from fourscore.core.numbers import clamp

#: What an output that could not be judged gives: an exception, 0.0, or the trainer's own value
#: for "no reward", where it has one.
OnError = Literal["raise", "zero", "none"]


def check_on_error(on_error: str, allowed: tuple[OnError, ...], trainer: str) -> None:
    """Raise a `ConfigError` unless the trainer has a way to express `on_error`."""
    if on_error not in allowed:
        message = f"{on_error!r} is not possible with {trainer}: expected {' or '.join(allowed)}"
        raise ConfigError(message, field="on_error")


def resolve_reward(case: Case, score: Score, on_error: OnError) -> float | None:
    """Return the reward; where nothing was measured, do what `on_error` says."""
    if score.reward is not None:
        return score.reward
    if on_error == "raise":
        raise make_error(case, score)
    return 0.0 if on_error == "zero" else None


def make_error(case: Case, score: Score) -> FourscoreError:
    """Return why there is no reward: a `CaseError` for the task's data, else a `JudgeError`."""
    for signal in score.signals:
        if signal.fault is not None and signal.fault.kind == "data":
            text = signal.fault.message.removeprefix(f"task {case.id!r}: ")
            key, colon, message = text.partition(": ")
            if colon and " " not in key:
                return CaseError(case.id, key, message)
    return JudgeError(f"task {case.id!r}: {score.status}: {score.reason}")


def get_components(rubric: Rubric, score: Score) -> dict[str, float | None]:
    """Return the parts of a score for a trainer's log; the keys are the same for every score.

    None is what was not measured or does not apply; `fourscore_judged` is always a number.
    """
    values = {signal.name: signal.value for signal in score.signals}
    parts = {
        "fourscore_judged": 0.0 if score.reward is None else 1.0,
        "fourscore_passed": None if score.passed is None else float(score.passed),
    }
    names = [name for slot in rubric.slots for name in slot.kept]
    return {**parts, **{f"fourscore_signal_{name}": values.get(name) for name in names}}


def get_numeric_components(rubric: Rubric, score: Score, missing: float = 0.0) -> dict[str, float]:
    """Return the parts of a score for a log that takes only numbers.

    `missing` stands for None; where `fourscore_judged` is 0, the others mean nothing.
    """
    parts = get_components(rubric, score)
    return {key: missing if part is None else part for key, part in parts.items()}


def get_unit_value(score: Score) -> float | None:
    """Return the score in [0, 1]; for a ranking, which has no value, the clamped reward."""
    if score.value is not None:
        return score.value
    return None if score.reward is None else clamp(score.reward)


def describe_failure(score: Score) -> str:
    """Return why there is no reward, without the judge's text, which may quote the reference."""
    for signal in score.signals:
        if signal.fault is not None:
            return f"{signal.name}: {_FAULT_TEXTS[signal.fault.kind]}"
    return str(score.status)


_FAULT_TEXTS: Mapping[str, str] = {
    "cancelled": "cancelled",
    "connection": "the judge could not be reached",
    "data": "the task lacks what its judge needs",
    "error": "the judge failed",
    "refused": "the judge's model refused",
    "timeout": "no answer before the deadline",
}
