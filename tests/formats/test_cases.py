"""Case files: what is accepted, what is refused and where, and that nothing is lost on the way."""

import csv
import io
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourscore.core import Case, DataError
from fourscore.formats import atomic_file, case_csv
from fourscore.formats import cases as cases_module
from fourscore.formats.case_fields import FIELDS, parse_case
from fourscore.formats.cases import CaseFile, write_cases

ENDINGS = ("jsonl", "json", "yaml", "csv")
Write = Callable[[str, str | bytes], CaseFile]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def written(name: str, content: str | bytes) -> CaseFile:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return CaseFile(path)

    return written


def refused(file: CaseFile) -> DataError:
    """The error of checking, which is also that of reading; it names the file."""
    with pytest.raises(DataError) as caught:
        file.check()
    with pytest.raises(DataError) as again:
        list(file.cases())
    assert str(again.value) == str(caught.value)
    assert caught.value.file == file.name
    return caught.value


FULL = {
    "id": "q1",
    "input": {"question": "2 + 2?"},
    "expected": {
        "answer": "4",
        "claims": [{"text": "it is four", "weight": 2}, {"text": "it is even"}],
        "aspects": ["the sum"],
        "sources": [{"id": "s1", "url": "http://a", "text": "…", "kind": "primary"}],
        "tools": {"expected": ["calculator"], "max_calls": 1},
        "mine": [1, 2],
    },
    "tags": ["math", "easy"],
    "complexity": "simple",
    "task_type": "sum",
    "metadata": {"level": 1},
    "author": "Ada",
}
FULL_CASE = Case(
    id="q1",
    input=FULL["input"],
    expected=FULL["expected"],
    tags=("math", "easy"),
    complexity="simple",
    task_type="sum",
    metadata={"level": 1, "author": "Ada"},
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.jsonl", json.dumps(FULL)),
        ("c.ndjson", "\n\n" + json.dumps(FULL) + "\r\n\r\n"),
        ("c.json", json.dumps([FULL], indent=2)),
        ("c.JSON", json.dumps({"name": "set", "cases": [FULL], "more": [1, {"a": "]"}]})),
        ("c.yaml", json.dumps([FULL])),
        ("c.yml", json.dumps({"cases": [FULL]})),
    ],
)
def test_reads_every_field_in_every_format(name: str, text: str, write: Write) -> None:
    assert list(write(name, text).cases()) == [FULL_CASE]


def test_csv_is_read_as_people_write_it(write: Write) -> None:
    file = write(
        "c.csv",
        "\ufeffid, input,expected,tags,complexity,level,note\r\n"
        '7,"What is ""2 + 2""?\nIn words.",four,"math, easy,",simple,3,\r\n'
        "\r\n"
        ',"{1, 2}","{""answer"": ""4""}",,,json:3,json:null\r\n',
    )
    first, second = file.cases()
    assert first == Case(
        id="7",
        input='What is "2 + 2"?\nIn words.',
        expected="four",
        tags=("math", "easy"),
        complexity="simple",
        metadata={"level": "3"},
    )
    assert second == Case(
        input="{1, 2}", expected={"answer": "4"}, metadata={"level": 3, "note": None}
    )


def test_an_id_may_be_a_number_null_or_empty(write: Write) -> None:
    lines = ['{"id": 7, "input": 1}', '{"id": null, "input": 2}', '{"id": "", "input": 3}']
    ids = [case.id for case in write("c.jsonl", "\n".join(lines)).cases()]
    assert ids == ["7", Case(input=2).id, Case(input=3).id]


def test_the_same_input_again_is_numbered(write: Write) -> None:
    lines = [{"input": "a"}, {"input": "b"}, {"input": "a", "expected": 1}, {"input": "a"}]
    file = write("c.jsonl", "\n".join(map(json.dumps, lines)))
    a, b = Case(input="a").id, Case(input="b").id
    for _ in range(2):  # the numbers begin anew with every reading
        assert [case.id for case in file.cases()] == [a, b, f"{a}#2", f"{a}#3"]
    assert file.check().count == 4


def test_one_file_can_be_iterated_twice_at_once(write: Write) -> None:
    file = write("c.jsonl", "\n".join(json.dumps({"id": i, "input": i}) for i in range(5)))
    pairs = zip(file.cases(), file.cases(), strict=True)
    assert [(a.id, b.id) for a, b in pairs] == [(str(i), str(i)) for i in range(5)]


