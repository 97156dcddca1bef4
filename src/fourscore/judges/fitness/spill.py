"""Sessions beyond what memory should hold: sorted parts on disk, put together at the end."""

import tempfile
from collections.abc import Iterable, Iterator
from heapq import merge
from operator import attrgetter
from typing import IO

import msgspec

from fourscore.judges.fitness.counters import Tally

_KEY = attrgetter("session")
_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(Tally)


class Spill:
    """Parts in the order in which they were counted; the files have no names and end with us."""

    def __init__(self) -> None:
        self.parts: list[IO[bytes]] = []

    def add(self, tallies: Iterable[Tally]) -> None:
        part = tempfile.TemporaryFile()  # noqa: SIM115 - it lives until the end
        for tally in sorted(tallies, key=_KEY):
            text = _ENCODER.encode(tally)
            part.write(len(text).to_bytes(4, "little") + text)
        self.parts.append(part)

    def merged(self, rest: Iterable[Tally]) -> Iterator[Tally]:
        """Every session once, with all that was counted of it."""
        if not self.parts:
            yield from rest
            return
        held: Tally | None = None
        for tally in merge(*map(_read, self.parts), sorted(rest, key=_KEY), key=_KEY):
            if held is not None and held.session == tally.session:
                held.join(tally)
                continue
            if held is not None:
                yield held
            held = tally
        if held is not None:
            yield held
        for part in self.parts:
            part.close()


def _read(part: IO[bytes]) -> Iterator[Tally]:
    part.seek(0)
    while size := part.read(4):
        yield _DECODER.decode(part.read(int.from_bytes(size, "little")))
