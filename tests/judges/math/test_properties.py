"""Invariants of the fast path, on generated text and generated formulas."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from fourscore.judges.math import Equivalence, decide

LATEX = st.lists(
    st.sampled_from(
        str.split(r"""\frac \sqrt \text{ \left( \right) { } ( ) [ ] | ^ _ + - = < > , ; : !
            % $ \pm \pi \infty \cup \in \{ \} \sin \ln \log_ 1 2 10 0.5 1,234 x y
            e i cm \text{cm} \begin{pmatrix} & \\ \end{pmatrix} \% \circ or and
            \approx \overline{3} a.m. \cdot / \binom \mathrm{e} ² ½ \le""")
    ),
    max_size=14,
).map(" ".join)
RATIONALS = st.fractions(min_value=-1000, max_value=1000, max_denominator=400)


def shown(value: Fraction) -> list[str]:
    """One rational in several forms."""
    n, d = value.numerator, value.denominator
    sign, m = ("-" if n < 0 else ""), abs(n)
    forms = [
        f"{n}/{d}",
        rf"\frac{{{n}}}{{{d}}}",
        rf"{sign}\dfrac{{{m}}}{{{d}}}",
        rf"\frac{{{7 * n}}}{{{7 * d}}}",
        f"x = {n}/{d}",
        rf"{n} \div {d}",
        rf"\frac{{{100 * n}}}{{{d}}}\%",
        rf"\frac{{{n}}}{{{d}}}\text{{ cm}}",
        rf"\sqrt{{2}} \cdot \frac{{{n}\sqrt2}}{{{2 * d}}}",
    ]
    if m > d > 1:
        forms.append(rf"{sign}{m // d}\frac{{{m % d}}}{{{d}}}")
    if d == 1:
        forms += [str(n), f"{n}.00", f"{n:,}", f"{n}."]
    return forms


@given(st.text(max_size=60), st.text(max_size=60))
@example("\ud800", "42")
@example("1\x00", "1")
def test_never_raises_on_text(answer: str, reference: str) -> None:
    assert "failed" not in decide(answer, reference).reason


@given(LATEX, LATEX)
def test_never_raises_on_latex(answer: str, reference: str) -> None:
    assert "failed" not in decide(answer, reference).reason


@given(st.one_of(LATEX, st.text(max_size=40)))
def test_reflexive(text: str) -> None:
    expected = Equivalence.EQUAL if text.strip() else Equivalence.DIFFERENT
    assert decide(text, text).verdict is expected


@given(LATEX)
def test_spacing_does_not_matter(text: str) -> None:
    assert decide(text, f"  {text}  ").verdict is decide(text, text).verdict


@given(RATIONALS, st.data())
def test_equal_in_any_form(value: Fraction, data: st.DataObject) -> None:
    forms = st.sampled_from(shown(value))
    answer, reference = data.draw(forms), data.draw(forms)
    assert decide(answer, reference).verdict is Equivalence.EQUAL


@given(RATIONALS, RATIONALS, st.data())
def test_agrees_with_fractions(left: Fraction, right: Fraction, data: st.DataObject) -> None:
    answer, reference = (
        data.draw(st.sampled_from(shown(left))),
        data.draw(st.sampled_from(shown(right))),
    )
    expected = Equivalence.EQUAL if left == right else Equivalence.DIFFERENT
    assert decide(answer, reference).verdict is expected


@given(RATIONALS, RATIONALS)
def test_symmetric_on_numbers(left: Fraction, right: Fraction) -> None:
    for a in shown(left)[:3]:
        for b in shown(right)[:3]:
            assert decide(a, b).verdict is decide(b, a).verdict


@given(st.lists(RATIONALS, min_size=2, max_size=5, unique=True), st.randoms())
def test_lists_have_no_order_and_tuples_do(values: list[Fraction], rng: object) -> None:
    texts = [f"{v.numerator}/{v.denominator}" for v in values]
    turned = texts[1:] + texts[:1]
    assert decide(", ".join(turned), ", ".join(texts)).verdict is Equivalence.EQUAL
    tuples = [f"({', '.join(t)})" for t in (turned, texts)]
    assert decide(tuples[0], tuples[1]).verdict is Equivalence.DIFFERENT
    assert decide(", ".join(texts[:-1]), ", ".join(texts)).verdict is Equivalence.DIFFERENT


COEFFICIENTS = st.lists(st.integers(-9, 9), min_size=1, max_size=5)


def polynomial(coefficients: list[int], order: int = 1) -> str:
    terms = [f"({c})x^{{{k}}}" for k, c in enumerate(coefficients)]
    return "+".join(terms[::order])


def horner(coefficients: list[int]) -> str:
    text = "0"
    for c in reversed(coefficients):
        text = f"(x({text})+{c})"
    return text


@given(COEFFICIENTS)
def test_polynomials_in_two_forms(coefficients: list[int]) -> None:
    for other in (polynomial(coefficients, -1), horner(coefficients)):
        assert decide(other, polynomial(coefficients)).verdict is Equivalence.EQUAL


@given(COEFFICIENTS, COEFFICIENTS)
def test_polynomials_differ_when_a_coefficient_does(left: list[int], right: list[int]) -> None:
    def stripped(values: list[int]) -> list[int]:
        while values and not values[-1]:
            values = values[:-1]
        return values

    same = stripped(left) == stripped(right)
    expected = Equivalence.EQUAL if same else Equivalence.DIFFERENT
    assert decide(horner(left), polynomial(right)).verdict is expected


@given(st.integers(1, 400), st.integers(1, 400))
def test_sums_of_roots(a: int, b: int) -> None:
    """sqrt(a) + sqrt(b) squared is a + b + 2 sqrt(ab)."""
    left = rf"(\sqrt{{{a}}}+\sqrt{{{b}}})^2"
    assert decide(left, rf"{a + b}+2\sqrt{{{a * b}}}").verdict is Equivalence.EQUAL
    assert decide(left, rf"{a + b}+2\sqrt{{{a * b + 1}}}").verdict is Equivalence.DIFFERENT


@given(st.integers(1, 10**12), st.integers(0, 6))
def test_decimals_are_exact(n: int, places: int) -> None:
    text = f"{n // 10**places}.{n % 10**places:0{places}d}" if places else str(n)
    assert decide(text, rf"\frac{{{n}}}{{{10**places}}}").verdict is Equivalence.EQUAL
    assert decide(text, rf"\frac{{{n + 1}}}{{{10**places}}}").verdict is Equivalence.DIFFERENT
