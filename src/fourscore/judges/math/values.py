"""The values that a text can be parsed to. Comparison works on these, never on the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

from fourscore.judges.math.algebra import Ratio
from fourscore.judges.math.units import Unit


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number or a formula, with its unit."""

    ratio: Ratio
    unit: Unit | None = None
    #: Digits after the point, if the text is one decimal number, and its significant digits.
    places: int | None = field(default=None, kw_only=True)
    digits: int = field(default=0, kw_only=True)
    #: Whether it has a bare \\log, which is base 10 or e.
    log_in_doubt: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Infinity:
    sign: int


@dataclass(frozen=True, slots=True)
class Words:
    text: str  # folded: lower case, no punctuation


@dataclass(frozen=True, slots=True)
class NumeralInBase:
    """A numeral in a stated base, 1010_2."""

    digits: str
    base: int


@dataclass(frozen=True, slots=True)
class Proportion:
    """3:4, or a time of day."""

    parts: tuple[Fraction, ...]
    suffix: str = ""  # am, pm


@dataclass(frozen=True, slots=True)
class Group:
    """Several values. brackets: "" a list, "{}" a set, "()" "[]" "[)" "(]" a tuple or interval."""

    brackets: str
    items: tuple[Value, ...]
    variable: str | None = None  # of the inequality that this interval was written as


@dataclass(frozen=True, slots=True)
class Union:
    parts: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    rows: tuple[tuple[Value, ...], ...]


@dataclass(frozen=True, slots=True)
class Equation:
    """name = value, where the name is a variable, a function of variables, or words."""

    name: str
    value: Value
    condition: Condition | None = None  # the same, as a formula that is zero


@dataclass(frozen=True, slots=True)
class Condition:
    """An equation or inequality that is not solved: ratio = 0, > 0, >= 0, or != 0."""

    operator: str
    ratio: Ratio
    sides: tuple[Scalar, Scalar]


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A chain of equations that contradicts itself, such as 41 = 42."""


Value: TypeAlias = (
    Scalar | Infinity | Words | NumeralInBase | Proportion | Group | Union | Matrix | Equation
    | Condition | Contradiction
)  # fmt: skip