A = Case(input="a").id


@pytest.mark.parametrize(
    ("lines", "wanted", "first", "second"),
    [
        ([{"id": "x", "input": 1}, {"input": 2}, {"id": "x", "input": 3}], "x", 1, 3),
        ([{"id": 7, "input": 1}, {"id": "7", "input": 1}], "7", 1, 2),
        ([{"id": A, "input": 1}, {"input": "a"}], A, 1, 2),
        ([{"input": "a"}, {"id": A, "input": 1}], A, 1, 2),
        ([{"id": f"{A}#2", "input": 1}, {"input": "a"}, {"input": "a"}], f"{A}#2", 1, 3),
        ([{"input": "a"}, {"input": "a"}, {"id": f"{A}#2", "input": 1}], f"{A}#2", 2, 3),
    ],
)
@pytest.mark.parametrize("ending", ENDINGS)
def test_an_id_used_twice_is_refused_with_both_lines(
    lines: list[dict[str, Any]], wanted: str, first: int, second: int, ending: str, write: Write
) -> None:
    texts = {
        "jsonl": "".join(json.dumps(line) + "\n" for line in lines),
        "json": "[" + ",\n".join(map(json.dumps, lines)) + "]",
        "yaml": "".join("- " + json.dumps(line) + "\n" for line in lines),
        "csv": "id,input\n" + "".join(f"{c.get('id', '')},{c['input']}\n" for c in lines),
    }
    error = refused(write(f"c.{ending}", texts[ending]))
    below = 1 if ending == "csv" else 0
    assert error.message == (
        f"'{wanted}' is used twice, in line {first + below} and line {second + below}"
    )
    assert (error.line, error.field) == (second + below, "id")


def test_hash_collision_of_different_ids_is_accepted(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cases_module, "hash", lambda _: 1, raising=False)
    lines = [{"id": "a", "input": 1}, {"id": "b", "input": 2}, {"input": 3}, {"input": 3}]
    file = write("c.jsonl", "\n".join(map(json.dumps, lines)))
    assert [case.id for case in file.cases()][:2] == ["a", "b"]
    lines.append({"id": "a", "input": 9})
    assert refused(write("d.jsonl", "\n".join(map(json.dumps, lines)))).line == 5


GOOD = '{"id": "g", "input": "x"}\n'


