"""Lines of JSON in compressed blocks of a few hundred, so that the page reads only what it shows.

A block is the text of one script element. Large ones are gzip in base64, which a browser unpacks
by itself. A small run stays plain JSON, with every character escaped that could end the element or
mean something to an HTML parser.
"""

import base64
import gzip
import re
from typing import NamedTuple

#: Bytes of JSON in one block.
SIZE = 64 << 10
#: A page with no more bytes of JSON than this is not compressed.
PLAIN = 256 << 10

_MARKUP = re.compile("[<>&\u2028\u2029]")

Key = tuple[int, int]


def escape_markup(text: str) -> str:
    """Return JSON text in which no character can be read as markup."""
    return _MARKUP.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def max_packed_size(size: int) -> int:
    """Return the most bytes that `size` bytes can take after compression and base64."""
    return (size + size // 1000 + 256) * 4 // 3


class Block(NamedTuple):
    """Some lines of JSON: the keys of the first and last, their number, and the encoded text."""

    first: Key
    last: Key
    lines: int
    packed: bool
    body: bytes

    @property
    def size(self) -> int:
        return len(self.body) + 100  # the element around it


class BlockWriter:
    """Collects lines in the order of their keys into blocks; `close` returns the blocks."""

    def __init__(self, room: int, size: int = SIZE) -> None:
        self.room, self.size = room, size
        self.raw = self.written = self.closed = 0
        self._open: list[tuple[Key, bytes]] = []
        self._weight = self._waiting = 0  # bytes in the open one, and in all that are not packed
        self._plain: list[list[tuple[Key, bytes]]] = []
        self._done: list[Block] = []

    @property
    def packing(self) -> bool:
        return self.raw > PLAIN

    @property
    def ratio(self) -> float:
        """Bytes in the file for each byte of JSON, so far."""
        return self.written / packed if (packed := self.raw - self._waiting) else 0.4

    def add(self, key: Key, line: bytes) -> bool:
        """Add a line; return False if it does not fit into the space left."""
        if self.written + max_packed_size(self._waiting + len(line) + 1) > self.room:
            return False
        self.raw += len(line) + 1
        self._weight += len(line) + 1
        self._waiting += len(line) + 1
        self._open.append((key, line))
        if self._weight >= self.size:
            self._close_block()
        return True

    def close(self) -> list[Block]:
        self._close_block()
        if self._plain:
            bodies = [_make_block(lines, packed=False) for lines in self._plain]
            if sum(body.size for body in bodies) > min(self.room, 2 * PLAIN):
                bodies = [_make_block(lines, packed=True) for lines in self._plain]
            self._done, self._plain = bodies, []
        return self._done

    def _close_block(self) -> None:
        if not self._open:
            return
        self._plain.append(self._open)
        self._open, self._weight = [], 0
        self.closed += 1
        if self.packing:
            for lines in self._plain:
                self._done.append(_make_block(lines, packed=True))
                self.written += self._done[-1].size
            self._plain, self._waiting = [], 0


def _make_block(lines: list[tuple[Key, bytes]], *, packed: bool) -> Block:
    body = b"[" + b",\n".join(line for _, line in lines) + b"]"
    if packed:
        body = base64.b64encode(gzip.compress(body, 6, mtime=0))
    else:
        body = escape_markup(body.decode()).encode()
    return Block(lines[0][0], lines[-1][0], len(lines), packed, body)
