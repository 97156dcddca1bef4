"""The Countdown judge: does an equation reach the target with the given numbers, each used once?

The equation is parsed, never evaluated as Python, in exact rational arithmetic. Its size is
checked first: at most 200 characters and 64 numbers and operators.
"""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import msgspec

from fourscore.core import Case, CaseError, Signal, Trace
from fourscore.core.numbers import check_finite, clamp
from fourscore.judges.answer_extraction import (
    Box,
    BoxForms,
    Think,
    find_boxed,
    find_tagged,
    remove_thinking,
)

MAX_CHARACTERS = 200
MAX_NODES = 64

_PART = r"[0-9]++|\\(?:times|cdot|div|[dt]?frac|left|right)(?![A-Za-z])|[-+*/(){}=×÷−–·]"
_TOKENS = re.compile(_PART)
#: Possessive throughout, so that it never backtracks.
_TEXT = re.compile(rf"(?:[ \t\r\n]*+(?:{_PART}))*+[ \t\r\n]*+")
_CLAIM = re.compile(r"-?(?:n(?:/n)?|\\frac\{n\}\{n\})")
_DECIMAL = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?")
_MEANING = {
    "\\times": "*",
    "\\cdot": "*",
    "\\div": "/",
    "\\dfrac": "\\frac",
    "\\tfrac": "\\frac",
    "×": "*",
    "·": "*",
    "÷": "/",
    "−": "-",
    "–": "-",
}
#: What encloses a formula in LaTeX.
_DELIMITERS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]"))


class NotAnEquationError(ValueError):
    """The text is not an equation; the message says why."""