@pytest.mark.parametrize(
    ("line", "field", "words"),
    [
        (b'{"input": 1', None, "not JSON"),
        (b'{"input": 1} x', None, "not JSON"),
        (b"{'input': 1}", None, "not JSON"),
        (b'{"input": NaN}', None, "not JSON"),
        (b'{"input": 1e999}', None, "out of range"),
        (b'{"input": "\xff\xfe"}', None, "not UTF-8 at byte 12"),
        (b'\xef\xbb\xbf{"input": 1}', None, "not JSON"),  # only at the start of a file
        (b"[1]", None, "expected an object, got list"),
        (b'"text"', None, "expected an object, got str"),
        (b"{}", "input", "missing; the case has nothing"),
        (b'{"question": 1, "id": 2}', "input", "missing; the case has id, question"),
        (b'{"input": 1, "id": true}', "id", "got bool"),
        (b'{"input": 1, "id": 1.5}', "id", "got float"),
        (b'{"input": 1, "id": ["x"]}', "id", "got array"),
        (b'{"input": 1, "tags": "a,b"}', "tags", "expected array | null, got str"),
        (b'{"input": 1, "tags": ["a", 1]}', "tags[1]", "expected str, got int"),
        (b'{"input": 1, "complexity": 3}', "complexity", "expected str | null, got int"),
        (b'{"input": 1, "task_type": []}', "task_type", "got array"),
        (b'{"input": 1, "metadata": []}', "metadata", "expected object | null, got array"),
        (b'{"input": 1, "metadata": {"k": 1}, "k": 1}', "k", "it is in metadata too"),
        (
            b'{"input": 1, "expected": {"claims": [{"text": "a"}, {"text": 2}]}}',
            "expected.claims[1].text",
            "expected str, got int",
        ),
        (
            b'{"input": 1, "expected": {"claims": [{"text": "a", "weight": -1}]}}',
            "expected.claims[0].weight",
            ">= 0",
        ),
        (b'{"input": 1, "expected": {"claims": ["a"]}}', "expected.claims[0]", "expected object"),
        (b'{"input": 1, "expected": {"claims": [{}]}}', "expected.claims[0].text", "missing"),
        (b'{"input": 1, "expected": {"sources": [{"url": 1}]}}', "expected.sources[0].url", "int"),
        (b'{"input": 1, "expected": {"aspects": "a"}}', "expected.aspects", "expected array"),
        (b'{"input": 1, "expected": {"tools": 3}}', "expected.tools", "int"),
        (b'{"input": 1, "expected": {"cliams": [{"text": "a"}]}}', "expected.cliams", "claims?"),
        (b'{"input": 1, "expected": {"aspect": ["a"]}}', "expected.aspect", "aspects?"),
        (
            b'{"input": 1, "expected": {"claims": [{"text": "a", "wieght": 2}]}}',
            "expected.claims[0].wieght",
            "did you mean weight?",
        ),
        (
            b'{"input": 1, "expected": {"tools": {"max_calls": -1}}}',
            "expected.tools.max_calls",
            ">= 0",
        ),
        (
            b'{"input": 1, "expected": {"tools": {"expect": ["a"]}}}',
            "expected.tools.expect",
            "unknown key; did you mean expected?",
        ),
        (
            b'{"input": 1, "expected": {"sources": [{"kind": "prmary"}]}}',
            "expected.sources[0].kind",
            "expected one of primary, secondary, unreliable, got 'prmary'",
        ),
        (
            b'{"input": 1, "expected": {"claims": [{"text": "a"}, {"text": ""}]}}',
            "expected.claims[1].text",
            "it has no words",
        ),
        (
            '{"input": 1, "expected": {"claims": [{"text": " 。 "}]}}'.encode(),
            "expected.claims[0].text",
            "it has no words",
        ),
        (
            b'{"input": 1, "expected": {"claims": [{"text": "a", "weight": 1e400}]}}',
            "expected.claims[0].weight",
            "number out of range",
        ),
        (b'{"input": 1, "own": {"x": [0, {"y": 1e400}]}}', "own.x[1].y", "number out of range"),
        (b'{"input": ' + b"[" * 150 + b"]" * 150 + b"}", "input", "nested more than 100 deep"),
        (b'{"input": ' + b"[" * 5000 + b"]" * 5000 + b"}", None, "nested too deeply"),
        (b'{"input": "\\ud800", "x": ' + b"[" * 5000 + b"]" * 5000 + b"}", None, "not JSON|deeply"),
        (b'{"input": "\\ud800", "x": NaN}', None, "NaN is not JSON"),
        (b'{"input": ' + b"9" * 6000 + b"}", None, "out of range"),
        (
            b'{"input": 1, "expected": {"answer": "4", "answer": "5"}}',
            "expected.answer",
            "the key is used twice",
        ),
        (b'{"input": 1, "k": [{"a": 1}, {"a": 1, "\\u0061": 2}]}', "k[1].a", "used twice"),
        (b'{"input": "\\ud800", "x": 1, "x": 2}', "x", "the key is used twice"),
    ],
)
def test_a_bad_line_is_refused_with_its_line_and_field(
    line: bytes, field: str | None, words: str, write: Write
) -> None:
    error = refused(write("c.jsonl", GOOD.encode() + b"\n" + line + b"\n" + GOOD.encode()))
    assert error.line == 3
    assert error.field == field or field is None
    assert any(word in error.message for word in words.split("|")) or words in error.message


