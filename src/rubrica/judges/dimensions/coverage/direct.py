"""Parts of a question that a sentence answers outright, in whatever order they come."""

import re
from collections.abc import Iterator, Sequence, Set

from msgspec.structs import replace

from rubrica.judges.dimensions.coverage.plan import LEAST, Plan
from rubrica.judges.dimensions.coverage.reading import Read
from rubrica.judges.dimensions.coverage.sole import is_bare
from rubrica.judges.dimensions.coverage.spoken import is_concrete
from rubrica.judges.dimensions.coverage.units import frames

#: From which score a sentence answers a part of the question, whatever the others are about, and
#: one that has what the part asks for: a name for `who`.
_OUTRIGHT, _FITTING = 0.6, 0.42
#: From which one a bare answer is for another part than the first.
_FAINT = 0.3
#: `It was written by Frank Herbert and published in 1965` has two parts.
_AND = re.compile(r",? (?:and|but) ")
_LONGEST_CUT = 300
#: A yes or a no by itself, whatever follows it.
_YES = re.compile(
    r"\W*(?:yes|no|yep|nope|是的?|不是|不?可以|不?能|不?会|没?有|不?需要|不用|不?对|不?行|否)(?=[,.!，。！]|$)"
)


def direct(said: Sequence[Read], plan: Plan, declined: Set[int]) -> Iterator[tuple[int, Read]]:
    """Each part that is answered outright, and where."""
    waiting = [at for at, aspect in enumerate(plan.aspects) if aspect.yes_no]
    few = len(said) < len(plan.aspects)
    for read in said:
        speech = read.told.speech
        if waiting and not speech.named and _is_yes(read):
            yield waiting.pop(0), read  # a bare `yes` is for the next part that wants one
            continue
        for clause in _clauses(read, plan) if few else (read,):
            for at in _answered(clause, plan, declined):
                if at in waiting:
                    waiting.remove(at)
                yield at, read
    first = said[0]
    if is_bare(first) and (len(said) == 1 or _is_name(first)):
        values = first.told.speech.values()
        best = max(values)
        yield values.index(best) if best >= _FAINT else 0, first


def _is_name(read: Read) -> bool:
    """A name or a figure that the answer opens with: `Mount Everest. It is in the Himalayas.`"""
    return is_concrete(read.passage.text) and not frames(read.told.said.lower)


def _is_yes(read: Read) -> bool:
    lower = read.told.said.lower
    return _YES.match(lower) is not None or (read.told.speech.answers and is_bare(read))


def _answered(read: Read, plan: Plan, declined: Set[int]) -> list[int]:
    """The part that a sentence speaks of most, and those whose very question it answers."""
    told, speech = read.told, read.told.speech
    if told.said.kind:
        return []
    values = speech.values()
    best, barred = max(values), speech.blocked | (declined - speech.named)
    answers = plan.asks_yes_no and speech.answers
    return [
        at
        for at, value in enumerate(values)
        if value >= _FITTING
        and at not in barred
        and ((value == best and value >= _OUTRIGHT) or speech.hits(at))
        and (told.fresh >= LEAST or (answers and plan.aspects[at].yes_no))
    ]


def _clauses(read: Read, plan: Plan) -> Iterator[Read]:
    text = read.passage.text
    yield read
    if " and " in text or " but " in text:
        for clause in _AND.split(text[:_LONGEST_CUT]):
            yield Read(replace(read.passage, text=clause), plan.told(clause), read.labelled)