class Equation(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The value of an equation's left side, its numbers, and the value after `=`, if any.

    The value is a ratio that is not reduced; its denominator is 0 if the equation divides by zero.
    """

    numerator: int
    denominator: int
    numbers: tuple[int, ...]
    claimed: Fraction | None = None

    @property
    def value(self) -> Fraction | None:
        return Fraction(self.numerator, self.denominator) if self.denominator else None


class CountdownJudge(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Gives `correct_score` for a right equation, `format_score` for a wrong one, 0 for none.

    format_score: the reward of an equation that is wrong (0.1)
    correct_score: the reward of an equation that is right (1.0)
    box, box_forms: which box holds the answer, and what counts as a box
    think: `drop` (default) ignores text inside <think>…</think>, `keep` reads it
    """

    format_score: float = 0.1
    correct_score: float = 1.0
    box: Box = "last"
    box_forms: BoxForms = "any"
    think: Think = "drop"

    def __post_init__(self) -> None:
        check_finite("format_score", self.format_score)
        check_finite("correct_score", self.correct_score)

    @property
    def names(self) -> tuple[str, ...]:
        return ("countdown",)

    @property
    def runs(self) -> Literal["inline"]:
        return "inline"

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        target, numbers = read_puzzle(case, trace)
        text = self._extract(trace.answer)
        if not text:
            return (self._signal(0.0, "no equation in a box or in <answer>"),)
        try:
            equation = parse_equation(text)
        except NotAnEquationError as error:
            return (self._signal(0.0, f"not an equation: {error}"),)
        mistake = find_mistake(equation, target, numbers)
        if mistake:
            return (self._signal(self.format_score, mistake),)
        return (self._signal(self.correct_score, "the equation reaches the target", True),)

    def _extract(self, answer: str) -> str | None:
        if self.think == "drop":
            answer = remove_thinking(answer)
        found = find_boxed(answer, self.box, self.box_forms)
        return found or find_tagged(answer)  # an empty box is no answer

    def _signal(self, reward: float, reason: str, passed: bool = False) -> Signal:
        reward = float(reward)
        return Signal(
            name="countdown", value=clamp(reward), reward=reward, passed=passed, reason=reason
        )


def find_mistake(equation: Equation, target: Fraction | int, numbers: Sequence[int]) -> str:
    """Return what makes a well-formed equation wrong; empty if it is right."""
    if sorted(equation.numbers) != sorted(numbers):
        used, given = Counter(equation.numbers), Counter(numbers)
        for number in equation.numbers:
            if number not in given:
                return f"{number} was not given"
            if used[number] > given[number]:
                return f"{number} is used {used[number]} times, given {given[number]}"
        missing = next(iter(given - used))
        return f"{missing} is left out"
    if not equation.denominator:
        return "it divides by zero"
    if equation.numerator != target * equation.denominator:
        return f"its value is {equation.value}, the target {target}"
    if equation.claimed is not None and equation.claimed != equation.value:
        return f"it claims to be {equation.claimed}, its value is {equation.value}"
    return ""


def read_puzzle(case: Case, trace: Trace) -> tuple[Fraction | int, Sequence[int]]:
    """Read target and numbers from the metadata of the case, else from that of the output."""
    target = _parse_target(_find_field(case, trace, "target"))
    if target is None:
        raise CaseError(case.id, "metadata.target", "expected a number")
    numbers = _find_field(case, trace, "nums", "numbers")
    if not isinstance(numbers, list) or not numbers:
        raise CaseError(case.id, "metadata.nums", "expected a list of whole numbers")
    return target, [_parse_number(case, number) for number in numbers]


def _parse_number(case: Case, number: object) -> int:
    """Return a number of the puzzle as an int; data sets often have it as 3.0 or as text."""
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 50:
        return int(number)
    if type(number) is float and number.is_integer():
        number = int(number)
    if type(number) is not int or number < 0:
        message = f"expected whole numbers of at least 0, got {number!r}"
        raise CaseError(case.id, "metadata.nums", message)
    return number


def _parse_target(value: object) -> Fraction | int | None:
    if type(value) is int:
        return value
    if type(value) is float:
        return Fraction(repr(value))
    # Text is bounded before it becomes a number: "1e999999999" would take all memory.
    return Fraction(value) if isinstance(value, str) and _DECIMAL.fullmatch(value) else None


def _find_field(case: Case, trace: Trace, *keys: str) -> object:
    for metadata in (case.metadata, trace.metadata):
        for key in keys:
            if metadata.get(key) is not None:
                return metadata[key]
    raise CaseError(case.id, f"metadata.{keys[0]}", "missing in the task and in the output")


def parse_equation(text: str) -> Equation:
    """Read an equation, with an optional `= value` at its end, in `$…$` or without."""
    text = text.strip()
    for opening, closing in _DELIMITERS:
        if text.startswith(opening) and text.endswith(closing) and len(text) > 2 * len(opening):
            text = text[len(opening) : -len(closing)]
            break
    if len(text) > MAX_CHARACTERS:
        raise NotAnEquationError(f"longer than {MAX_CHARACTERS} characters")
    return _Parser(_tokens(text)).equation()


def _tokens(text: str) -> list[str]:
    """Return the tokens of the text, each in its plain spelling, and an empty one at the end."""
    readable = _TEXT.match(text)
    end = readable.end() if readable else 0
    if end < len(text):
        raise NotAnEquationError(f"{text[end:][:10]!r} is not part of one")
    tokens: list[str] = _TOKENS.findall(text)
    if "\\" in text or not text.isascii():
        tokens = [_MEANING.get(token, token) for token in tokens if token not in _SILENT]
    if len(tokens) > MAX_NODES and sum(token not in _GROUPING for token in tokens) > MAX_NODES:
        raise NotAnEquationError(f"more than {MAX_NODES} numbers and operators")
    tokens.append("")
    return tokens


_SILENT = frozenset({"\\left", "\\right"})
_GROUPING = frozenset("(){}=")


#: A rational as numerator and denominator: far cheaper than Fraction, which reduces every step.
Ratio = tuple[int, int]


class _Parser:
    """A recursive-descent parser for at most 200 tokens; it computes values while parsing."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.position = 0
        self.numbers: list[int] = []

    def equation(self) -> Equation:
        value = self.sum()
        numbers, claimed = tuple(self.numbers), None
        if self.tokens[self.position] == "=":
            self.position += 1
            claimed = self.claim()
        if self.tokens[self.position]:
            raise NotAnEquationError(f"unexpected {self.tokens[self.position]!r}")
        numerator, denominator = value
        return Equation(
            numerator=numerator, denominator=denominator, numbers=numbers, claimed=claimed
        )

    def claim(self) -> Fraction:
        """Parse what follows the `=`: a whole number or a fraction, with or without a sign."""
        rest = self.tokens[self.position : -1]
        shape = "".join("n" if token.isdigit() else token for token in rest)
        numerator, denominator = self.sum() if _CLAIM.fullmatch(shape) else (0, 0)
        if not denominator:
            raise NotAnEquationError("what follows '=' is not one number")
        return Fraction(numerator, denominator)

    def sum(self) -> Ratio:
        left = self.product()
        while (operator := self.tokens[self.position]) in ("+", "-"):
            self.position += 1
            (a, b), (c, d) = left, self.product()
            left = (a * d + c * b, b * d) if operator == "+" else (a * d - c * b, b * d)
        return left

    def product(self) -> Ratio:
        left = self.factor()
        while (operator := self.tokens[self.position]) in ("*", "/", "("):
            self.position += operator != "("  # 4(6) is 4 * 6
            (a, b), (c, d) = left, self.factor()
            left = _divide(a, b, c, d) if operator == "/" else (a * c, b * d)
        return left

    def factor(self) -> Ratio:
        token = self.tokens[self.position]
        self.position += 1
        if token.isdigit():
            self.numbers.append(number := int(token))
            return number, 1
        if token == "-":
            numerator, denominator = self.factor()
            return -numerator, denominator
        if token == "+":
            return self.factor()
        if token == "(":
            return self.closed(")")
        if token == "\\frac":
            (a, b), (c, d) = self.braced(), self.braced()
            return _divide(a, b, c, d)
        raise NotAnEquationError(f"unexpected {token!r}" if token else "it ends too early")

    def braced(self) -> Ratio:
        if self.tokens[self.position] != "{":
            raise NotAnEquationError("\\frac needs braces")
        self.position += 1
        return self.closed("}")

    def closed(self, end: str) -> Ratio:
        value = self.sum()
        if self.tokens[self.position] != end:
            raise NotAnEquationError(f"a {end!r} is missing")
        self.position += 1
        return value


def _divide(a: int, b: int, c: int, d: int) -> Ratio:
    """Return (a/b) / (c/d); a denominator of 0 means a division by zero, and stays 0."""
    return (a * d, b * c) if d else (a, 0)
