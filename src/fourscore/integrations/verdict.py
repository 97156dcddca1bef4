"""A score in the words of a trainer: a number, its parts for a log, or why there is none."""

from collections.abc import Mapping
from typing import Any, Literal

from fourscore.core import Case, CaseError, ConfigError, FourscoreError, JudgeError, Rubric, Score
from fourscore.core.numbers import clamp

#: What an answer that could not be judged gives: an exception, 0.0, or the trainer's own word
#: for "no reward", where it has one.
OnError = Literal["raise", "zero", "none"]


def check_word(word: str, words: tuple[OnError, ...], trainer: str) -> None:
    """Refuse, before the first step, what the trainer has no way to express."""
    if word not in words:
        message = f"{word!r} cannot be said to {trainer}: expected {' or '.join(words)}"
        raise ConfigError(message, field="on_error")


def reward_of(case: Case, score: Score, word: OnError) -> float | None:
    """The reward; where nothing was measured, what `on_error` asks for."""
    if score.reward is not None:
        return score.reward
    if word == "raise":
        raise error_of(case, score)
    return 0.0 if word == "zero" else None


def error_of(case: Case, score: Score) -> FourscoreError:
    """Why there is no reward, as an exception: the task's data, or the judge."""
    for signal in score.signals:
        if signal.fault is not None and signal.fault.kind == "data":
            words = signal.fault.message.removeprefix(f"task {case.id!r}: ")
            key, colon, message = words.partition(": ")
            if colon and " " not in key:
                return CaseError(case.id, key, message)
    return JudgeError(f"task {case.id!r}: {score.status}: {score.reason}")


def components(rubric: Rubric, score: Score) -> dict[str, float | None]:
    """The parts of a score for a trainer's log. A rubric has the same keys for every score.

    None is what was not measured or does not apply; `fourscore_judged` is always a number.
    """
    said = {signal.name: signal.value for signal in score.signals}
    parts = {
        "fourscore_judged": 0.0 if score.reward is None else 1.0,
        "fourscore_passed": None if score.passed is None else float(score.passed),
    }
    names = [name for slot in rubric.slots for name in slot.kept]
    return {**parts, **{f"fourscore_signal_{name}": said.get(name) for name in names}}


def numbers(parts: Mapping[str, float | None], missing: float = 0.0) -> dict[str, float]:
    """Components for a log that takes nothing but numbers: read them beside `fourscore_judged`."""
    return {key: missing if part is None else part for key, part in parts.items()}


def unit(score: Score) -> float | None:
    """The score in [0, 1]; a ranking's is its reward."""
    if score.value is not None:
        return score.value
    return None if score.reward is None else clamp(score.reward)


def in_short(score: Score) -> str:
    """Why there is no reward, without a word of the judge's: those may quote the reference."""
    for signal in score.signals:
        if signal.fault is not None:
            return f"{signal.name}: {_SHORT[signal.fault.kind]}"
    return str(score.status)


_SHORT: Mapping[str, Any] = {
    "cancelled": "cancelled",
    "data": "the task lacks what its judge needs",
    "error": "the judge failed",
    "refused": "the judge's model refused",
    "timeout": "no answer before the deadline",
}
