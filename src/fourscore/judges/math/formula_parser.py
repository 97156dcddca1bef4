r"""Parse the tokens of a formula to an exact value, by recursive descent.

It accepts what has one meaning and raises UnsupportedError for the rest: `1/2x`, `2 3`, `f(3)`,
sums, integrals. Depth is bounded by MAX_DEPTH, work by the Algebra's budget, and nothing is ever
evaluated as Python.
"""

from __future__ import annotations

from fractions import Fraction

from fourscore.judges.math.algebra import (
    I_ATOM,
    PI,
    Algebra,
    E,
    Ratio,
    as_rational,
    atom,
    rational,
    variable,
)
from fourscore.judges.math.functions import (
    absolute,
    binomial,
    compute_factorial,
    inverse_trigonometric,
    logarithm,
    power,
    root,
    round_exact,
    trigonometric,
)
from fourscore.judges.math.limits import (
    MAX_DEPTH,
    MAX_TEN_EXPONENT,
    LimitError,
    MalformedError,
    ProseError,
    SizeError,
    UnsupportedError,
)

TRIGONOMETRIC = frozenset({r"\sin", r"\cos", r"\tan", r"\cot", r"\sec", r"\csc"})
INVERSES = frozenset({r"\arcsin", r"\arccos", r"\arctan"})
_LOGS = frozenset({r"\ln", r"\log", r"\lg"})
GREEK = frozenset(
    str.split(
        r"""\alpha \beta \gamma \delta \epsilon \varepsilon \zeta \eta \theta \vartheta
        \kappa \lambda \mu \nu \xi \rho \sigma \tau \phi \chi \psi \omega
        \Gamma \Delta \Theta \Lambda \Sigma \Phi \Psi \Omega \ell"""
    )
)
# A letter before a bracket is a factor, x(x+1), unless it is one that usually names a function.
_FUNCTION_LETTERS = frozenset("fghFGHPQ")
_STARTERS = frozenset({"(", "{", r"\frac", r"\sqrt", r"\binom", r"\pi", "|", r"\exp"})
_STARTERS |= {r"\lfloor", r"\lceil"} | TRIGONOMETRIC | _LOGS | GREEK | INVERSES


def parse_number(token: str) -> Fraction:
    """Return the exact value of a number token."""
    mantissa, _, exponent = token.replace("E", "e").partition("e")
    whole, _, decimals = mantissa.partition(".")
    value = Fraction(int((whole + decimals) or "0"), 10 ** len(decimals))
    if exponent:
        if len(exponent) > 6 or abs(int(exponent)) > MAX_TEN_EXPONENT:
            raise LimitError("exponent too large")
        value *= Fraction(10) ** int(exponent)
    return value


