"""Checks of structure: json, xml, yaml, sql, markdown_table."""

import json
import logging
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import cache, lru_cache
from math import isinf
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

    schema: a JSON Schema that the document has to fit, its patterns matched by RE2; or `true`: any
        JSON will do
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
        if self.schema is False:
            raise ConfigError("expected a JSON Schema, or true for any JSON", field="schema")
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


def _parse_float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise DocumentError(f"the number {shorten(text)[1:-1]} is too large")
    return number


def parse_json(text: str) -> Any:
    """Return a JSON value; raise `DocumentError` for NaN, a key used twice and deep nesting."""
    try:
        return json.loads(
            text,
            object_pairs_hook=_refuse_twice,
            parse_constant=_refuse_constant,
            parse_float=_parse_float,
        )
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
    _checked.set({})
    try:
        error = next(make_validator(schema).iter_errors(document), None)
    except RecursionError:
        raise DocumentError("nested too deeply") from None
    finally:
        _checked.set({})
    if error is not None:
        place = error.json_path.removeprefix("$").removeprefix(".") or "the document"
        raise DocumentError(f"{place}: {shorten(error.message)[1:-1]}")


#: Of the document that is checked: for each `$ref` and each value, the violation or "".
_checked: ContextVar[dict[tuple[int, int], str]] = ContextVar("_checked")


@lru_cache(maxsize=64)
def make_validator(schema: str) -> Any:
    """Return a validator of a JSON Schema; it resolves no address and takes linear time.

    The library's own could take quadratic or exponential time over a hostile document. So patterns
    are matched by RE2, `uniqueItems` compares by a set, and what stands behind a `$ref` is checked
    once for each value, however often alternatives lead there.
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
            "multipleOf": _check_multiple_of,
            **{
                name: _check_once(base.VALIDATORS[name])
                for name in ("$ref", "$dynamicRef", "$recursiveRef")
                if name in base.VALIDATORS
            },
        },
    )
    for pattern in _list_patterns(parsed):
        compile_pattern(pattern)
    try:
        base.check_schema(parsed)
    except jsonschema.SchemaError as error:
        place = error.json_path.removeprefix("$")
        raise ConfigError(f"no JSON Schema: {error.message}", field=f"schema{place}") from None
    _check_references(parsed)
    return linear(parsed, registry=Registry())


def _check_references(schema: Any) -> None:
    """Raise `ConfigError` for a `$ref` that leads nowhere, or out of the schema."""
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    parts = list(_walk(schema))
    named = {part["$id"] for part in parts if isinstance(part.get("$id"), str)}
    resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for part in parts:
        ref = part.get("$ref")
        if not isinstance(ref, str) or named:
            continue  # with names of its own a schema is resolved while it is used
        try:
            if not ref.startswith("#"):
                raise ConfigError(f"no address is followed: {shorten(ref)}", field="schema.$ref")
            resolver.lookup(ref)
        except Unresolvable:
            raise ConfigError(f"nothing stands at {shorten(ref)}", field="schema.$ref") from None


def _walk(schema: object) -> Iterator[dict[str, Any]]:
    """Yield the objects of a schema, at any depth."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _check_once(check: Any) -> Any:
    """Return the check of a `$ref` that remembers its outcome for each value of the document."""

    def check_reference(validator: Any, ref: str, value: object, schema: object) -> Any:
        from jsonschema import ValidationError

        known, key = _checked.get(), (id(schema), id(value))
        if key in known:
            if known[key]:
                yield ValidationError(known[key])
            return
        first = next(iter(check(validator, ref, value, schema)), None)
        known[key] = "" if first is None else first.message or "it does not fit"
        if first is not None:
            yield first

    return check_reference


def _check_multiple_of(_: Any, factor: float, value: object, __: object) -> Any:
    from jsonschema import ValidationError

    if isinstance(value, int | float) and not isinstance(value, bool):
        # In decimals: 19.99 is a multiple of 0.01, whatever floating point makes of it.
        share = Fraction(repr(value)) / Fraction(repr(factor))
        if share.denominator != 1:
            yield ValidationError(f"{value} is not a multiple of {factor}")


def _list_patterns(schema: object) -> list[str]:
    """Return the patterns of a schema, at any depth."""
    found: list[str] = []
    for one in _walk(schema):
        if isinstance(one.get("pattern"), str):
            found.append(one["pattern"])
        if isinstance(one.get("patternProperties"), dict):
            found += one["patternProperties"]
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
    parser = expat.ParserCreate("utf-8")  # the text is decoded: its declaration means nothing

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

        _silence_sqlglot()
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
            first = (getattr(error, "errors", None) or [{}])[0]
            reason = first.get("description") or type(error).__name__
            return self.decide(False, f"not SQL: {shorten(reason)[1:-1]}")
        if not statements:
            return self.decide(False, "no statement")
        if not all(map(_is_statement, statements)):
            return self.decide(False, "no statement that reads or changes a table")
        return self.decide(True, f"{len(statements)} SQL statement{'s'[: len(statements) > 1]}")


@cache
def _silence_sqlglot() -> None:
    """Keep sqlglot's remarks on unknown statements, which quote the answer, off the terminal."""
    logging.getLogger("sqlglot").setLevel(logging.ERROR)


def _is_statement(tree: Any) -> bool:
    """Whether a parsed tree is a statement: sqlglot reads nearly all words as some command."""
    from sqlglot import exp

    if isinstance(tree, exp.Select):
        return bool(tree.expressions)
    if isinstance(tree, exp.Delete):
        return " from " in f" {tree.sql().lower()} "
    known = (exp.Query, exp.DML, exp.DDL, exp.Drop, exp.Alter, exp.TruncateTable, exp.Transaction)
    return isinstance(tree, (*known, exp.Commit, exp.Rollback))


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
