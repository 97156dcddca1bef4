"""Large files of lines, read in chunks of bounded size that end where a line ends."""

from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from fourscore.core import DataError

#: A longer line is refused, because it would have to be held in memory.
MAX_LINE = 64 * 1024 * 1024
PIECE = 256 * 1024
#: A longer document is refused: it is held in memory as a whole.
MAX_DOCUMENT = 1024 * 1024 * 1024


class LineChunk(NamedTuple):
    """Whole lines, and the line number of the first."""

    first: int
    text: bytes

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are not blank, with their numbers."""
        for number, line in enumerate(self.text.split(b"\n"), self.first):
            if line and not line.isspace():
                yield number, line

    def split(self, most: int) -> Iterator["LineChunk"]:
        """Yield the same lines in chunks of at most `most` lines."""
        lines = self.text.split(b"\n")
        for start in range(0, len(lines), most):
            text = b"\n".join(lines[start : start + most])
            if text and not text.isspace():
                yield LineChunk(self.first + start, text)


def read_chunks(stream: BinaryIO, piece: int = PIECE) -> Iterator[LineChunk]:
    """Yield a stream in chunks of about `piece` bytes, without its byte order mark."""
    number, parts, held = 1, [], 0
    at_start = True
    while block := stream.read(piece):
        if at_start:
            block, at_start = block.removeprefix(b"\xef\xbb\xbf"), False
        cut = block.rfind(b"\n") + 1
        parts.append(block[:cut] if cut else block)
        held += len(parts[-1])
        if not cut:
            if held > MAX_LINE:
                raise DataError(f"longer than {MAX_LINE >> 20} MiB", line=number)
            continue
        chunk = LineChunk(number, b"".join(parts))
        number += chunk.text.count(b"\n")
        parts, held = [block[cut:]], len(block) - cut
        yield chunk
    if held:
        yield LineChunk(number, b"".join(parts))


def read_document(stream: BinaryIO) -> bytes:
    """Return the whole text of a document that is held in memory."""
    parts, size = list[bytes](), 0
    while part := stream.read(PIECE):
        parts.append(part)
        size += len(part)
        if size > MAX_DOCUMENT:
            hint = "write JSONL, which is read line by line"
            raise DataError(f"longer than {MAX_DOCUMENT >> 20} MiB; {hint}")
    return b"".join(parts)
