"""Objects of a stream in batches: what is long, spread over lines or broken keeps its line."""

import io
import json
from typing import Any

import pytest

from fourscore import DataError
from fourscore.formats.logs.json_objects import PIECE, ObjectBatches


def all_of(text: str, **options: Any) -> tuple[list[dict[str, Any]], ObjectBatches[dict[str, Any]]]:
    batches = ObjectBatches(io.BytesIO(text.encode()), dict[str, Any], **options)
    return [row for batch in batches for row in batch], batches


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("indent", [None, 1])
def test_reads_objects_of_all_sizes(end: str, indent: int | None) -> None:
    sizes = [1, PIECE - 20, 3 * PIECE, 5, PIECE // 2, PIECE // 2, 2 * PIECE + 1, 7]
    rows = [{"n": n, "parts": [{"x": "y" * 50}] * (n // 60), "text": "z" * 9} for n in sizes]
    text = "".join(json.dumps(row, indent=indent).replace("\n", end) + end for row in rows)
    assert all_of(text)[0] == rows
    assert all_of(text.removesuffix(end))[0] == rows


@pytest.mark.parametrize("indent", [None, 1])
def test_lines_are_counted_over_pieces(indent: int | None) -> None:
    row = {"parts": [{"x": "y" * 50}] * (PIECE // 40)}
    good = json.dumps(row, indent=indent)
    lines = good.count("\n") + 1
    text = f"{good}\n\n{good}\n{{broken}}\n{good}\n" + '{"a": 1}\n' * 20_000 + "{nor this}\n"
    rows, batches = all_of(text, skip=True)
    assert rows == [row] * 3 + [{"a": 1}] * 20_000
    assert [broken.line for broken in batches.noted] == [
        2 * lines + 2,
        3 * lines + 20_003,
    ]
    numbered = ObjectBatches(io.BytesIO(text.encode()), dict[str, Any], skip=True).numbered()
    found = [line for line, _ in numbered]
    assert found[:4] == [1, lines + 2, 2 * lines + 3, 3 * lines + 3]
    assert found[-1] == 3 * lines + 20_002


def test_too_long_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fourscore.formats.logs.json_objects.MAX_LINE", 4 * PIECE)
    with pytest.raises(DataError, match="longer than") as caught:
        all_of('{"a": 1}\n' * 3 + '{"b":\n' + '"x"\n' * (2 * PIECE))
    assert caught.value.line == 4


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_long_object_is_decoded_once(end: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    line = b',{"x": "' + b"y" * 1000 + b' } \\" { "}'
    text = end.join([b'{"a": [{"x": 1}', *[line] * 2000, b"]}", b'{"b": 1}', b""])
    read = 0
    decoded = ObjectBatches._decoded

    def count(self: Any, text: bytes, line: int) -> Any:
        nonlocal read
        read += len(text)
        return decoded(self, text, line)

    monkeypatch.setattr(ObjectBatches, "_decoded", count)
    one, two = ObjectBatches(io.BytesIO(text), dict[str, Any]).numbered()
    assert (len(one[1]["a"]), one[0], two) == (2001, 1, (2003, {"b": 1}))
    assert read < 4 * len(text)


def test_repeated_key_is_refused_or_counted() -> None:
    for broken, line in (('{"a": 1, "a": 2}', 2), ('{\n"a": {"b": 1,\n"b": 2}}', 4)):
        text = f'{{"c": 1}}\n{broken}\n{{"c": 2}}\n'
        rows, batches = all_of(text, skip=True)
        assert rows == [{"c": 1}, {"c": 2}]
        assert (batches.broken, batches.noted[0].line) == (1, line)
        with pytest.raises(DataError, match="the key is used twice"):
            all_of(text)
        with pytest.raises(DataError, match="the key is used twice"):
            list(ObjectBatches(io.BytesIO(text.encode()), dict[str, Any]).numbered())
