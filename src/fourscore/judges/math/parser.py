r"""Parse a text to values: lists, sets, intervals, matrices, equations, units around formulas.

Splits at commas, relations, unions and brackets outside any nesting, and passes what is left to
the formula parser. A text with two plausible readings (`1,234`, `5m`) has both; the comparison
takes the one that agrees with the other side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from fourscore.judges.math.algebra import Algebra, as_rational, rational
from fourscore.judges.math.formula_parser import TRIGONOMETRIC, FormulaParser, parse_number
from fourscore.judges.math.limits import (
    MAX_CELLS,
    MAX_ITEMS,
    MAX_READINGS,
    REFERENCE_CACHE,
    LimitError,
    MalformedError,
    ProseError,
    SizeError,
    UnsupportedError,
)
from fourscore.judges.math.relations import read_relation
from fourscore.judges.math.tokens import has_thousands, match_brackets, normalise_unicode, tokenise
from fourscore.judges.math.units import CURRENCIES, LETTERS, Unit, get_scale, read_unit
from fourscore.judges.math.values import (
    Group,
    Infinity,
    Matrix,
    NumeralInBase,
    Proportion,
    Scalar,
    Union,
    Value,
    Words,
)

RELATIONS = frozenset({"=", "<", ">", r"\le", r"\ge", r"\ne", r"\approx"})
_MATRICES = frozenset({"matrix", "pmatrix", "bmatrix", "array", "smallmatrix", "Bmatrix"})
_PREFIX = re.compile(r"(?:the\s+)?(?:final\s+)?answer\s*(?:is\b|:|=)\s*:?\s*", re.IGNORECASE)
_WORDS = re.compile(r"[^\W\d_][^\W\d_'\-., ]*(?:[ '\-.,]+[^\W\d_]+)*[.!]?")
_CHOICE = re.compile(r"[(\[]?\s*([A-Za-z])\s*[)\].:]?")
_PLAIN_INTEGER = re.compile(r"-?\d{1,18}")
_DEGREE_TAILS = (["^", r"\circ"], ["^", "{", r"\circ", "}"], [r"\degree"], [r"\circ"])


@dataclass(frozen=True, slots=True)
class Reading:
    """The values that a text may have; or none, and the problem."""

    values: tuple[Value, ...]
    tokens: tuple[str, ...]
    problem: UnsupportedError | None = None


def parse_answer(text: str) -> Reading:
    """Return all readings of a text whose length has been checked."""
    if _PLAIN_INTEGER.fullmatch(text):
        return Reading((Scalar(rational(int(text))),), (text,))
    text = normalise_unicode(text)
    text = _PREFIX.sub("", text, count=1) if _PREFIX.match(text) else text
    problem: UnsupportedError | None = None
    values: list[Value] = []
    tokens: tuple[str, ...] = ()
    for thousands in (True, False) if has_thousands(text) else (False,):
        try:
            found = _trim_tokens(tokenise(text, thousands))
            tokens = tokens or tuple(found)
            values.extend(_ValueParser(found).readings())
        except UnsupportedError as error:
            problem = problem or error
    bare = text.strip("$ ")
    if _WORDS.fullmatch(bare) or _CHOICE.fullmatch(bare):
        values.insert(0, Words(fold_words(bare)))
    return Reading(tuple(values[:MAX_READINGS]), tokens, problem)


@lru_cache(maxsize=REFERENCE_CACHE)
def parse_reference(text: str) -> Reading:
    """Return `parse_answer`, cached: one reference is compared with many answers."""
    return parse_answer(text)


def fold_words(text: str) -> str:
    """Return words in the form for comparison: no case, no punctuation, no article."""
    words = re.findall(r"[^\W_]+", text.casefold())
    if len(words) > 1 and words[0] in ("the", "a", "an"):
        words = words[1:]
    return " ".join(words)


def _trim_tokens(tokens: list[str]) -> list[str]:
    if tokens[-1:] in (["."], [","], [";"], [":"]):  # one: "1, 2, ..." goes on
        tokens = tokens[:-1]
    if tokens and tokens[-1].endswith(".") and tokens[-1][:1].isdigit():
        tokens = [*tokens[:-1], tokens[-1][:-1]]  # 42.
    return tokens


class _ValueParser:
    """Parses the tokens of one text."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._partners = match_brackets(tokens)
        self._algebra = Algebra()

    def readings(self) -> Iterator[Value]:
        yield self.value(0, len(self._tokens))
        yield from self._letter_unit()

    def _letter_unit(self) -> Iterator[Value]:
        """Yield the reading with a unit: `5m` is five metres as well as five times m."""
        tokens = self._tokens
        start = next((i for i, t in enumerate(tokens) if t in LETTERS), 0)
        head, tail = tokens[:start], tokens[start:]
        if not head or any(t.isalpha() or t in RELATIONS or t == "," for t in head):
            return
        try:
            yield self._scalar(head, read_unit(tail))
        except UnsupportedError:
            return

    def _outside(self, start: int, end: int) -> Iterator[int]:
        """Yield the indices of the tokens outside all brackets in start..end."""
        index = start
        while index < end:
            yield index
            index = self._partners.get(index, index) + 1

    def _split(self, start: int, end: int, separators: frozenset[str]) -> list[tuple[int, int]]:
        cuts = [i for i in self._outside(start, end) if self._tokens[i] in separators]
        return list(zip([start, *(c + 1 for c in cuts)], [*cuts, end], strict=True))

    def value(self, start: int, end: int) -> Value:
        while self._tokens[start:end] and self._tokens[start] == "{":
            if self._partners.get(start) != end - 1:
                break
            start, end = start + 1, end - 1
        if start >= end:
            raise MalformedError("empty value")
        items = self._split(start, end, frozenset({",", ";"}))
        if len(items) > 1:
            return self._list(items)
        outside = [self._tokens[i] for i in self._outside(start, end)]
        if any(t in RELATIONS or t == r"\in" for t in outside):
            return self._relation(start, end)
        if r"\cup" in outside:
            parts = self._split(start, end, frozenset({r"\cup"}))
            return Union(tuple(self.value(*part) for part in _check_count(parts)))
        return self._enclosed(start, end)

    def _list(self, items: list[tuple[int, int]]) -> Value:
        # "1, 2, and 3" leaves an empty item before "and"
        spans = [item for item in items if item[0] < item[1]]
        if not spans or len(items) - len(spans) > 1:
            raise MalformedError("empty item in a list")
        values = tuple(self.value(*span) for span in _check_count(spans))
        if len(values) == 1:
            return values[0]
        if all(isinstance(v, Group) and v.variable for v in values):
            return Union(values)  # x < 1 or x > 2
        return Group("", values)

    def _relation(self, start: int, end: int) -> Value:
        spans = self._split(start, end, RELATIONS | {r"\in"})
        operators = [self._tokens[stop] for _, stop in spans[:-1]]
        if operators == [r"\in"]:
            if spans[0] != (start, start + 1) or not self._tokens[start].isalpha():
                raise UnsupportedError("membership")
            return self.value(*spans[1])  # x in (1, 2) says (1, 2)
        sides = [self._tokens[a:b] for a, b in spans]
        values = [self._side(a, b) for a, b in spans]
        return read_relation(operators, sides, values, self._algebra)

    def _side(self, start: int, end: int) -> Value | None:
        """Return the value of one side, or None if it is a name such as f(x)."""
        if start == end:
            return None
        try:
            return self.value(start, end)
        except (LimitError, SizeError):
            raise
        except UnsupportedError:
            return None

    def _enclosed(self, start: int, end: int) -> Value:
        tokens = self._tokens
        first, last = tokens[start], tokens[end - 1]
        if self._partners.get(start) == end - 1:
            if first in ("(", "[", r"\langle"):
                return self._tuple(start, end)
            if first == r"\{":
                return self._set(start + 1, end - 1)
            if first.startswith("\\begin{"):
                return self._matrix(start + 1, end - 1, first[7:-1].rstrip("*"))
        if (first, end - start) == (r"\emptyset", 1):
            return Group("{}", ())
        if (first, end - start) == (r"\mathbb{R}", 1):
            return Group("()", (Infinity(-1), Infinity(1)))
        if last == r"\infty" and tokens[start : end - 1] in ([], ["+"], ["-"]):
            return Infinity(-1 if first == "-" else 1)
        return self._measured(start, end)

    def _tuple(self, start: int, end: int) -> Value:
        opening, closing = self._tokens[start], self._tokens[end - 1]
        items = self._split(start + 1, end - 1, frozenset({",", ";"}))
        if len(items) == 1:
            if opening == "(" and closing == ")":
                return self.value(start + 1, end - 1)
            raise UnsupportedError("one value in brackets")
        values = tuple(self.value(*item) for item in _check_count(items))
        left = "[" if opening == "[" else "("
        right = "]" if closing == "]" else ")"
        if len(values) == 2:  # infinity is never included, whatever bracket stands beside it
            left = "(" if isinstance(values[0], Infinity) else left
            right = ")" if isinstance(values[1], Infinity) else right
        elif left + right in ("[)", "(]"):
            raise MalformedError("half-open tuple")
        return Group(left + right, values)

    def _set(self, start: int, end: int) -> Value:
        if start == end:
            return Group("{}", ())
        bars = [i for i in self._outside(start, end) if self._tokens[i] in ("|", ":")]
        if bars:  # { x | x > 3 } says x > 3
            if len(bars) > 1 or bars[0] != start + 1 or not self._tokens[start].isalpha():
                raise UnsupportedError("set builder")
            inside = self.value(bars[0] + 1, end)
            if isinstance(inside, Group) and inside.variable == self._tokens[start]:
                return inside
            raise UnsupportedError("set builder")
        items = self._split(start, end, frozenset({",", ";"}))
        return Group("{}", tuple(self.value(*item) for item in _check_count(items)))

    def _matrix(self, start: int, end: int, kind: str) -> Value:
        if kind not in _MATRICES:
            raise UnsupportedError("environment")
        if kind == "array" and self._tokens[start] == "{":
            start = self._partners[start] + 1
        spans = self._split(start, end, frozenset({"\\\\"}))
        if len(spans) > 1 and spans[-1][0] == spans[-1][1]:
            spans = spans[:-1]
        rows: list[tuple[Value, ...]] = []
        for span in spans:
            cells = self._split(*span, frozenset({"&"}))
            if len(cells) * len(spans) > MAX_CELLS:
                raise SizeError("matrix too large")
            rows.append(tuple(self.value(*cell) for cell in cells))
        if len({len(row) for row in rows}) != 1:
            raise MalformedError("ragged matrix")
        return Matrix(tuple(rows))

    def _measured(self, start: int, end: int) -> Value:
        """Parse a formula with what may stand around it: currency, unit, degree sign, base."""
        tokens = self._tokens[start:end]
        tokens, unit = _split_currency(tokens)
        plain = tokens[:-1] if tokens[-1] in ("C", "F", '"C', '"F') else tokens  # Celsius
        for tail in _DEGREE_TAILS:
            if (
                plain[-len(tail) :] == tail
                and len(plain) > len(tail)
                and not _has_trigonometric(plain)
            ):
                return self._scalar(plain[: -len(tail)], Unit("degree", "angle"))
        word = next((i for i, t in enumerate(tokens) if t.startswith('"')), None)
        if word is not None:
            return self._worded(tokens, word, unit)
        if ":" in tokens:
            return _read_proportion(tokens)
        if tokens[1:2] == ["_"] and tokens[0].isdigit():
            return _read_based(tokens)
        return self._scalar(tokens, unit)

    def _worded(self, tokens: list[str], word: int, unit: Unit | None) -> Value:
        if all(t[0] in "\"-'.," or (len(t) == 1 and t.isalpha()) for t in tokens):
            return Words(fold_words(" ".join(t.lstrip('"') for t in tokens)))
        if word == 0:
            raise ProseError("words before a formula")
        head, tail = tokens[:word], tokens[word:]
        if ":" in head:
            return _read_proportion(tokens)
        if head[-1] in ("*", "-"):  # 5 \cdot \text{cm}, 5-foot
            head = head[:-1]
        factor = get_scale(tail[0][1:])
        if factor is not None:
            tail = tail[1:]
        if head[-2:] == ["^", r"\circ"]:
            head = head[:-2]
        named = read_unit(tail) if tail else unit
        found = self._scalar(head, named)
        if factor is None:
            return found
        if not isinstance(found, Scalar):
            raise UnsupportedError("scaled list")
        return Scalar(self._algebra.multiply(found.ratio, rational(factor)), named)

    def _scalar(self, tokens: list[str], unit: Unit | None) -> Value:
        if r"\pm" in tokens or r"\mp" in tokens:
            both = [self._formula(tokens, unit, sign) for sign in (1, -1)]
            return Group("", tuple(both))
        return self._formula(tokens, unit, 1)

    def _formula(self, tokens: list[str], unit: Unit | None, sign: int) -> Scalar:
        bare = tokens[1:] if tokens[:1] in (["-"], ["+"]) else tokens
        percent = len(bare) == 2 and bare[1] == "%"
        if len(bare) == 1 or percent:
            first = bare[0]
            if first[:1].isdigit() or (first[:1] == "." and len(first) > 1):
                return _make_decimal(first, tokens[0] == "-", percent, unit)
        parser = FormulaParser(tokens, self._algebra, sign)
        ratio = parser.parse()
        return Scalar(ratio, unit, log_in_doubt=parser.natural_log_in_doubt)


