"""Chunks end where a line ends, and every line keeps its number."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import DataError
from fourscore.formats import line_chunks as lines
from fourscore.formats.line_chunks import LineChunk, read_chunks

BOM = b"\xef\xbb\xbf"
texts = st.lists(st.sampled_from([b"a", b"bb", b"\n", b"\r\n", b" ", b"\xc3\xa9"])).map(b"".join)


def numbered(text: bytes) -> list[tuple[int, bytes]]:
    """What should come out: every line that says something, with its number."""
    return [(n, line) for n, line in enumerate(text.split(b"\n"), 1) if line.strip()]


@given(text=texts, piece=st.integers(1, 20))
def test_chunk_size_does_not_change_lines_and_numbers(text: bytes, piece: int) -> None:
    parts = list(read_chunks(io.BytesIO(text), piece))
    assert b"".join(part.text for part in parts) == text
    assert all(part.text.endswith(b"\n") for part in parts[:-1])
    assert [found for part in parts for found in part.lines()] == numbered(text)


@given(text=texts, first=st.integers(1, 9), most=st.integers(1, 5))
def test_splitting_keeps_lines_and_numbers(text: bytes, first: int, most: int) -> None:
    whole = LineChunk(first, text)
    parts = list(whole.split(most))
    assert [found for part in parts for found in part.lines()] == list(whole.lines())
    assert all(1 <= len(list(part.lines())) <= most for part in parts)


def test_the_last_line_needs_no_newline() -> None:
    assert [part.text for part in read_chunks(io.BytesIO(b"one\ntwo"))] == [b"one\n", b"two"]


def test_windows_line_ends_are_not_lines_of_their_own() -> None:
    (part,) = read_chunks(io.BytesIO(b"one\r\n\r\ntwo\r\n"))
    assert list(part.lines()) == [(1, b"one\r"), (3, b"two\r")]


def test_one_byte_order_mark_at_the_start_is_dropped() -> None:
    (part,) = read_chunks(io.BytesIO(BOM + b"one\n" + BOM + b"two\n"))
    assert list(part.lines()) == [(1, b"one"), (2, BOM + b"two")]


def test_a_second_byte_order_mark_stays_and_is_refused_later() -> None:
    (part,) = read_chunks(io.BytesIO(BOM + BOM + b"one\n"))
    assert part.text == BOM + b"one\n"


def test_empty_stream_has_no_chunks() -> None:
    assert list(read_chunks(io.BytesIO(b""))) == []
    assert list(read_chunks(io.BytesIO(BOM))) == []


def test_a_line_over_the_limit_is_refused_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 100)
    source = read_chunks(io.BytesIO(b"one\ntwo\n" + b"x" * 1000 + b"\n"), 10)
    with pytest.raises(DataError, match="longer than") as caught:
        list(source)
    assert caught.value.line == 3


def test_a_line_within_the_limit_spans_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 100)
    parts = list(read_chunks(io.BytesIO(b"one\n" + b"x" * 90 + b"\nthree"), 7))
    assert [found for part in parts for found in part.lines()] == [
        (1, b"one"),
        (2, b"x" * 90),
        (3, b"three"),
    ]