class FormulaParser:
    """Parses one formula in one pass. `sign` says which branch of a plus-minus is taken."""

    def __init__(self, tokens: list[str], algebra: Algebra, sign: int = 1) -> None:
        self._tokens = tokens
        self._algebra = algebra
        self._sign = sign
        self._at = 0
        self._depth = 0
        self._in_trig = 0
        self.natural_log_in_doubt = False

    def parse(self) -> Ratio:
        """Return the value of the whole formula."""
        if not self._tokens:
            raise MalformedError("empty formula")
        value = self._sum()
        if self._at != len(self._tokens):
            raise self._unexpected()
        return value

    def _peek(self, ahead: int = 0) -> str:
        index = self._at + ahead
        return self._tokens[index] if index < len(self._tokens) else ""

    def _take(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise MalformedError(f"{token} expected")

    def _unexpected(self) -> UnsupportedError:
        token = self._peek()
        if token.startswith('"'):
            return ProseError("words in a formula")
        if not token:
            return MalformedError("formula ends early")
        return UnsupportedError("not understood")

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > 6 * MAX_DEPTH:
            raise SizeError("nested too deep")

    def _sum(self) -> Ratio:
        self._enter()
        total = self._signed_product()
        while (token := self._peek()) in ("+", "-", r"\pm", r"\mp"):
            self._at += 1
            term = self._signed_product()
            if self._negative(token):
                term = self._algebra.negate(term)
            total = self._algebra.add(total, term)
        self._depth -= 1
        return total

    def _negative(self, token: str) -> bool:
        if token == r"\pm":
            return self._sign < 0
        return self._sign > 0 if token == r"\mp" else token == "-"

    def _signed_product(self) -> Ratio:
        negative = False
        while (token := self._peek()) in ("+", "-", r"\pm", r"\mp"):
            negative ^= self._negative(token)
            self._at += 1
        value = self._product()
        return self._algebra.negate(value) if negative else value

    def _product(self) -> Ratio:
        value = self._mixed() or self._factor()
        divided = False
        while True:
            token = self._peek()
            if token in ("*", "/"):
                self._at += 1
                negative = False
                while self._peek() in ("+", "-"):  # 3 * -2
                    negative ^= self._take() == "-"
                right = self._factor()
                if negative:
                    right = self._algebra.negate(right)
                divided = token == "/"
                operate = self._algebra.divide if divided else self._algebra.multiply
                value = operate(value, right)
            elif token in _STARTERS or (token.isalpha() and token.isascii() and len(token) == 1):
                if token == "|" and self._closes_bar():
                    return value
                if divided:  # 1/2x is read both ways
                    raise UnsupportedError("ambiguous division")
                value = self._algebra.multiply(value, self._factor())
            else:
                return value

    def _closes_bar(self) -> bool:
        """Whether this bar ends an absolute value rather than opening one."""
        return self._tokens[: self._at].count("|") % 2 == 1

    def _mixed(self) -> Ratio | None:
        r"""Parse a mixed number: `1\frac12` and `1 1/2` are three halves, not a product."""
        first = self._peek()
        if not first.isdigit():
            return None
        if self._peek(1).isdigit() and self._peek(2) == "/" and self._peek(3).isdigit():
            above, below, width = int(self._peek(1)), int(self._peek(3)), 4
        elif self._peek(1) == r"\frac":
            read = self._fraction_digits(self._at + 2)
            if read is None:
                return None
            above, below, width = read
        else:
            return None
        after = self._peek(width)
        if not 0 < above < below or after in ("^", "!", "_"):
            raise UnsupportedError("ambiguous mixed number")
        self._at += width
        value = int(first) + Fraction(above, below)
        if after == "%":
            self._at += 1
            value /= 100
        return rational(value)

    def _fraction_digits(self, index: int) -> tuple[int, int, int] | None:
        tokens = self._tokens
        if tokens[index : index + 1] and tokens[index].isdigit() and len(tokens[index]) == 2:
            digits = tokens[index]  # \frac12
            return int(digits[0]), int(digits[1]), 3
        shape = tokens[index : index + 6]
        if len(shape) < 6 or [shape[i] for i in (0, 2, 3, 5)] != ["{", "}", "{", "}"]:
            return None
        if not shape[1].isdigit() or not shape[4].isdigit():
            return None
        return int(shape[1]), int(shape[4]), 8

    def _factor(self) -> Ratio:
        self._enter()
        value = self._atom()
        while True:
            token = self._peek()
            if token == "^":
                if self._is_degree(1):
                    if not self._in_trig:
                        raise UnsupportedError("degrees in a formula")
                    value = self._algebra.multiply(value, self._degrees())
                    continue
                self._at += 1
                value = power(self._algebra, value, self._exponent())
            elif token == "!":
                if self._peek(1) == "!":
                    raise UnsupportedError("double factorial")
                self._at += 1
                value = compute_factorial(value)
            elif token == "%":
                self._at += 1
                value = self._algebra.multiply(value, rational(Fraction(1, 100)))
            elif token in ("_", "'"):
                raise UnsupportedError("subscript")
            else:
                self._depth -= 1
                return value

    def _is_degree(self, ahead: int) -> bool:
        return self._peek(ahead) == r"\circ" or (
            self._peek(ahead) == "{" and self._peek(ahead + 1) == r"\circ"
        )

    def _degrees(self) -> Ratio:
        self._at += 2 if self._peek(1) == r"\circ" else 4
        return self._algebra.multiply(atom(PI), rational(Fraction(1, 180)))

    def _exponent(self) -> Ratio:
        if self._peek() in ("{", "("):
            return self._atom()
        negative = self._peek() == "-"
        if negative or self._peek() == "+":
            self._at += 1
        value = self._atom()
        if self._peek() == "^":
            raise UnsupportedError("ambiguous tower of powers")
        return self._algebra.negate(value) if negative else value

    def _argument(self) -> Ratio:
        """Parse what follows a LaTeX command: a group, a digit of a longer number, or one atom."""
        token = self._peek()
        if token == "{":
            return self._atom()
        if token[:1].isdigit():
            if not token.isdigit():
                raise UnsupportedError("argument without braces")
            rest = [token[1:]] if len(token) > 1 else []
            self._tokens = [*self._tokens[: self._at], *rest, *self._tokens[self._at + 1 :]]
            return rational(int(token[0]))
        return self._atom()

    def _atom(self) -> Ratio:
        self._enter()
        token = self._take()
        value = self._plain(token)
        if value is None:
            value = self._compound(token)
        self._depth -= 1
        return value

    def _plain(self, token: str) -> Ratio | None:
        if token[:1].isdigit() or (token[:1] == "." and len(token) > 1):
            if self._peek() == r"\overline" and "." in token:
                return rational(self._repeating(token))
            if self._peek()[:1].isdigit():
                raise UnsupportedError("two numbers side by side")
            return rational(parse_number(token))
        if len(token) == 1 and token.isalpha():
            return self._letter(token)
        if token == r"\pi":
            return atom(PI)
        if token in GREEK:
            return self._letter(token)
        return None

    def _repeating(self, token: str) -> Fraction:
        r"""Parse a repeating decimal: in `0.1\overline{6}` the 6 repeats for ever."""
        if self._peek(1) != "{" or not self._peek(2).isdigit() or self._peek(3) != "}":
            raise UnsupportedError("overline")
        digits = self._peek(2)
        self._at += 4
        places = len(token.partition(".")[2])
        return parse_number(token) + Fraction(int(digits), (10 ** len(digits) - 1) * 10**places)

    def _letter(self, token: str) -> Ratio:
        if self._peek() == "_":
            self._at += 1
            return variable(f"{token}_{self._subscript()}")
        if self._peek() == "(" and token in _FUNCTION_LETTERS:
            raise UnsupportedError("function")
        if self._peek()[:1].isdigit():
            raise UnsupportedError("number after a variable")
        if token == "i":
            return atom(I_ATOM)
        return atom(E) if token == "e" else variable(token)

    def _subscript(self) -> str:
        token = self._take()
        if token != "{":
            return token.lstrip('"')
        inside: list[str] = []
        while (part := self._take()) != "}":
            if not part or part == "{":
                raise UnsupportedError("subscript")
            inside.append(part.lstrip('"'))
        return "".join(inside)

    def _compound(self, token: str) -> Ratio:
        if token in ("(", "{"):
            value = self._sum()
            if self._peek() != (")" if token == "(" else "}"):
                raise self._unexpected()
            self._at += 1
            return value
        if token == "|":
            value = self._sum()
            self._expect("|")
            return absolute(self._algebra, value)
        if token in (r"\lfloor", r"\lceil"):
            value = self._sum()
            self._expect(r"\rfloor" if token == r"\lfloor" else r"\rceil")
            return round_exact(value, upward=token == r"\lceil")
        if token == r"\frac":
            above = self._argument()
            return self._algebra.divide(above, self._argument())
        if token == r"\binom":
            above = self._argument()
            return binomial(above, self._argument())
        if token == r"\sqrt":
            return self._radical()
        if token in TRIGONOMETRIC or token in INVERSES:
            return self._trigonometric(token)
        if token in _LOGS:
            return self._logarithm(token)
        if token == r"\exp":
            return power(self._algebra, atom(E), self._atom())
        self._at -= 1
        raise self._unexpected()

    def _radical(self) -> Ratio:
        index = 2
        if self._peek() == "[":
            number = self._peek(1)
            if not number.isdigit() or len(number) > 3 or self._peek(2) != "]":
                raise UnsupportedError("root index")
            index = int(number)
            self._at += 3
        if self._peek().isdigit() and len(self._peek()) > 1:
            raise UnsupportedError("radical without braces")  # LaTeX reads \\sqrt12 as sqrt(1)2
        return root(self._algebra, self._argument(), index)

    def _trigonometric(self, token: str) -> Ratio:
        exponent = None
        if self._peek() == "^":
            self._at += 1
            exponent = as_rational(self._exponent())
            if exponent is None or exponent <= 0:  # sin^{-1} is the inverse function
                raise UnsupportedError("inverse function")
        self._in_trig += 1
        angle = self._operand()
        self._in_trig -= 1
        if token in INVERSES:
            value = inverse_trigonometric(self._algebra, token[1:], angle)
        else:
            value = trigonometric(self._algebra, token[1:], angle)
        if exponent is None:
            return value
        return power(self._algebra, value, rational(exponent))

    def _logarithm(self, token: str) -> Ratio:
        base: Ratio | None = None if token == r"\ln" else rational(10)
        if self._peek() == "_":
            self._at += 1
            base = self._argument()
        elif token == r"\log":
            self.natural_log_in_doubt = True
        return logarithm(self._algebra, self._operand(), base)

    def _operand(self) -> Ratio:
        r"""Parse the argument of a function: `2x` in `\sin 2x`, but `x` in `\sin x + 1`."""
        if self._peek() in ("(", "{"):
            value = self._atom()
            if self._peek() == "^" and not self._is_degree(1):
                raise UnsupportedError("ambiguous power of a function")
            return self._algebra.multiply(value, self._degrees()) if self._peek() == "^" else value
        value = self._factor()
        while (token := self._peek()).isalpha() or token in (r"\pi", r"\theta", r"\alpha"):
            value = self._algebra.multiply(value, self._factor())
        return value
