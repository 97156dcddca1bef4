"""A small language to filter cases: `complexity == "hard" and "math" in tags and level >= 3`.

It uses Python's grammar only: the text is parsed, and the few allowed kinds of node become lookups
and comparisons. Nothing is evaluated or called, and a dot looks up a key, never an attribute, so no
expression can reach the interpreter.

A name is a field of the case or a key of its metadata. A comparison with a key that the case does
not have, or between a number and a text, is false: such a case does not match. `not level` is true
where `level` is absent, empty or zero.
"""

import ast
import operator
import warnings
from collections.abc import Callable
from typing import Any

from fourscore.core import Case, ConfigError

MAX_LENGTH = 2000
MAX_DEPTH = 30
WORDS = {"true": True, "false": False, "null": None, "none": None}
OPTIONAL = frozenset({"expected", "complexity", "task_type"})

Reading = Callable[[Case], object]


class _Missing:
    """The value of a key that a case does not have; not equal to anything, not even None."""

    def __repr__(self) -> str:
        return "missing"


MISSING = _Missing()


def compile_expression(text: str) -> Callable[[Case], bool]:
    """Compile an expression to a function of a case; a `ConfigError` where it is not valid."""
    if len(text) > MAX_LENGTH:
        raise _refusal(f"longer than {MAX_LENGTH} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an invalid escape is an error, not a warning
            tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise _refusal(f"not an expression: {error.msg}", error.offset) from None
    except (ValueError, RecursionError, MemoryError):
        raise _refusal("not an expression, or nested too deeply") from None
    reading = _reading(tree.body, 0)
    return lambda case: _true(reading(case))


def get_field(case: Case, name: str) -> object:
    """Return a field of the case, else a key of its metadata, else `MISSING`."""
    if name in case.__struct_fields__:
        value = getattr(case, name)
        if value is None and name in OPTIONAL:
            return MISSING
        return list(value) if name == "tags" else value
    return case.metadata.get(name, MISSING)


def get_item(value: object, key: str | int) -> object:
    """Return the item of an object or a list; `MISSING` where there is none."""
    if isinstance(value, dict):
        return value.get(key, MISSING)
    if isinstance(value, list) and type(key) is int and -len(value) <= key < len(value):
        return value[key]
    return MISSING


def is_equal(one: object, other: object) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(is_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(is_equal(one[key], other[key]) for key in one)
    return bool(one == other)


def _reading(node: ast.expr, depth: int) -> Reading:
    if depth > MAX_DEPTH:
        raise _refusal(f"nested more than {MAX_DEPTH} deep")
    below = depth + 1
    match node:
        case ast.Constant(value=str() | int() | float() | None as value):
            return lambda _: value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            negative = -value
            return lambda _: negative
        case ast.Name(id=name):
            _check_name(name, node)
            if name.lower() in WORDS:
                word = WORDS[name.lower()]
                return lambda _: word
            return lambda case: get_field(case, name)
        case ast.Attribute(value=owner, attr=key):
            _check_name(key, node)
            return _lookup(_reading(owner, below), key)
        case ast.Subscript(value=owner, slice=key):
            return _lookup(_reading(owner, below), _key(key))
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            readings = [_reading(item, below) for item in items]
            return lambda case: [reading(case) for reading in readings]
        case ast.BoolOp(op=op, values=values):
            readings = [_reading(value, below) for value in values]
            every = all if isinstance(op, ast.And) else any
            return lambda case: every(_true(reading(case)) for reading in readings)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            reading = _reading(operand, below)
            return lambda case: not _true(reading(case))
        case ast.Compare():
            return _comparison(node, below)
    kind = KINDS.get(type(node), "this")
    raise _refusal(f"{kind} is not part of the language", node.col_offset + 1)


KINDS: dict[type[ast.expr], str] = {
    ast.Call: "a call",
    ast.BinOp: "arithmetic",
    ast.Lambda: "a lambda",
    ast.JoinedStr: "an f-string",
    ast.NamedExpr: "an assignment",
    ast.IfExp: "if",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a comprehension",
    ast.Await: "await",
    ast.Starred: "a star",
    ast.Slice: "a slice",
    ast.Dict: "an object",
}


def _lookup(owner: Reading, key: str | int) -> Reading:
    return lambda case: get_item(owner(case), key)


def _key(node: ast.expr) -> str | int:
    match node:
        case ast.Constant(value=str() | int() as value) if not isinstance(value, bool):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    raise _refusal("expected a key in quotes or a whole number", node.col_offset + 1)


def _check_name(name: str, node: ast.expr) -> None:
    # Harmless, since no case has such a key; but its author meant an attribute of Python.
    if name.startswith("__"):
        raise _refusal(f"{name} is not a name of the language", node.col_offset + 1)


def _comparison(node: ast.Compare, depth: int) -> Reading:
    readings = [_reading(part, depth) for part in (node.left, *node.comparators)]
    tests = []
    for op in node.ops:
        if type(op) not in COMPARISONS:
            raise _refusal("compare with ==, not with is", node.col_offset + 1)
        tests.append(COMPARISONS[type(op)])

    def compare(case: Case) -> bool:
        left = readings[0](case)
        for test, reading in zip(tests, readings[1:], strict=True):
            right = reading(case)
            if left is MISSING or right is MISSING or not test(left, right):
                return False
            left = right
        return True

    return compare


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[object, object], bool]:
    def compare(left: object, right: object) -> bool:
        if isinstance(left, bool) or isinstance(right, bool):
            return False
        for kind in (str, (int, float)):
            if isinstance(left, kind) and isinstance(right, kind):
                return test(left, right)
        return False

    return compare


def _contains(item: object, holder: object) -> bool:
    if isinstance(holder, str):
        return isinstance(item, str) and item in holder
    if isinstance(holder, dict):
        return isinstance(item, str) and item in holder
    return isinstance(holder, list) and any(is_equal(item, held) for held in holder)


def _lacks(item: object, holder: object) -> bool:
    return isinstance(holder, str | dict | list) and not _contains(item, holder)


COMPARISONS: dict[type[ast.cmpop], Callable[[object, object], bool]] = {
    ast.Eq: is_equal,
    ast.NotEq: lambda left, right: not is_equal(left, right),
    ast.Lt: _ordered(operator.lt),
    ast.LtE: _ordered(operator.le),
    ast.Gt: _ordered(operator.gt),
    ast.GtE: _ordered(operator.ge),
    ast.In: _contains,
    ast.NotIn: _lacks,
}


def _true(value: object) -> bool:
    return value is not MISSING and bool(value)


def _refusal(message: str, column: int | None = None) -> ConfigError:
    place = f" (column {column})" if column else ""
    return ConfigError(f"{message}{place}", field="expression")
