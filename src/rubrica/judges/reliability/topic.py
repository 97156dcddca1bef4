"""Whether a source that speaks of one field only has anything to do with the question.

An RFC is no source on pregnancy. The question must plainly be about something else, and a single
word of the field, in it or in the prose of the answer, lets the source pass: this catches padding
with fine addresses, not a bad choice.
"""

from collections.abc import Callable
from functools import lru_cache

from rubrica.judges.reliability.lexicon import mentions


def is_off_topic(field: str, question: str, answer: Callable[[], str]) -> bool:
    """Whether the question is about life, and neither it nor the answer has a word of the field."""
    if _speaks_of(field, question) or not _speaks_of("elsewhere", question):
        return False
    return not mentions(field, answer().casefold())


@lru_cache(maxsize=1024)
def _speaks_of(field: str, question: str) -> bool:
    return mentions(field, question.casefold())
