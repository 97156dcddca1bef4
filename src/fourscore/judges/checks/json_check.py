"""The check `json`: is the answer JSON, does it fit a schema, what stands at a path?"""

import json
import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from math import isinf
from typing import Any, ClassVar

import msgspec

from fourscore.core import Case, ConfigError, Signal, Trace, thaw
from fourscore.judges.checks.check import Check, shorten
from fourscore.judges.checks.documents import DocumentError, Found, read_document
from fourscore.judges.checks.text import compile_pattern

_KEY = re.compile(r"\.?([^.\[\]]+)|\[(\d{1,9})\]")


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
            "additionalProperties": _check_additional_properties,
            **{
                name: _check_once(base.VALIDATORS[name])
                for name in ("$ref", "$dynamicRef", "$recursiveRef")
                if name in base.VALIDATORS
            },
        },
    )
    for part in _walk(parsed):
        if "patternProperties" in part and "unevaluatedProperties" in part:
            message = "patternProperties beside unevaluatedProperties is not supported"
            raise ConfigError(message, field="schema")
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


#: Keywords of a schema whose values are data, not schemas.
_DATA = frozenset({"const", "default", "enum", "examples"})


def _walk(schema: object) -> Iterator[dict[str, Any]]:
    """Yield the objects of a schema, at any depth."""
    waiting = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += [below for name, below in one.items() if name not in _DATA]
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
        known[key] = ""  # a reference that leads back to itself says nothing more
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


def _check_additional_properties(validator: Any, wanted: Any, value: Any, schema: Any) -> Any:
    from jsonschema import ValidationError

    if not isinstance(value, dict):
        return
    patterns = [compile_pattern(one) for one in schema.get("patternProperties", {})]
    for key, item in value.items():
        if key in schema.get("properties", {}) or any(one.search(key) for one in patterns):
            continue
        if isinstance(wanted, dict):
            yield from validator.descend(item, wanted, path=key)
        elif wanted is False:
            yield ValidationError(f"{shorten(key)} was not expected")


def _check_unique_items(_: Any, wanted: object, value: Any, __: object) -> Any:
    from jsonschema import ValidationError

    if wanted and isinstance(value, list):
        texts = {json.dumps(item, sort_keys=True) for item in value}
        if len(texts) < len(value):
            yield ValidationError("an item is there twice")
