"""Checks of structure: json, xml, yaml, sql, markdown_table."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal

import msgspec

from fourscore.core import Case, ConfigError, Signal, Trace, thaw
from fourscore.core.extras import require_extra
from fourscore.judges.checks.check import Check, read_answer, shorten
from fourscore.judges.checks.text import compile_pattern

#: Most characters that are parsed; a longer document fails.
MAX_DOCUMENT = 1_000_000
_KEY = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,9})\]")
Found = Literal["whole", "fenced", "any"]


class DocumentError(ValueError):
    """The answer is not a document of the expected kind; the text says why."""


def read_document(trace: Trace, kind: str, find: Found) -> str:
    """Return the document in the answer: the whole answer, or its last fenced block.

    `any` takes the last fenced block where there is one, else the whole answer.
    """
    answer = read_answer(trace)
    block = None if find == "whole" else find_last_fence(answer, kind)
    if block is None and find == "fenced":
        raise DocumentError("the answer has no fenced block")
    document = answer if block is None else block
    if len(document) > MAX_DOCUMENT:
        raise DocumentError(f"the document is longer than {MAX_DOCUMENT:,} characters")
    if not document:
        raise DocumentError("the answer is empty")
    return document


def find_last_fence(text: str, kind: str) -> str | None:
    """Return the last fenced block, one named `kind` first; None if there is none."""
    last: dict[bool, str] = {}
    fence, named, lines = "", "", list[str]()
    for line in text.splitlines():
        stripped = line.strip()
        if not fence:
            mark = stripped[:3]
            if mark in ("```", "~~~"):
                fence, named, lines = mark, stripped.lstrip(mark[0]).strip().lower(), []
        elif stripped.startswith(fence) and not stripped.strip(fence[0]):
            last[named.startswith(kind)] = "\n".join(lines).strip()
            fence = ""
        else:
            lines.append(line)
    return last.get(True, last.get(False))


class Json(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is JSON that fits a JSON Schema, or has a value at a path.

    schema: a JSON Schema that the document has to fit; its patterns are matched by RE2
    path: where a value has to be: `user.name`, `items[0].price`
    equals: the value that has to be at `path`, or the whole document without `path`
    find: `any` (default) takes the last fenced block, else the whole answer; `whole`; `fenced`

    Example: {json: {type: object, required: [name]}}
    """

    name: ClassVar[str] = "json"
    main: ClassVar[str] = "schema"
    schema: dict[str, Any] | bool | None = None
    path: str | None = None
    equals: Any = msgspec.UNSET
    find: Found = "any"

    def __post_init__(self) -> None:
        if isinstance(self.schema, dict):
            make_validator(json.dumps(thaw(self.schema)))
        if self.path is not None:
            split_path(self.path)

    def measure(self, case: Case, trace: Trace) -> Signal:
        try:
            document = parse_json(read_document(trace, "json", self.find))
            if isinstance(self.schema, Mapping):
                check_schema(document, json.dumps(thaw(self.schema)))
            value = document if self.path is None else find_value(document, self.path)
        except DocumentError as why:
            return self.decide(False, str(why))
        if self.equals is not msgspec.UNSET and not _is_same(value, thaw(self.equals)):
            where = f"at {self.path}" if self.path else "the document"
            reason = f"{where} is {_show(value)}, expected {_show(thaw(self.equals))}"
            return self.decide(False, reason)
        return self.decide(True, "valid JSON" + (" that fits" if self.schema or self.path else ""))


def _show(value: object) -> str:
    return shorten(json.dumps(value, ensure_ascii=False))


def _refuse_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise DocumentError("not JSON: a key is used twice")
    return found


def _refuse_constant(word: str) -> object:
    raise DocumentError(f"not JSON: {word}")


def parse_json(text: str) -> Any:
    """Return a JSON value; raise `DocumentError` for NaN, a key used twice and deep nesting."""
    try:
        return json.loads(text, object_pairs_hook=_refuse_twice, parse_constant=_refuse_constant)
    except RecursionError:
        raise DocumentError("nested too deeply") from None
    except DocumentError:
        raise
    except ValueError as error:
        raise DocumentError(f"not JSON: {error}") from None


def split_path(path: str) -> list[str | int]:
    """Return the keys and positions of a path such as `items[0].price`."""
    parts: list[str | int] = []
    at = 0
    while at < len(path):
        match = _KEY.match(path, at)
        if match is None or (at == 0 and path.startswith(".")):
            raise ConfigError(
                f"expected a path such as items[0].price, got {shorten(path)}", field="path"
            )
        parts.append(match[1] if match[2] is None else int(match[2]))
        at = match.end()
    return parts