@pytest.mark.parametrize(
    ("text", "line", "field", "words"),
    [
        ("", 1, None, "expected a list"),
        ("7", 1, None, "expected a list"),
        ('[{"input": 1},\n {"input": }]', 2, None, "not JSON: Expecting value"),
        ('[{"input": 1}\n\n {"input": 1}]', 3, None, "expected ','"),
        ('[{"input": 1},\n]', 2, None, "not JSON"),
        ('[{"input": 1}', 1, None, "expected ','"),
        ('[{"input": 1}]\n\nx', 3, None, "something follows its end"),
        ('[\n{"input": 1},\n{"input": NaN}]', 3, None, "NaN is not JSON"),
        ('[\n{"input": 1},\n{"input": 1e999}]', 3, "[1].input", "inf is not a finite number"),
        ('[\n{"input": 1},\n{"input": 1, "k": [1e999]}]', 3, "[1].k[0]", "inf is not"),
        ('[\n{"input": 1, "metadata": {"k": 1e999}}]', 2, "[0].metadata.k", "inf is not"),
        ('[\n{"input": 1},\n3]', 3, "[1]", "expected an object, got int"),
        ('[\n{"input": 1},\n{\n"input": 2, "tags": 1}]', 3, "[1].tags", "got int"),
        ('{"cases":\n[{"input": 1},\n{"id": 2}]}', 3, "cases[1].input", "missing; the case has id"),
        ('{"cases": 1}', 1, "cases", "expected a list"),
        ('\n{"case": []}', 2, "cases", "missing"),
        ('{"cases": [],\n"cases": []}', 2, "cases", "the key is used twice"),
        ('{"a": 1, "cases": [],\n"a": 1}', 2, "a", "the key is used twice"),
        ('[\n{"input": 1},\n{"input": {\n"a": 1,\n"a": 2}}]', 5, "[1].input.a", "used twice"),
        ('{"cases": [\n{"input": "\\ud800", "id": 1,\n"id": 2}]}', 3, "cases[0].id", "used twice"),
        ('{"cases": [],\n}', 2, None, "expected a key"),
        ('{"cases": [],\n5: 1}', 2, None, "expected a key"),
        ('{"cases" []}', 1, None, "expected ':'"),
        ('{"cases": []\n"x": 1}', 2, None, "expected ','"),
        ('{"cases": []', 1, None, "expected ','"),
        ('[\n{"input": ' + "[" * 200_000, 2, None, "nested too deeply"),
        ('[\n{"input": ' + "9" * 5000 + "}]", 2, None, "not JSON"),
    ],
)
def test_bad_json_is_refused_at_its_line(
    text: str, line: int, field: str | None, words: str, write: Write
) -> None:
    error = refused(write("c.json", text))
    assert (error.line, error.field) == (line, field)
    assert words in error.message


@pytest.mark.parametrize(
    ("text", "line", "field", "words"),
    [
        ("", 1, None, "expected a list"),
        ("a: 1", 1, None, "expected a list"),
        ("- input: 1\n- input: [1\n", 3, None, "not YAML"),
        ("- input: 1\n  input: 2\n", 2, None, "duplicate key"),
        ("- input: 1\n- id: x\n  tags: a\n  input: 1\n", 3, "[1].tags", "expected array"),
        ("- input: 1\n- id: x\n  tags: a\n", 2, "[1].input", "missing"),
        ("cases:\n- input: 1\n- 7\n", 3, "cases[1]", "expected an object, got int"),
        (
            "- input: 1\n  expected:\n    claims:\n      - text: a\n      - text: 2\n",
            5,
            "[0].expected.claims[1].text",
            "expected str, got int",
        ),
        ("- input: .nan\n", 1, "[0].input", "nan is not a finite number"),
        ("- input: 1\n  1: x\n", 1, "[0]", "the key 1 is not text"),
        ("- input: !!python/name:os.system x\n", 1, None, "is not allowed"),
    ],
)
def test_bad_yaml_is_refused_at_the_line_of_the_field(
    text: str, line: int, field: str | None, words: str, write: Write
) -> None:
    error = refused(write("c.yaml", text))
    assert error.line == line
    assert error.field == field or field is None
    assert words in error.message


