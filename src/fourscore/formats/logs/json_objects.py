"""A file of JSON objects, on one line each or over several lines, read in batches of bounded size.

The fast path decodes a whole piece at once. Where that fails, its lines are read one by one: an
object may span several lines, a broken one is reported by its first line, and reading goes on with
the next object that begins at the start of a line.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, Generic, NamedTuple, TypeVar

import msgspec

from fourscore.core import DataError
from fourscore.formats.case_records import decode_json
from fourscore.formats.json_keys import are_lines_sound, check_undecoded, has_all_keys
from fourscore.formats.line_chunks import MAX_LINE, read_chunks
from fourscore.formats.validation import explain_error

T = TypeVar("T")

_ENCODER = msgspec.json.Encoder()

#: The most lines of one object.
LINES = 20_000
#: Texts in a line: braces in them do not count. A text that does not end goes on to the line's end.
_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?')
#: Bytes decoded at once: the records stay in the processor's cache while they are counted.
PIECE = 64 * 1024
#: Broken lines that are kept with their message; all are counted.
NOTED = 20


class BrokenLine(NamedTuple):
    """A line that is not a record, and why."""

    line: int
    message: str
    field: str | None = None


class ObjectBatches(Generic[T]):
    """The objects of a stream as `kind`, in lists. With `skip`, broken lines are only counted.

    A `lean` kind accepts fewer fields and is faster: used for a list where every object fits it.
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
        """Yield all objects in lists, by the fast path where possible."""
        for text, first, ends in self._pieces():
            if self.lean is not None:
                try:
                    records = self.lean.decode_lines(text)
                    if has_all_keys(text, _ENCODER.encode_lines(records)):
                        yield records
                        continue
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    pass  # it has other fields, or is broken
            try:
                records = self.decoder.decode_lines(text)
                again = _ENCODER.encode_lines(records)
                if not has_all_keys(text, again) and not are_lines_sound(text):
                    records = [record for _, record in self._each(text, first, ends)]
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                records = [record for _, record in self._each(text, first, ends)]
            if records:
                yield records

    def numbered(self) -> Iterator[tuple[int, T]]:
        """Yield each object with its line number."""
        for text, first, ends in self._pieces():
            yield from self._each(text, first, ends)

    def _pieces(self) -> Iterator[tuple[bytes, int, bool]]:
        """Yield pieces that end where an object may end; the rest is put before the next piece."""
        parts, number, size = list[bytes](), 1, 0
        for chunk in read_chunks(self.stream, PIECE):
            cut = _last_end(chunk.text)
            if not parts:
                number = chunk.first
            # What was held back is not read again before as much has come: no quadratic time.
            cut = cut if size + cut >= 2 * len(self._held) else 0
            parts.append(chunk.text[:cut] if cut else chunk.text)
            size += len(parts[-1])
            if not cut:
                if size > MAX_LINE:
                    raise DataError(f"longer than {MAX_LINE >> 20} MiB", line=number)
                continue
            text, self._held = b"".join(parts), b""
            yield text, number, False
            parts = [part for part in (self._held, chunk.text[cut:]) if part]
            size = sum(map(len, parts))
            if parts:
                number += text.count(b"\n") - self._held.count(b"\n")
        if parts:
            yield b"".join(parts), number, True

    def _each(self, text: bytes, first: int, ends: bool) -> Iterator[tuple[int, T]]:
        """Yield the objects of a piece; an unfinished one is held back unless the file `ends`."""
        held: list[bytes] = []
        start, depth = first, 0
        for number, line in enumerate(text.removesuffix(b"\n").split(b"\n"), first):
            if held and (line[:1] == b"{" or len(held) > LINES):
                self._note(BrokenLine(start, "not JSON: it has no end"))
                held = []
            whole = line
            if held:
                held.append(line)
                depth += _nesting(line)
                if depth > 0 or not line.rstrip().endswith(b"}"):
                    continue
                whole = b"\n".join(held)
            elif not line or line.isspace():
                continue
            else:
                start, depth = number, 0
            found = self._decoded(whole, start)
            if found is None:
                if not held:
                    held, depth = [line], _nesting(line)
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
        """Return the object in a 1-tuple; None where the text ends before the object does."""
        try:
            found = self.decoder.decode(text)
            check_undecoded(text)
            return (found,)
        except DataError as error:
            return BrokenLine(line + (error.line or 1) - 1, error.message, error.field)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            if "truncated" in str(error):
                return None
        try:
            value, replaced = decode_json(text)
        except DataError as error:
            return (
                None
                if "truncated" in error.message
                else BrokenLine(line + (error.line or 1) - 1, error.message, error.field)
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
        """Return a decoded value as `kind`; `place` is the field that an error names."""
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
    """Return the position after the last line that ends with a brace; 0 where there is none."""
    cut = text.rfind(b"}\n") + 2
    if cut < 2 or text.endswith(b"\r\n"):
        cut = max(cut, text.rfind(b"}\r\n") + 3)
    return cut if cut > 2 else 0


def _nesting(line: bytes) -> int:
    """Return how many more objects begin in a line than end in it."""
    bare = _TEXT.sub(b"", line)
    return bare.count(b"{") - bare.count(b"}")


def _mended(value: object) -> object:
    """Replace lone surrogates, which the converter refuses."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_mended(key): _mended(item) for key, item in value.items()}
    return [_mended(item) for item in value] if isinstance(value, list) else value
