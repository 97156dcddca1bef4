"""Split the labelled samples into parts, each with one use.

`source`: shown to the model, with labels, to propose criteria. `check`: criteria are tried on these
first. `selection`: with `check`, decides which criteria stay and their weights. `held`: used once,
for the report, after everything is decided. A sample's part depends on its digest and the seed, not
on its position in the file.

Beyond some size more labels only cost more calls: the parts are limited, and the rest is unused.
"""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from fourscore.core import digest
from fourscore.formats.labelled_samples import SampleFile

HELD, SELECTION, SOURCE = 0.3, 0.2, 0.17
#: Most answers of a part; of the held-out part most samples, which are its unit.
MOST = {"held": 120, "selection": 80, "check": 80, "source": 60}
#: Answers on which a criterion is tried first.
PROBE = 40
#: Fewer samples can show nothing: seven held-out labels, all in favour, give p = 1/128.
FEWEST = 24


class LabelledAnswer(NamedTuple):
    """One answer: its sample, its position in the sample, and its label in [0, 1]."""

    sample: int
    place: int
    label: float


class DataSplit(msgspec.Struct, frozen=True, kw_only=True):
    """The samples of each part, by their position in the file."""

    source: tuple[int, ...]
    check: tuple[int, ...]
    selection: tuple[int, ...]
    held: tuple[int, ...]

    def count(self) -> dict[str, int]:
        """Return the number of samples of each part."""
        return {name: len(getattr(self, name)) for name in self.__struct_fields__}


def split_samples(samples: SampleFile, seed: int) -> DataSplit:
    """Hold out three in ten; take two for selection, and a third of the rest for proposals."""
    entries = samples.entries
    order = sorted(range(len(samples)), key=lambda at: digest([seed, entries[at].digest]))
    n = len(order)
    cuts = [round(n * HELD), round(n * (HELD + SELECTION)), round(n * (HELD + SELECTION + SOURCE))]
    held, selection, source, check = (
        order[start:end] for start, end in zip([0, *cuts], [*cuts, n], strict=True)
    )
    return DataSplit(
        source=_limit(samples, source, MOST["source"]),
        check=_limit(samples, check, MOST["check"]),
        selection=_limit(samples, selection, MOST["selection"]),
        held=tuple(held[: MOST["held"]]),
    )


def take_probe(samples: SampleFile, check: Sequence[int]) -> tuple[int, ...]:
    """Return the samples of `check` on which a criterion is tried first."""
    return _limit(samples, check, PROBE)


def _limit(samples: SampleFile, part: Sequence[int], most: int) -> tuple[int, ...]:
    """Return whole samples from the start of the part, of at most so many answers together."""
    kept: list[int] = []
    answers = 0
    for at in part:
        answers += len(samples.entries[at].labels)
        if kept and answers > most:
            break
        kept.append(at)
    return tuple(kept)


def list_answers(samples: SampleFile, part: Sequence[int]) -> list[LabelledAnswer]:
    """Return every answer of a part with its label."""
    return [
        LabelledAnswer(at, place, label)
        for at in part
        for place, label in enumerate(samples.values(at))
    ]
