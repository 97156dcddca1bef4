"""A file of JSON objects, one a line or spread over lines or both, in batches of bounded size.

The fast way decodes a whole piece at once. Where that fails, the lines of the piece are gone
through one by one: an object may go on over several, a broken one is named by its first line, and
the next that begins at the start of a line is read again.
"""

from collections.abc import Iterator
from typing import BinaryIO, Generic, NamedTuple, TypeVar

import msgspec

from fourscore.core import DataError
from fourscore.formats.case_records import decode_json
from fourscore.formats.line_chunks import MAX_LINE, read_chunks
from fourscore.formats.validation import explain_error

T = TypeVar("T")

#: Lines of one object, and how often its end is tried.
LINES, TRIES = 20_000, 500
#: Bytes that are decoded at once: the records stay in the processor's cache while they are counted.
PIECE = 64 * 1024
#: Broken lines that are remembered; all are counted.
NOTED = 20


class BrokenLine(NamedTuple):
    """Where something stands that is no record, and why it is none."""

    line: int
    message: str
    field: str | None = None


class ObjectBatches(Generic[T]):
    """The objects of a stream as `kind`, in lists. With `skip`, what is broken is counted.

    A `lean` kind refuses more fields and is faster: a list is of that kind where all of it fits.
    """

    def __init__(
        self, stream: BinaryIO, kind: type[T], *, skip: bool = False, lean: type[T] | None = None
    ) -> None:
        self.stream, self.kind, self.skip = stream, kind, skip
        self.lean = None if lean is None else msgspec.json.Decoder(lean)
        self.decoder = msgspec.json.Decoder(kind)
        self.broken, self.noted = 0, list[BrokenLine]()
        self.replaced = 0
        self._held = b""

    def __iter__(self) -> Iterator[list[T]]:
        """All objects, the fast way where it goes."""
        for text, first, ends in self._pieces():
            if self.lean is not None:
                try:
                    yield self.lean.decode_lines(text)
                    continue
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    pass  # it has something more, or is broken
            try:
                records = self.decoder.decode_lines(text)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                records = [record for _, record in self._each(text, first, ends)]
            if records:
                yield records

    def numbered(self) -> Iterator[tuple[int, T]]:
        """Each object with its line."""
        for text, first, ends in self._pieces():
            yield from self._each(text, first, ends)

    def _pieces(self) -> Iterator[tuple[bytes, int, bool]]:
        """Pieces that end where an object may end; what is left over goes before the next."""
        parts, number = list[bytes](), 1
        for chunk in read_chunks(self.stream, PIECE):
            cut = _last_end(chunk.text)
            if not parts:
                number = chunk.first
            parts.append(chunk.text[:cut] if cut else chunk.text)
            if not cut:
                if sum(map(len, parts)) > MAX_LINE:
                    raise DataError(f"longer than {MAX_LINE >> 20} MiB", line=number)
                continue
            text, self._held = b"".join(parts), b""
            yield text, number, False
            parts = [part for part in (self._held, chunk.text[cut:]) if part]
            if parts:
                number += text.count(b"\n") - self._held.count(b"\n")
        if parts:
            yield b"".join(parts), number, True

    def _each(self, text: bytes, first: int, ends: bool) -> Iterator[tuple[int, T]]:
        """The objects of a piece; one that it leaves open is held, unless the file ends."""
        held: list[bytes] = []
        start, tries = first, 0
        for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
            if held and (line[:1] == b"{" or len(held) > LINES or tries > TRIES):
                self._note(BrokenLine(start, "not JSON: it has no end"))
                held = []
            whole = line
            if held:
                held.append(line)
                if not line.rstrip().endswith(b"}"):
                    continue
                whole, tries = b"\n".join(held), tries + 1
            elif not line or line.isspace():
                continue
            else:
                start, tries = number, 0
            found = self._decoded(whole, start)
            if found is None:
                held = held or [line]
                continue
            held = []
            if isinstance(found, BrokenLine):
                self._note(found)
            else:
                yield start, found[0]
        if held and ends:
            self._note(BrokenLine(start, "not JSON: it has no end"))
        elif held:
            self._held = b"\n".join(held) + b"\n"

    def _decoded(self, text: bytes, line: int) -> tuple[T] | BrokenLine | None:
        """The object; None where it is not at its end."""
        try:
            return (self.decoder.decode(text),)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if "truncated" in str(error):
                return None
        try:
            value, replaced = decode_json(text)
        except DataError as error:
            return (
                None
                if "truncated" in error.message
                else BrokenLine(line, error.message, error.field)
            )
        self.replaced += replaced
        return self._converted(value, line)

    def _converted(self, value: object, line: int) -> tuple[T] | BrokenLine:
        try:
            return (msgspec.convert(_mended(value), self.kind),)
        except msgspec.ValidationError as error:
            message, field = explain_error(error, value, self.kind)
            return BrokenLine(line, message, field)

    def one(self, value: object, place: str) -> T:
        """A value that was decoded elsewhere, as one of these."""
        found = self._converted(value, 1)
        if isinstance(found, BrokenLine):
            field = f"{place}.{found.field}" if found.field else place
            raise DataError(found.message, field=field)
        return found[0]

    def _note(self, broken: BrokenLine) -> None:
        if not self.skip:
            raise DataError(broken.message, line=broken.line, field=broken.field)
        self.broken += 1
        if len(self.noted) < NOTED:
            self.noted.append(broken)


def _last_end(text: bytes) -> int:
    """Behind the last line that ends with a brace; 0 where there is none."""
    cut = text.rfind(b"}\n") + 2
    if cut < 2 or text.endswith(b"\r\n"):
        cut = max(cut, text.rfind(b"}\r\n") + 3)
    return cut if cut > 2 else 0


def _mended(value: object) -> object:
    """Lone surrogates stop the converter too."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return [_mended(item) for item in value] if isinstance(value, list) else value