@pytest.mark.parametrize(
    ("text", "line", "field", "words"),
    [
        ("", 1, None, "expected a header"),
        ("id,question\n1,2\n", 1, "input", "no such column; there are id, question"),
        ("input,input\n1,2\n", 1, "input", "two columns have this name"),
        (",input\n1,2\n", 1, None, "column 1 of the header has no name"),
        ("id,input\n1,a\n2,b,c\n", 3, None, "the header has 2 columns, this row 3"),
        ("id,input\n1,a\n2\n", 3, None, "the header has 2 columns, this row 1"),
        ('id,input\n1,"a\nb"\n2,"open\n\n', 4, None, "not CSV: unexpected end of data"),
        ('id,input\n1,"a"b\n', 2, None, "not CSV"),
        ("id,input\n1,a\rb\n", 2, None, "not CSV"),
        ("id,input\n1,a\n2,\n", 3, "input", "missing; the case has id"),
        ("id,input\n1,json:[1\n", 2, "input", "not JSON"),
        ('id,input,expected\n1,a,"{""answer"": 1"\n', 2, "expected", "not JSON"),
        ('id,input,expected\n1,a,"{""claims"": 1}"\n', 2, "expected.claims", "expected array"),
        ('id,input\n1,"{""a"": 1, ""a"": 2}"\n', 2, "input.a", "the key is used twice"),
        ('id,input\n1,"json:[{""a"": 1, ""a"": 2}]"\n', 2, "input[0].a", "the key is used twice"),
        ("input" + ",c" * 10_000 + "\n", 1, None, "the header has 10,001 columns"),
        ("id,input,metadata\n1,a,b\n", 2, "metadata", "expected a JSON object"),
        ("id,input,metadata\n1,a,json:1\n", 2, "metadata", "expected object"),
        ("id,input,tags\n1,a,json:1\n", 2, "tags", "expected array"),
    ],
)
def test_bad_csv_is_refused_at_its_line(
    text: str, line: int, field: str | None, words: str, write: Write
) -> None:
    error = refused(write("c.csv", text))
    assert (error.line, error.field) == (line, field)
    assert words in error.message


@pytest.mark.parametrize("ending", ENDINGS)
def test_bytes_that_are_not_utf8_are_refused_at_their_line(ending: str, write: Write) -> None:
    text = {
        "jsonl": b'{"input": 1}\n{"input":"\xff"}\n',
        "json": b'[{"input": 1},\n{"input":"\xff"}]',
        "yaml": b'- input: 1\n- input: "\xff"\n',
        "csv": b"id,input\n12345678,x\xff\n",
    }[ending]
    error = refused(write(f"c.{ending}", text))
    assert error.line == 2
    assert error.message == "not UTF-8 at byte 11"


def test_unclosed_csv_quote_is_bounded_in_memory(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = csv.field_size_limit()
    monkeypatch.setattr("fourscore.formats.case_csv.MAX_LINE", 1000)
    csv.field_size_limit(1000)
    try:
        error = refused(write("c.csv", 'input\n"' + "word\n" * 1000))
    finally:
        csv.field_size_limit(limit)
    assert (error.line, error.message) == (2, "a row longer than 0 MiB")


def test_csv_header_is_read_in_linear_time(write: Write) -> None:
    compared = 0

    class Cell(str):
        __slots__ = ()

        def strip(self, *_: object) -> "Cell":
            return self

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str(self) == other

        __hash__ = str.__hash__

    names = [Cell("input"), *(Cell(f"c{n}") for n in range(3000))]
    assert case_csv._header([*names], 1) == names
    assert compared < 10 * len(names)


def test_csv_cell_may_exceed_the_default_limit(write: Write) -> None:
    (case,) = write("c.csv", "input\n" + "x" * 300_000 + "\n").cases()
    assert len(case.input) == 300_000


def test_lone_surrogates_are_replaced_and_counted(write: Write) -> None:
    line = '{"input": "a\\ud800b", "k\\udc00": "\\ud83d\\ude00"}'
    for name, text in {
        "c.jsonl": line,
        "c.json": f"[{line}]",
        "c.csv": 'input,k\ufffd\n"json:""a\\ud800b""","json:""\\udfff"""\n',
    }.items():
        file = write(name, text)
        (case,) = file.cases()
        assert case.input == "a\ufffdb"
        assert list(case.metadata) == ["k\ufffd"]
        assert file.check().replaced == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("missing.jsonl", "No such file"),
        ("folder.jsonl", "Is a directory"),
        ("nul\0.jsonl", "embedded null"),
    ],
)
def test_file_that_cannot_be_opened_is_named(name: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    error = refused(CaseFile(str(tmp_path / name)))
    assert words in error.message


def test_unknown_file_ending_is_refused_before_reading(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"ends in none of \.jsonl, "):
        CaseFile(tmp_path / "cases.txt")
    with pytest.raises(DataError, match=r"ends in none of \.jsonl, "):
        write_cases(tmp_path / "cases.txt", [])


def test_a_file_that_changes_after_the_check_is_refused_or_checked_again(write: Write) -> None:
    file = write("c.jsonl", GOOD)
    reading = file.cases()
    next(reading)
    with Path(file.path).open("a") as more:
        more.write('{"id": "h", "input": 1}\n')
    with pytest.raises(DataError, match="changed after it was checked"):
        list(reading)
    assert file.check().count == 2
    assert [case.id for case in file.cases()] == ["g", "h"]


def test_the_digest_is_of_the_cases_and_not_of_the_bytes(write: Write) -> None:
    compact = write("a.jsonl", '{"id":"g","input":"x","level":1}\n')
    spaced = write("b.yaml", "- level: 1\n  input: x\n  id: g\n")
    other = write("c.jsonl", '{"id":"g","input":"x","level":2}\n')
    assert compact.check() == spaced.check()
    assert compact.check().digest != other.check().digest
    assert len(compact.check().digest) == 32


def test_an_empty_jsonl_has_no_cases(write: Write) -> None:
    file = write("c.jsonl", "\n \n")
    assert file.check().count == 0
    assert list(file.cases()) == []


def run(code: str, stdin: bytes) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], input=stdin, capture_output=True, check=False
    )
    return (done.stdout + done.stderr).decode()


