"""Judges of your own. What stands after the `*` is an option, set in rubric.yaml under `with`."""

from fourscore import Case, Signal, Trace, judge


@judge
def brief(case: Case, trace: Trace, *, most: int = 60) -> Signal:  # noqa: ARG001
    """1 up to so many words, and less the longer it gets. `case` holds what was asked."""
    words = len(trace.answer.split())
    value = min(1.0, most / max(1, words))
    return Signal(name="brief", value=value, reason=f"{words} words, {most} allowed")
