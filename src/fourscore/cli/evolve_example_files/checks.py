"""What a good answer has in it: the price with its currency, the day, the rule."""

from fourscore import Case, Signal, Trace, judge


@judge
def contains_expected(case: Case, trace: Trace, *, what: str) -> Signal:
    """Whether the answer holds what the case expects under this name."""
    wanted = case.expected[what]
    there = wanted in trace.answer
    reason = "it is there" if there else f"the {what} is missing or wrong"
    return Signal(name=what, value=float(there), reason=reason)