def test_stdin_is_jsonl_and_can_be_read_twice() -> None:
    code = (
        "from fourscore.formats.cases import CaseFile; f = CaseFile('-')\n"
        "print(f.check().count, [c.id for c in f.cases()], [c.id for c in f.cases()])"
    )
    text = b'{"id":"a","input":1}\n{"id":"b","input":2}\n'
    assert run(code, text).strip() == "2 ['a', 'b'] ['a', 'b']"
    assert "stdin:2: not JSON" in run(code, b'{"id":"a","input":1}\n{"id"\n')
    closed = "import sys; sys.stdin = None\n" + code
    assert "stdin: it is closed" in run(closed, b"")


def test_a_pipe_is_jsonl_and_can_be_read_twice(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(GOOD,))
    writer.start()
    file = CaseFile(path)
    assert file.check().count == 1
    writer.join()
    assert [case.id for case in file.cases()] == ["g"]


def test_copy_of_a_pipe_survives_another_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    lock = atomic_file.lock_draft
    removed: list[str] = []

    def lock_late(handle: int) -> None:
        """Lock a draft, the first one after another command has removed it as left behind."""
        if not removed:
            removed.extend(path.name for path in tmp_path.glob(".cases.*"))
            atomic_file.remove_dead_drafts(tmp_path)
        lock(handle)

    for module in (atomic_file, cases_module):
        monkeypatch.setattr(module, "lock_draft", lock_late, raising=False)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(GOOD,))
    writer.start()
    file = CaseFile(path)
    assert [case.id for case in file.cases()] == ["g"]
    writer.join()
    assert len(removed) == 1
    atomic_file.remove_dead_drafts(tmp_path)
    assert [case.id for case in file.cases()] == ["g"]
    del file
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


# Round trips.

#: One folder serves all examples, and no machine is too slow.
FIXTURE = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["", " x ", "json:1", "json:", "{", "{}", '{"a": 1}', "no", "null", "1e5", "007", "2024-01-31",
     "a\r\nb", "\r", "\x00", "\x85\u2028\ufeff", "<<", "=", "*a", "&a", "- a", "a: b", "#", "'\"",
     "😀", "true", "~", "%", "@", "`", ",", "a,b"]
)  # fmt: skip
numbers = st.integers(-(10**40), 10**40) | st.floats(allow_nan=False, allow_infinity=False)
scalars = texts | numbers | st.booleans() | st.none()
values = st.recursive(
    scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(texts, v, max_size=3), max_leaves=6
)
claim_texts = texts.map(lambda text: f"it says {text}")  # a claim without words is refused
expecteds = scalars | st.fixed_dictionaries(
    {},
    optional={
        "answer": values,
        "claims": st.lists(
            st.fixed_dictionaries({"text": claim_texts}, optional={"weight": st.floats(0, 9)}),
            max_size=2,
        ),
        "aspects": st.lists(texts, max_size=2),
        "mine": values,
    },
)
some_cases = st.lists(
    st.builds(
        Case,
        id=texts,
        input=values,
        expected=expecteds,
        metadata=st.dictionaries(texts, values, max_size=3),
        tags=st.lists(texts, max_size=3).map(tuple),
        complexity=st.none() | texts,
        task_type=st.none() | texts,
    ),
    max_size=4,
    unique_by=lambda case: case.id,
)


