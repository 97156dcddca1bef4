"""Whether the reader is offered something to do after the answer.

How to run or verify it, what to change next, what is left open, where else to turn, a follow-up
that the agent names. Politeness, the agent's own plan and what it did are none of these.
"""

from rubrica.judges.fitness.detectors.answer import kind_of
from rubrica.judges.fitness.detectors.pattern import Pattern, pattern
from rubrica.judges.fitness.detectors.sayings import Saying, sayings

_OWN = ("plan", "restated", "acknowledged", "meta", "teaser", "attached")


def _list(name: str) -> Pattern:
    return pattern("steps", name)


def has_next_steps(output: str) -> bool:
    """Whether some sentence, heading or list tells the reader what to do next."""
    said = sayings(output)
    if said and all(one.item for one in said):
        return False  # the answer itself is a list of steps
    return any(
        is_step(one, first=place == 0 and not one.after_code) for place, one in enumerate(said)
    )


def is_step(one: Saying, *, first: bool) -> bool:
    """Whether a sentence is something to do; the `first` one is the answer if it tells anything."""
    text = one.bare
    if one.question and pattern("answers", "confirm").search(text):
        return False  # the agent wants leave to go on
    if _list("idle").search(text) or kind_of(one) in _OWN or _list("past").search(text):
        return False
    if _list("strong").search(text):
        return not first or one.title or not _list("imperative").search(text)
    return not first and not one.question and _list("imperative").search(text) is not None
