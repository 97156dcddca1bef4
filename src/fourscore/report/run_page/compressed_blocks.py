"""Lines of JSON, packed: a few hundred at a time, so that a reader opens only what it shows.

A parcel is the text of one script element. Large ones are gzip in base64, which a browser unpacks
by itself. A run that is small as a whole stays plain JSON, with every character escaped that could
end the element or mean something to an HTML parser.
"""

import base64
import gzip
import re
from typing import NamedTuple

#: Bytes of JSON in one parcel.
SIZE = 64 << 10
#: Up to so many in all, nothing is packed.
PLAIN = 256 << 10

_MARKUP = re.compile("[<>&\u2028\u2029]")

Key = tuple[int, int]


def escaped(text: str) -> str:
    """JSON, of which nothing is markup."""
    return _MARKUP.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def at_most(size: int) -> int:
    """What so many bytes take when they are packed, at worst."""
    return (size + size // 1000 + 256) * 4 // 3


class Parcel(NamedTuple):
    """The keys of the first and the last of its lines, how many they are, and what holds them."""

    first: Key
    last: Key
    lines: int
    packed: bool
    body: bytes

    @property
    def size(self) -> int:
        return len(self.body) + 100  # the element around it


class Parcels:
    """Add lines in the order of their keys; `close` gives the parcels."""

    def __init__(self, room: int, size: int = SIZE) -> None:
        self.room, self.size = room, size
        self.raw = self.written = self.closed = 0
        self._open: list[tuple[Key, bytes]] = []
        self._weight = self._waiting = 0  # bytes in the open one, and in all that are not packed
        self._plain: list[list[tuple[Key, bytes]]] = []
        self._done: list[Parcel] = []

    @property
    def packing(self) -> bool:
        return self.raw > PLAIN

    @property
    def ratio(self) -> float:
        """Bytes in the file for each byte of JSON, so far."""
        return self.written / packed if (packed := self.raw - self._waiting) else 0.4

    def add(self, key: Key, line: bytes) -> bool:
        """False where there is no room for it."""
        if self.written + at_most(self._waiting + len(line) + 1) > self.room:
            return False
        self.raw += len(line) + 1
        self._weight += len(line) + 1
        self._waiting += len(line) + 1
        self._open.append((key, line))
        if self._weight >= self.size:
            self._shut()
        return True

    def close(self) -> list[Parcel]:
        self._shut()
        if self._plain:
            bodies = [_parcel(lines, packed=False) for lines in self._plain]
            if sum(body.size for body in bodies) > min(self.room, 2 * PLAIN):
                bodies = [_parcel(lines, packed=True) for lines in self._plain]
            self._done, self._plain = bodies, []
        return self._done

    def _shut(self) -> None:
        if not self._open:
            return
        self._plain.append(self._open)
        self._open, self._weight = [], 0
        self.closed += 1
        if self.packing:
            for lines in self._plain:
                self._done.append(_parcel(lines, packed=True))
                self.written += self._done[-1].size
            self._plain, self._waiting = [], 0


def _parcel(lines: list[tuple[Key, bytes]], *, packed: bool) -> Parcel:
    body = b"[" + b",\n".join(line for _, line in lines) + b"]"
    if packed:
        body = base64.b64encode(gzip.compress(body, 6, mtime=0))
    else:
        body = escaped(body.decode()).encode()
    return Parcel(lines[0][0], lines[-1][0], len(lines), packed, body)
