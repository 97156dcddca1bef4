"""Whether what a tool gave back is an error: the marks that results bear, and what texts report.

What a report of a failure is, the detector says (`detectors.failure`), for logs as for answers. It
is loaded with the first output: most logs have none.
"""

from collections.abc import Mapping, Sequence
from typing import Any

#: Characters of an output that are looked at: its beginning and its end, where errors stand.
HEAD, TAIL = 8000, 8000
#: Characters of an error that are told.
TOLD = 200

_TEXTS = ("stderr", "stdout", "output", "content", "message")
_MARKED = ("is_error", "isError", "interrupted")


def error_in(output: Any) -> str | None:
    """The line with the error, or None where there is none."""
    if output is None:
        return None
    if isinstance(output, str):
        return _in_text(output)
    if isinstance(output, Mapping):
        return _in_fields(output)
    if isinstance(output, list | tuple):
        parts = (part.get("text") for part in output[:50] if isinstance(part, Mapping))
        found = (_in_text(text) for text in parts if isinstance(text, str))
        return next((line for line in found if line), None)
    return None


def errors_in(outputs: Sequence[Any]) -> dict[int, str]:
    """The errors of many outputs, by their places: texts are searched all at once."""
    from rubrica.judges.fitness.detectors.failures import failures

    most = HEAD + TAIL
    texts = [text if type(text) is str and len(text) <= most else "" for text in outputs]
    found = {i: line[:TOLD] for i, line in failures(texts).items()}
    if not all(texts):
        others = (i for i, text in enumerate(texts) if not text and outputs[i])
        found.update((i, said) for i in others if (said := error_in(outputs[i])) is not None)
    return found


def _in_text(text: str) -> str | None:
    from rubrica.judges.fitness.detectors.failures import failure

    if len(text) > HEAD + TAIL:
        text = f"{text[:HEAD]}\n{text[-TAIL:]}"
    found = failure(text)
    return None if found is None else found.text[:TOLD]


def _in_fields(fields: Mapping[str, Any]) -> str | None:
    said = fields.get("error")
    if said and said != "none":
        return said[:TOLD] if isinstance(said, str) else "the result has an error"
    for mark in _MARKED:
        if fields.get(mark) is True:
            return f"the result says {mark}"
    for mark in ("success", "ok"):
        if fields.get(mark) is False:
            return f"the result says that {mark} is false"
    texts = (fields.get(key) for key in _TEXTS)
    found = (_in_text(text) for text in texts if isinstance(text, str))
    return next((line for line in found if line), None)
