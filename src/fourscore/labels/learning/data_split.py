"""The parts of the data, each with one use.

`source`: shown to the model, with labels, to propose criteria. `check`: criteria are tried on them
first. `selection`: with those, which criteria stay and what they weigh. `held`: the report, once,
after everything is decided. A sample's part goes by its digest and the seed, not by its place in
the file.

Beyond some size more labels only cost more calls: the parts are capped, and the rest is left over.
"""

from collections.abc import Sequence
from typing import NamedTuple

from fourscore.core import digest
from fourscore.formats.labelled_samples import SampleFile

HELD, SELECTION, SOURCE = 0.3, 0.2, 0.17
#: Answers of a part at the most; of the held-out part samples, which are its unit.
MOST = {"held": 120, "selection": 80, "check": 80, "source": 60}
#: Answers on which a criterion is tried first.
PROBE = 40
#: Samples below which nothing can be shown: seven held-out labels, all in favour, are p = 1/128.
FEWEST = 24


class Unit(NamedTuple):
    """One answer: its sample, its place in the sample, and its label in [0, 1]."""

    sample: int
    place: int
    y: float


class Parts(NamedTuple):
    """Samples by their number."""

    source: tuple[int, ...]
    check: tuple[int, ...]
    selection: tuple[int, ...]
    held: tuple[int, ...]

    def sizes(self) -> dict[str, int]:
        return {name: len(part) for name, part in self._asdict().items()}


def parts_of(samples: SampleFile, seed: int) -> Parts:
    """Held out three in ten, for selection two, for proposals a third of the rest."""
    entries = samples.entries
    order = sorted(range(len(samples)), key=lambda at: digest([seed, entries[at].digest]))
    n = len(order)
    cuts = [round(n * HELD), round(n * (HELD + SELECTION)), round(n * (HELD + SELECTION + SOURCE))]
    held, selection, source, check = (
        order[start:end] for start, end in zip([0, *cuts], [*cuts, n], strict=True)
    )
    return Parts(
        source=_capped(samples, source, MOST["source"]),
        check=_capped(samples, check, MOST["check"]),
        selection=_capped(samples, selection, MOST["selection"]),
        held=tuple(held[: MOST["held"]]),
    )


def take_probe(samples: SampleFile, check: Sequence[int]) -> tuple[int, ...]:
    """The part of `check` on which a criterion is tried first."""
    return _capped(samples, check, PROBE)


def _capped(samples: SampleFile, part: Sequence[int], most: int) -> tuple[int, ...]:
    """Whole samples, of so many answers together."""
    kept: list[int] = []
    answers = 0
    for at in part:
        answers += len(samples.entries[at].labels)
        if kept and answers > most:
            break
        kept.append(at)
    return tuple(kept)


def list_answers(samples: SampleFile, part: Sequence[int]) -> list[Unit]:
    """Every answer of a part."""
    return [Unit(at, place, y) for at in part for place, y in enumerate(samples.values(at))]