def find_value(document: Any, path: str) -> Any:
    """Return the value at a path; raise `DocumentError` if there is none."""
    value = document
    for part in split_path(path):
        try:
            if isinstance(value, list) != isinstance(part, int):
                raise KeyError
            value = value[part]
        except (KeyError, IndexError, TypeError):
            raise DocumentError(f"nothing at {path}") from None
    return value


def _is_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; `true` is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return bool(one == other)


def check_schema(document: Any, schema: str) -> None:
    """Raise `DocumentError` with the first violation of a JSON Schema."""
    try:
        error = next(make_validator(schema).iter_errors(document), None)
    except RecursionError:
        raise DocumentError("nested too deeply") from None
    if error is not None:
        place = error.json_path.removeprefix("$").removeprefix(".") or "the document"
        raise DocumentError(f"{place}: {shorten(error.message)[1:-1]}")


@lru_cache(maxsize=64)
def make_validator(schema: str) -> Any:
    """Return a validator of a JSON Schema; it resolves no address, and patterns are linear.

    `pattern` and `patternProperties` are matched by RE2, and `uniqueItems` compares by a set:
    the library's own could take quadratic or exponential time over a hostile document.
    """
    import jsonschema
    from referencing import Registry

    parsed = json.loads(schema)
    base = jsonschema.validators.validator_for(parsed, default=jsonschema.Draft202012Validator)
    linear = jsonschema.validators.extend(
        base,
        {
            "pattern": _check_pattern,
            "patternProperties": _check_pattern_properties,
            "uniqueItems": _check_unique_items,
        },
    )
    for pattern in _list_patterns(parsed):
        compile_pattern(pattern)
    try:
        base.check_schema(parsed)
    except jsonschema.SchemaError as error:
        place = error.json_path.removeprefix("$")
        raise ConfigError(f"no JSON Schema: {error.message}", field=f"schema{place}") from None
    return linear(parsed, registry=Registry())


def _list_patterns(schema: object) -> list[str]:
    """Return the patterns of a schema, at any depth."""
    found: list[str] = []
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if isinstance(one.get("pattern"), str):
                found.append(one["pattern"])
            if isinstance(one.get("patternProperties"), dict):
                found += one["patternProperties"]
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def _check_pattern(_: Any, pattern: str, value: object, __: object) -> Any:
    from jsonschema import ValidationError

    if isinstance(value, str) and compile_pattern(pattern).search(value) is None:
        yield ValidationError(f"{shorten(value)} does not match {shorten(pattern)}")


def _check_pattern_properties(validator: Any, patterns: Any, value: Any, _: object) -> Any:
    if isinstance(value, dict):
        for pattern, below in patterns.items():
            for key, item in value.items():
                if compile_pattern(pattern).search(key) is not None:
                    yield from validator.descend(item, below, path=key, schema_path=pattern)


def _check_unique_items(_: Any, wanted: object, value: Any, __: object) -> Any:
    from jsonschema import ValidationError

    if wanted and isinstance(value, list):
        texts = {json.dumps(item, sort_keys=True) for item in value}
        if len(texts) < len(value):
            yield ValidationError("an item is there twice")