def _has_trigonometric(tokens: list[str]) -> bool:
    return any(t in TRIGONOMETRIC for t in tokens)


def _check_count(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    if len(spans) > MAX_ITEMS:
        raise SizeError("too many items")
    return spans


def _make_decimal(token: str, negative: bool, percent: bool, unit: Unit | None) -> Scalar:
    value = parse_number(token) * (-1 if negative else 1)
    places: int | None = None
    digits = 0
    if "." in token and "e" not in token and "E" not in token:
        places = len(token.partition(".")[2]) + (2 if percent else 0)
        digits = len(token.replace(".", "").lstrip("0"))
    return Scalar(rational(value / 100 if percent else value), unit, places=places, digits=digits)


def _split_currency(tokens: list[str]) -> tuple[list[str], Unit | None]:
    """Split `$42`, `-$42`, `Rs. 42` or `42 €` into the amount and the currency."""
    sign = tokens[:1] if tokens[:1] == ["-"] else []
    rest = tokens[len(sign) :]
    if len(rest) > 1 and rest[0].startswith('"') and rest[0][1:] in CURRENCIES:
        skip = 2 if rest[1] == "." else 1
        return [*sign, *rest[skip:]], read_unit(rest[:1])
    return tokens, None


def _read_proportion(tokens: list[str]) -> Value:
    """Read a proportion or a time: 3:4, 12:30, 12:30 p.m."""
    end = next((i for i, t in enumerate(tokens) if not t.isdigit() and t != ":"), len(tokens))
    parts, colons, rest = tokens[:end:2], tokens[1:end:2], tokens[end:]
    suffix = "".join(t.lstrip('"').lower() for t in rest if t != ".")
    if set(colons) != {":"} or end % 2 == 0 or not all(p.isdigit() for p in parts):
        raise UnsupportedError("colon")
    if suffix and not suffix.isalpha():
        raise UnsupportedError("colon")
    return Proportion(tuple(Fraction(int(p)) for p in parts), suffix)


def _read_based(tokens: list[str]) -> Value:
    base = [t for t in tokens[2:] if t not in ("{", "}")]
    if tokens[1] != "_" or len(base) != 1 or len(tokens) not in (3, 5) or not base[0].isdigit():
        raise UnsupportedError("subscript")
    return NumeralInBase(tokens[0].lstrip("0") or "0", int(base[0][:3]))


def get_constant(value: Value) -> Fraction | None:
    """Return the rational number that a value is, or None."""
    return as_rational(value.ratio) if isinstance(value, Scalar) else None
