"""Holm's step-down adjustment: several tests that share one chance of a false alarm.

An adjusted p at or below 0.05 is a finding, and the chance that any of them is false stays below
5% however the tests hang together: tags overlap, and pass/fail comes from the score.
"""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """The adjusted p-values, each in its place."""
    adjusted, floor = [1.0] * len(p_values), 0.0
    ranked = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, place in enumerate(ranked):
        p = p_values[place]
        if not 0.0 <= p <= 1.0:
            raise ValueError(f"p-value: {p} is not between 0 and 1")
        floor = max(floor, min(1.0, p * (len(ranked) - rank)))
        adjusted[place] = floor
    return adjusted