class Xml(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is well-formed XML. Document types and entities are refused.

    root: the name that the root element must have
    find: `any` (default) takes the last fenced block, else the whole answer; `whole`; `fenced`

    Example: {xml: invoice}
    """

    name: ClassVar[str] = "xml"
    main: ClassVar[str] = "root"
    root: str | None = None
    find: Found = "any"

    def measure(self, case: Case, trace: Trace) -> Signal:
        try:
            root = find_xml_root(read_document(trace, "xml", self.find))
        except DocumentError as why:
            return self.decide(False, str(why))
        if self.root is not None and root != self.root:
            return self.decide(False, f"the root is {shorten(root)}, expected {shorten(self.root)}")
        return self.decide(True, "well-formed XML")


def find_xml_root(text: str) -> str:
    """Return the name of the root element; raise `DocumentError` if the text is not well-formed."""
    from xml.parsers import expat

    names: list[str] = []
    parser = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise DocumentError("a document type is not allowed")

    def start(name: str, _: object) -> None:
        if not names:
            names.append(name)

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    try:
        parser.Parse(text.encode(errors="replace"), True)
    except expat.ExpatError as error:
        raise DocumentError(f"not XML: {error}") from None
    return names[0]


class Yaml(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is a YAML mapping or list.

    find: `any` (default) takes the last fenced block, else the whole answer; `whole`; `fenced`

    Example: {yaml: true}
    """

    name: ClassVar[str] = "yaml"
    find: Found = "any"

    def measure(self, case: Case, trace: Trace) -> Signal:
        from fourscore.formats.yaml_file import parse_yaml

        try:
            value = parse_yaml(read_document(trace, "yaml", self.find), "").value
        except DocumentError as why:
            return self.decide(False, str(why))
        except ConfigError as error:
            return self.decide(False, f"not YAML: {error.message}")
        passed = isinstance(value, dict | list)
        return self.decide(passed, "YAML" if passed else "plain text, no mapping or list")


class Sql(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer is SQL that parses; nothing is run. Needs the extra `checks`.

    dialect: the dialect, such as `postgres`, `sqlite`, `mysql`, `bigquery`; default: any SQL
    find: `any` (default) takes the last fenced block, else the whole answer; `whole`; `fenced`

    Example: {sql: postgres}
    """

    name: ClassVar[str] = "sql"
    main: ClassVar[str] = "dialect"
    dialect: str | None = None
    find: Found = "any"
    #: Most characters of a statement that is parsed.
    _MAX: ClassVar[int] = 20_000

    def __post_init__(self) -> None:
        require_extra("checks", "the check sql")
        if self.dialect is not None:
            from sqlglot.dialects.dialect import Dialect

            try:
                Dialect.get_or_raise(self.dialect)
            except ValueError as error:
                raise ConfigError(str(error), field="dialect") from None

    def measure(self, case: Case, trace: Trace) -> Signal:
        import sqlglot

        try:
            text = read_document(trace, "sql", self.find)
            if len(text) > self._MAX:
                raise DocumentError(f"longer than {self._MAX:,} characters")
            statements = [one for one in sqlglot.parse(text, dialect=self.dialect) if one]
        except DocumentError as why:
            return self.decide(False, str(why))
        except RecursionError:
            return self.decide(False, "nested too deeply")
        except sqlglot.errors.SqlglotError as error:
            return self.decide(False, f"not SQL: {shorten(str(error))[1:-1]}")
        if not statements:
            return self.decide(False, "no statement")
        if not all(map(_is_statement, statements)):
            return self.decide(False, "an expression, no statement")
        return self.decide(True, f"{len(statements)} SQL statement{'s'[: len(statements) > 1]}")


def _is_statement(tree: Any) -> bool:
    """Whether a parsed tree is a statement: a word on its own parses as the name of a column."""
    from sqlglot import exp

    if isinstance(tree, exp.Command):  # what sqlglot does not parse further
        return tree.name.upper() not in ("", "SELEC")
    return not isinstance(tree, exp.Condition | exp.Alias | exp.Tuple) or isinstance(
        tree, exp.Query
    )


class MarkdownTable(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer has a Markdown table with these columns and rows.

    columns: the names that the header must have, in any order; or the number of columns
    min_rows: the least number of rows below the header (1)

    Example: {markdown_table: [Name, Price], min_rows: 3}
    """

    name: ClassVar[str] = "markdown_table"
    main: ClassVar[str] = "columns"
    columns: tuple[str, ...] | int | None = None
    min_rows: int = 1
    _MAX: ClassVar[int] = 200_000

    def measure(self, case: Case, trace: Trace) -> Signal:
        tables = list_tables(read_answer(trace)[: self._MAX])
        if not tables:
            return self.decide(False, "the answer has no Markdown table")
        reasons = [self._explain(header, rows) for header, rows in tables]
        if None in reasons:
            return self.decide(True, "the table fits")
        return self.decide(False, str(reasons[0]))

    def _explain(self, header: list[str], rows: int) -> str | None:
        """Return why a table does not fit; None if it does."""
        if isinstance(self.columns, int):
            if len(header) != self.columns:
                return f"the table has {len(header)} columns, expected {self.columns}"
        else:
            present = {one.casefold() for one in header}
            for column in self.columns or ():
                if column.strip().casefold() not in present:
                    return f"the table has no column {shorten(column)}"
        if rows < self.min_rows:
            return f"the table has {rows} rows, expected at least {self.min_rows}"
        return None


def list_tables(text: str) -> list[tuple[list[str], int]]:
    """Return the header and the number of rows of each Markdown table."""
    from markdown_it import MarkdownIt

    tables: list[tuple[list[str], int]] = []
    header, rows, in_header = list[str](), 0, False
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "thead_open":
            header, rows, in_header = [], 0, True
        elif token.type == "thead_close":
            in_header = False
        elif token.type == "inline" and in_header:
            header.append(token.content.strip().strip("*_` "))
        elif token.type == "tr_open" and not in_header:
            rows += 1
        elif token.type == "table_close":
            tables.append((header, rows))
    return tables
