"""A judge of the example: an answer needs the price with its currency, the day and the rule."""

from fourscore import Case, Signal, Trace, judge


@judge
def contains_expected(case: Case, trace: Trace, *, what: str) -> Signal:
    """Score 1 if the answer contains the text in `expected[what]` of the case, else 0."""
    wanted = case.expected[what]
    there = wanted in trace.answer
    reason = f"the {what} is right" if there else f"the {what} is missing or wrong"
    return Signal(name=what, value=float(there), reason=reason)
