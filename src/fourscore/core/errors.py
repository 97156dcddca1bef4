"""Exceptions of this package.

An error in a user's input names the file, the line and the field. Failures of a judge are
exceptions only until `score()`, which turns them into signals with a fault.
"""

from collections.abc import Iterable

from fourscore.core.secrets import hide_secrets


class FourscoreError(Exception):
    """Base class of all errors of this package.

    Where a judge raises it, its signal gets a fault of the kind `fault_kind` (one of
    `fourscore.core.trace.FAULTS`) with the same message. None gives the kind `error` and a message
    that begins with the class name. A subclass may give the cost of the failed call as `usage`.
    """

    fault_kind: str | None = None


class InputError(FourscoreError):
    """Bad input of a user; `str()` reads `file:line: field: what is wrong`."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        message = hide_secrets(message)
        self.message, self.file, self.line, self.field = message, file, line, field
        place = file or ""
        if line is not None:
            place = f"{place}:{line}" if place else f"line {line}"
        super().__init__(": ".join(part for part in (place, field, message) if part))

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild_error, (type(self), self.message, self.file, self.line, self.field))


class ConfigError(InputError):
    """A mistake in a configuration, a rubric or a judge's options."""


class DataError(InputError):
    """A mistake in a row or a case file."""


class CaseError(FourscoreError):
    """A case lacks what its judge needs: the data is wrong, not the agent's answer."""

    fault_kind = "data"

    def __init__(self, case_id: str, key: str, message: str) -> None:
        self.case_id, self.key, self.message = case_id, key, message
        super().__init__(f"task {case_id!r}: {key}: {message}")

    def __reduce__(self) -> tuple[object, ...]:
        return (CaseError, (self.case_id, self.key, self.message))


class JudgeError(FourscoreError):
    """A judge broke its contract; the message names the judge."""

    fault_kind = "error"


def suggest_known(word: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown word: the closest known word, else all known words."""
    words = sorted(known)
    close = find_close_word(word, words)
    return f"did you mean {close}?" if close else f"known: {', '.join(words)}"


def find_close_word(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """Return the known word closest to a misspelt one; empty if `word` is known or none is close.

    `alike` is the least similarity, from 0 to 1.
    """
    from difflib import get_close_matches  # only on the way to an error

    words = sorted(known)
    found = [] if word in words else get_close_matches(word, words, n=1, cutoff=alike)
    return found[0] if found else ""


def _rebuild_error(
    kind: type[InputError], message: str, file: str | None, line: int | None, field: str | None
) -> InputError:
    """Unpickle an error: exceptions with keyword arguments do not unpickle by themselves."""
    return kind(message, file=file, line=line, field=field)