@pytest.mark.parametrize("ending", ENDINGS)
@given(written=some_cases)
@settings(FIXTURE, max_examples=80)
def test_written_cases_are_read_back_unchanged(
    ending: str, written: list[Case], tmp_path: Path
) -> None:
    path = tmp_path / f"c.{ending}"
    assert write_cases(path, written) == len(written)
    file = CaseFile(path)
    read = list(file.cases())
    assert read == written
    assert [repr(case) for case in read] == [repr(case) for case in written]  # 1 is not 1.0
    assert file.check().count == len(written)


@given(written=some_cases)
@settings(FIXTURE, max_examples=30)
def test_four_formats_give_the_same_cases(written: list[Case], tmp_path: Path) -> None:
    digests = set()
    for ending in ENDINGS:
        path = tmp_path / f"c.{ending}"
        write_cases(path, written)
        digests.add(CaseFile(path).check().digest)
    assert len(digests) == 1


@given(fields=st.dictionaries(texts | st.sampled_from(sorted(FULL)), values, max_size=6))
def test_fields_become_a_case_or_a_data_error(fields: dict[str, Any]) -> None:
    try:
        case = parse_case(fields)
    except DataError:
        return
    assert case.input == fields["input"]
    assert set(case.metadata) >= set(fields) - set(FIELDS)


def test_lone_surrogates_in_a_mapping_are_replaced() -> None:
    case = parse_case({"input": "\ud800", "k\udc00": ["\ud83d\ude00"], "tags": ["\ud800"]})
    assert case == Case(input="\ufffd", tags=("\ufffd",), metadata={"k\ufffd": ["😀"]})
    with pytest.raises(DataError, match="k\ufffd: inf is not a finite number"):
        parse_case({"input": 1, "k\udc00": float("inf")})
    with pytest.raises(DataError, match="the key 1 is not text"):
        parse_case({"input": 1, "k\udc00": 1, 1: 1})  # type: ignore[dict-item]


@given(raw=st.binary(max_size=60))
@settings(FIXTURE, max_examples=100)
@pytest.mark.parametrize("ending", ENDINGS)
def test_any_bytes_are_read_or_refused(ending: str, raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"c.{ending}"
    path.write_bytes(raw)
    try:
        count = CaseFile(path).check().count
    except DataError as error:
        place = error.file
    else:
        place = str(path)
        assert count == len(list(CaseFile(path).cases()))
    assert place == str(path)


def test_written_files_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    def failing() -> Any:
        yield Case(id="a", input=1)
        raise RuntimeError("in the middle")

    path = tmp_path / "c.jsonl"
    write_cases(path, [Case(id="old", input=0)])
    with pytest.raises(RuntimeError):
        write_cases(path, failing())
    assert [case.id for case in CaseFile(path).cases()] == ["old"]
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(DataError, match="No such file"):
        write_cases(tmp_path / "no" / "c.jsonl", [])
    with pytest.raises(DataError, match="too long for YAML"):
        write_cases(tmp_path / "c.yaml", [Case(id="a", input=[{"k" * 2000: 1}])])


def test_written_file_has_default_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_cases(tmp_path / "c.csv", [])
    assert (tmp_path / "c.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode
    assert (tmp_path / "c.csv").read_bytes().startswith(b"id,input,expected,tags,")


def test_stdout_gets_jsonl(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO())
    monkeypatch.setattr(sys, "stdout", out)
    assert write_cases("-", [Case(id="a", input=None)]) == 1
    assert out.buffer.getvalue() == b'{"id":"a","input":null}\n'


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    path = tmp_path / "pipe.jsonl"
    os.mkfifo(path)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(path.read_text()))
    reader.start()
    write_cases(path, [Case(id="a", input=1)])
    reader.join()
    assert got == ['{"id":"a","input":1}\n']


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Forty megabytes of cases are checked and read with a small part of that."""
    path = tmp_path / "c.jsonl"
    filler = "x" * 8000
    with path.open("w") as out:
        for i in range(5_000):
            out.write(json.dumps({"input": f"{i} {filler}"}) + "\n")
    code = (
        "import sys, tracemalloc; from fourscore.formats.cases import CaseFile\n"
        "f = CaseFile(sys.argv[1]); tracemalloc.start(); n = sum(1 for _ in f.cases())\n"
        "print(n, tracemalloc.get_traced_memory()[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    n, peak = map(int, done.stdout.split())
    assert n == 5_000
    assert peak < 4_000_000
