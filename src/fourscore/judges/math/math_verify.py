r"""The slow path: Math-Verify, with its mistakes corrected.

Runs for as long as SymPy likes, so it belongs in a worker process that is killed at a deadline.
Math-Verify's own timeouts are off: they use SIGALRM, which does nothing off the main thread.

Corrections, each for a wrong reward that Math-Verify gives:
- `decide` is asked first: it handles exact numbers, percent, factorials, contradictions, units.
- Its grammar stops at the first token it does not know and drops the rest (`42-`, `42}{`), and
  its regular expressions pick a number out of prose. Only formulas are read, and a True counts
  only if the grammar got to the last token of both.
- It treats numbers as equal when their difference is below 1e-15, so 10^{-20} is 10^{-25}.
  Equal constants must agree in their leading digits.
- It takes the right-hand side of any equation, true or not.
- It drops the degree sign and takes the sine of 30 radians.
"""

from __future__ import annotations

import logging
import re
from functools import lru_cache
from typing import Any

from fourscore.judges.math.comparison_result import Equivalence
from fourscore.judges.math.equality import decide
from fourscore.judges.math.limits import MAX_ANSWER_CHARS, MAX_REFERENCE_CHARS, REFERENCE_CACHE
from fourscore.judges.math.tokens import normalise_unicode

AGREEING_DIGITS = 30
_FUNCTION = re.compile(r"\\(?:sin|cos|tan|cot|sec|csc)(?![a-zA-Z])")
_DEGREES = re.compile(r"(?<!\d)(\d++(?:\.\d++)?+)\s*+\^\s*+(?:\{\s*+\\circ\s*+\}|\\circ)")


def verify(answer: str, reference: str) -> bool:
    """Whether the answer equals the reference. May never return: run it where it can be killed."""
    verdict = decide(answer, reference).verdict
    if verdict is not Equivalence.UNKNOWN:
        return verdict is Equivalence.EQUAL
    if len(answer) > MAX_ANSWER_CHARS or len(reference) > MAX_REFERENCE_CHARS:
        return False
    gold, predicted = _parse(reference), _parse(answer)
    if gold is None or predicted is None or not _equal(gold[0], predicted[0]):
        return False
    return _is_complete(gold[1]) and _is_complete(predicted[1])


def compare_with_itself(reference: str) -> None:
    """Parse a reference and compare it with itself, to find out whether that ends at all."""
    if len(reference) <= MAX_REFERENCE_CHARS and (gold := _parse(reference)) is not None:
        _equal(gold[0], gold[0])
        _is_complete(gold[1])


@lru_cache(maxsize=REFERENCE_CACHE)
def _parse(text: str) -> tuple[Any, str] | None:
    """Return a SymPy object for a text, and the normalised text that it was read from."""
    from math_verify import LatexExtractionConfig, parse
    from sympy import Rational, UnevaluatedExpr

    _silence_warnings()
    parsed = parse(
        f"${_convert_degrees(normalise_unicode(text).strip('$ '))}$",
        extraction_config=[LatexExtractionConfig()],
        fallback_mode="first_match",
        parsing_timeout=None,
    )
    if len(parsed) < 2:
        return None
    value, normalised = parsed[0], parsed[1]
    if hasattr(value, "xreplace"):
        # Math-Verify keeps 5% as an unevaluated 5 * (1/100), and then compares it as 5.
        value = value.xreplace({UnevaluatedExpr(Rational(1, 100)): Rational(1, 100)})
    return value, normalised


def _convert_degrees(text: str) -> str:
    if not _FUNCTION.search(text):
        return text
    return _DEGREES.sub(r"\\left(\\frac{\1\\pi}{180}\\right)", text)


@lru_cache(maxsize=REFERENCE_CACHE)
def _is_complete(normalised: str) -> bool:
    """Whether the grammar reads a text to its end, without an error."""
    from antlr4 import CommonTokenStream, InputStream, Token
    from latex2sympy2_extended.antlr_parser import PSLexer, PSParser

    lexer = PSLexer(InputStream(normalised))
    lexer.removeErrorListeners()
    stream = CommonTokenStream(lexer)
    parser = PSParser(stream)
    parser.removeErrorListeners()
    parser.math()
    read = "".join(token.text for token in stream.tokens if token.type != Token.EOF)
    text = "".join(normalised.split())
    # The lexer skips what it does not know: spaces, and anything else that must not be there.
    return (
        stream.LA(1) == Token.EOF
        and parser.getNumberOfSyntaxErrors() == 0
        and len("".join(read.split())) == len(text)
    )


def _silence_warnings() -> None:
    """Silence Math-Verify's warning, at every process start, that its timeouts are off."""
    for name in ("math_verify.parser", "math_verify.grader"):
        logging.getLogger(name).setLevel(logging.ERROR)


def _equal(gold: Any, predicted: Any) -> bool:
    from math_verify import verify as math_verify

    if not _is_consistent(predicted):
        return False
    if not math_verify(gold, predicted, timeout_seconds=None):
        return False
    return _digits_agree(gold, predicted)


def _is_consistent(value: Any) -> bool:
    """Whether a value is not an equation between different constants, such as 41 = 42."""
    from sympy import Eq, simplify

    if not isinstance(value, Eq) or value.free_symbols:
        return True
    return bool(simplify(value.lhs - value.rhs) == 0)


def _digits_agree(gold: Any, predicted: Any) -> bool:
    """Whether two constants that Math-Verify calls equal agree in their leading digits."""
    from sympy import Expr, Float

    if not isinstance(gold, Expr) or not isinstance(predicted, Expr):
        return True
    if gold.free_symbols or predicted.free_symbols or gold.has(Float) or predicted.has(Float):
        return True
    try:
        a, b = gold.evalf(AGREEING_DIGITS + 10), predicted.evalf(AGREEING_DIGITS + 10)
        return bool(abs(a - b) <= max(abs(a), abs(b)) * 10**-AGREEING_DIGITS)
    except (TypeError, ValueError, ArithmeticError):
        return True
