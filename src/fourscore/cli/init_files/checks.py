"""Your own judges. A parameter after the `*` is an option, set in rubric.yaml under `with`."""

from fourscore import Case, Signal, Trace, judge


@judge
def brief(case: Case, trace: Trace, *, most: int = 60) -> Signal:  # noqa: ARG001
    """Return 1 for up to `most` words, and less for more words. `case` has the question."""
    words = len(trace.answer.split())
    value = min(1.0, most / max(1, words))
    return Signal(name="brief", value=value, reason=f"{words} words, {most} allowed")
