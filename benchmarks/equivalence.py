r"""Throughput and verdicts of `decide` + `verify` against Math-Verify, in one run.

    python benchmarks/equivalence.py [--pairs 5000] [--seed 7]
    python benchmarks/equivalence.py --gsm8k FILE

Both sides judge the same pairs in one process, interleaved in blocks so that a busy machine
slows both. Each parses a distinct reference once. Math-Verify runs as its documentation says:
parse(reference), parse(\boxed{answer}), verify, with its timeouts off as in our fallback.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from math import gcd
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from fourscore.judges.math import Equivalence, decide, verify

logging.disable(logging.ERROR)

# class of pair -> share of the traffic
MIX = {"equal": 30, "other form": 25, "wrong number": 25, "wrong form": 8, "wrong type": 12}
PROSE = (
    "The answer depends on the starting value",
    r"\text{cannot be determined}",
    "no solution exists",
    r"\text{It is not possible to say}",
    "undefined",
    r"\text{I do not know}",
    "infinitely many",
)


@dataclass(frozen=True)
class Pair:
    kind: str  # of answer: integer, fraction, ...
    mix: str
    answer: str
    reference: str
    expected: bool | None = None  # where a label is known


Forms = Callable[[random.Random], tuple[list[str], list[str], list[str]]]
# Each generator gives: equal forms (the first is the reference), wrong values, wrong forms.


def integer(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    n = r.choice([r.randint(0, 999), r.randint(1000, 9_999_999), -r.randint(1, 500)])
    forms = [
        str(n), f"{n:,}".replace(",", "{,}"), f"{n:,}", f"x = {n}", f"{n}.0", f"{n - 3} + 3",
        f"${n}$", rf"{n}\text{{ units}}", f"{n}.", rf"\frac{{{2 * n}}}{{2}}",
    ]  # fmt: skip
    wrong = [str(n + r.choice([-10, -1, 1, 2, 100])), str(-n - 1), f"{n}.5", f"{n * 10 + 1}"]
    return (
        forms,
        wrong,
        [f"{n}, {n + 1}", f"({n}, {n + 1})", f"{n} = {n + 1}", rf"\pm {abs(n) + 1}"],
    )


def fraction(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    d = r.randint(2, 60)
    n = r.choice([k for k in range(-70, 90) if k and gcd(k, d) == 1])
    sign, m = ("-" if n < 0 else ""), abs(n)
    forms = [
        rf"{sign}\frac{{{m}}}{{{d}}}", f"{n}/{d}", rf"\dfrac{{{n}}}{{{d}}}",
        rf"\frac{{{3 * n}}}{{{3 * d}}}", rf"x = {sign}\tfrac{{{m}}}{{{d}}}", rf"{sign}{m} \div {d}",
    ]  # fmt: skip
    if m > d:
        forms.append(rf"{sign}{m // d}\frac{{{m % d}}}{{{d}}}")
    wrong = [
        rf"\frac{{{n + d}}}{{{d}}}",
        rf"\frac{{{n}}}{{{d + 1}}}",
        f"{d}/{n}" if m != 1 else "0",
    ]
    return forms, wrong, [f"({n}, {d})", f"{n}, {d}", rf"\left[{n}, {d + 99}\right]"]


def decimal(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    n, places = r.randint(1, 99999), r.choice([1, 2, 2, 3])
    text = f"{n / 10**places:.{places}f}"
    forms = [
        text,
        text + "0",
        rf"\frac{{{n}}}{{{10**places}}}",
        rf"{text}\text{{ cm}}",
        rf"\${text}",
    ]
    forms.append(f"{n}e-{places}")
    wrong = [f"{(n + 1) / 10**places:.{places}f}", f"{n / 10 ** (places - 1):.{places}f}", str(n)]
    return forms, wrong, [f"({text}, 1)", f"{text}, {text}1"]


def percent(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    n = r.randint(1, 99)
    forms = [rf"{n}\%", f"{n}%", rf"\frac{{{n}}}{{100}}", f"{n / 100:.2f}", rf"{n} \%"]
    return forms, [str(n), rf"{n + 1}\%", f"{n / 10:.1f}"], [f"{n}, 100", rf"({n}\%, 1)"]


def radical(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b, k = r.randint(1, 9), r.choice([2, 3, 5, 6, 7, 10, 11, 13]), r.randint(2, 6)
    forms = [
        rf"{a}+{k}\sqrt{{{b}}}", rf"{a} + \sqrt{{{b * k * k}}}", rf"{k}\sqrt{b}+{a}" if b < 10 else
        rf"{k}\sqrt{{{b}}}+{a}", rf"\frac{{{2 * a}+{2 * k}\sqrt{{{b}}}}}{{2}}",
        rf"{a}+\frac{{{k * b}}}{{\sqrt{{{b}}}}}",
    ]  # fmt: skip
    wrong = [rf"{a}-{k}\sqrt{{{b}}}", rf"{a}+{k}\sqrt{{{b + 1}}}", rf"{k}+{a + 20}\sqrt{{{b}}}"]
    wrong.append(f"{a + k * b**0.5:.2f}")
    return forms, wrong, [rf"{a}\pm{k}\sqrt{{{b}}}", rf"({a}, {k}\sqrt{{{b}}})"]


def pi_multiple(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    n, d = r.randint(1, 40), r.choice([1, 2, 3, 4, 5, 6, 8, 12])
    g = gcd(n, d)
    n, d = n // g, d // g
    first = rf"\frac{{{n}\pi}}{{{d}}}" if d > 1 else rf"{n}\pi"
    forms = [first, rf"\frac{{{n}}}{{{d}}}\pi", rf"\pi \cdot \frac{{{n}}}{{{d}}}", f"{n}π/{d}"]
    wrong = [rf"\frac{{{n + 1}\pi}}{{{d}}}", f"{n}/{d}", f"{n * 3.14 / d:.2f}"]
    return forms, wrong, [rf"({n}, \pi)", rf"{n}, {d}\pi"]


def polynomial(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b, k = r.randint(1, 9), r.randint(1, 9), r.randint(2, 5)
    v = r.choice("xyzntabk")
    s, p = a + b, a * b
    forms = [
        f"{v}^2+{s}{v}+{p}", f"({v}+{a})({v}+{b})", f"{p}+{s}{v}+{v}^2",
        f"{v}^{{2}} + {s} {v} + {p}", rf"\frac{{{k}{v}^2+{k * s}{v}+{k * p}}}{{{k}}}",
        f"({v}+{b})({v}+{a})",
    ]  # fmt: skip
    wrong = [
        f"{v}^2-{s}{v}+{p}",
        f"{v}^2+{s + 1}{v}+{p}",
        f"({v}-{a})({v}+{b})",
        f"{v}^3+{s}{v}+{p}",
    ]
    return forms, wrong, [f"{v}^2+{s}{v}+{p}=0", f"{v}={a}", f"{a}, {b}"]


def rational_function(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b = r.randint(1, 9), r.randint(2, 9)
    forms = [
        rf"\frac{{x+{a}}}{{x-{b}}}", rf"\frac{{(x+{a})(x+1)}}{{(x-{b})(x+1)}}", f"(x+{a})/(x-{b})",
        rf"1+\frac{{{a + b}}}{{x-{b}}}",
    ]  # fmt: skip
    return forms, [rf"\frac{{x-{a}}}{{x-{b}}}", rf"\frac{{x-{b}}}{{x+{a}}}", f"x+{a}"], [f"x={b}"]


def point(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b = r.randint(-9, 9), r.randint(10, 30)
    c = r.randint(1, 9)
    if r.random() < 0.5:
        forms = [
            f"({a},{b})",
            rf"\left({a}, {b}\right)",
            rf"({a}, \frac{{{2 * b}}}{{2}})",
            f"({a}, {b}.0)",
        ]
        wrong = [f"({a},{b + 1})", f"({a + 1},{b})", f"({a - 40},{b})"]
        return forms, wrong, [f"[{a},{b}]", str(a), f"({a},{b},{c})"]
    forms = [
        f"({a},{b},{c})",
        rf"\left( {a}, {b}, {c} \right)",
        rf"({a}, {b}, \frac{{{c * 3}}}{{3}})",
    ]
    return forms, [f"({a},{b},{c + 1})", f"({c + 40},{b},{a})"], [f"({a},{b})", f"{a}+{b}+{c}"]


def interval(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b = r.randint(-9, 0), r.randint(1, 12)
    if r.random() < 0.5:
        forms = [
            rf"[{a},\infty)",
            rf"\left[{a}, \infty\right)",
            rf"x \in [{a}, \infty)",
            rf"[{a}, +\infty)",
        ]
        return forms, [rf"[{a + 1},\infty)", rf"(-\infty,{a}]"], [rf"({a},\infty)", str(a)]
    forms = [
        f"[{a},{b}]",
        rf"\left[{a}, {b}\right]",
        rf"x \in [{a},{b}]",
        rf"[{a}, \frac{{{2 * b}}}{{2}}]",
    ]
    return forms, [f"[{a},{b + 1}]", f"[{a - 1},{b}]"], [f"({a},{b}]", f"({a},{b})", str(b)]


def union(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b = r.randint(-9, 0), r.randint(1, 12)
    forms = [
        rf"(-\infty,{a})\cup({b},\infty)", rf"({b},\infty) \cup (-\infty,{a})",
        rf"\left(-\infty, {a}\right) \cup \left({b}, \infty\right)",
    ]  # fmt: skip
    wrong = [rf"(-\infty,{a})\cup({b + 1},\infty)", rf"(-\infty,{a - 1})\cup({b},\infty)"]
    return forms, wrong, [rf"(-\infty,{a}]\cup({b},\infty)", rf"(-\infty,{a})", f"({a},{b})"]


def solutions(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b, c = r.sample(range(-20, 30), 3)
    forms = [
        f"{a}, {b}, {c}",
        f"{c}, {a}, {b}",
        rf"\{{{a}, {b}, {c}\}}",
        rf"{a}, {b} \text{{ and }} {c}",
    ]
    wrong = [f"{a}, {b}, {c + 50}", f"{a}, {b}", f"{a}, {b}, {c}, {c + 50}"]
    return forms, wrong, [str(a), f"[{a}, 50]", f"{a} + {b} + {c} x"]


def matrix(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    n = [r.randint(-9, 9) for _ in range(4)]

    def show(values: list[Any], kind: str = "pmatrix") -> str:
        a, b, c, d = values
        return rf"\begin{{{kind}}} {a} & {b} \\ {c} & {d} \end{{{kind}}}"

    halves = [rf"\frac{{{2 * v}}}{{2}}" for v in n]
    forms = [show(n), show(n, "bmatrix"), show(halves), show([f"{v}.0" for v in n])]
    wrong = [show([n[0] + 1, *n[1:]]), show([n[0], n[2] + 30, n[1], n[3]])]
    column = rf"\begin{{pmatrix}} {n[0]} \\ {n[1]} \end{{pmatrix}}"
    return forms, wrong, [column, f"({n[0]}, {n[1]})", str(n[0])]


def equation(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    m, b = r.randint(2, 9), r.randint(1, 9)
    forms = [f"y={m}x+{b}", f"y = {b} + {m}x", f"{m}x - y + {b} = 0", f"y - {b} = {m}x"]
    return forms, [f"y={m}x-{b}", f"y={m + 1}x+{b}", f"x={m}y+{b}"], [str(m), f"y>{m}x+{b}"]


def complex_number(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b = r.randint(1, 12), r.randint(2, 12)
    forms = [f"{a}+{b}i", f"{b}i + {a}", f"{a} + {b} i", f"{a}-(-{b})i"]
    return forms, [f"{a}-{b}i", f"{b}+{a + 20}i", str(a)], [f"({a}, {b})", f"{a}, {b}i"]


def power(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    b, e = r.randint(2, 9), r.randint(2, 12)
    forms = [f"{b}^{{{e}}}", str(b**e), rf"{b} \cdot {b}^{{{e - 1}}}", f"{b**e:,}"]
    return (
        forms,
        [f"{b}^{{{e + 1}}}", str(b**e + 1), f"{b * e + 1000003}"],
        [f"({b}, {e})", f"{b}, {e}"],
    )


def logarithm(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b = r.choice([2, 3, 5, 7]), r.choice([2, 3, 5, 7, 11])
    forms = [rf"{a}\ln {b}", rf"\ln {b**a}", rf"{a} \ln({b})", rf"\ln({b**a})"]
    return forms, [rf"{a}\ln {b + 1}", rf"\ln {a * b + 1}", f"{a}"], [rf"(\ln {b}, {a})"]


def trigonometric(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    k = r.choice(["x", r"\theta"])
    a = r.randint(2, 9)
    forms = [
        rf"{a}\sin {k}",
        rf"{a}\sin({k})",
        rf"{a} \sin\left({k}\right)",
        rf"\sin({k}) \cdot {a}",
    ]
    if r.random() < 0.2:
        forms.append(rf"{a}\cos(\frac{{\pi}}{{2}} - {k})")
    return forms, [rf"{a}\cos {k}", rf"{a + 1}\sin {k}", rf"{a}\sin 2{k}"], [f"({a}, {k})", str(a)]


def nested_radical(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    a, b = r.sample([2, 3, 5, 7], 2)
    forms = [rf"\sqrt{{{a}}}+\sqrt{{{b}}}", rf"\sqrt{{{b}}} + \sqrt{{{a}}}"]
    if r.random() < 0.5:
        forms.append(rf"\sqrt{{{a + b}+2\sqrt{{{a * b}}}}}")
    wrong = [
        rf"\sqrt{{{a + b}}}",
        rf"\sqrt{{{a}}}-\sqrt{{{b}}}",
        rf"\sqrt{{{a + b}+\sqrt{{{a * b}}}}}",
    ]
    return forms, wrong, [rf"(\sqrt{{{a}}}, \sqrt{{{b}}})"]


def degrees(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    n = r.randint(1, 179)
    forms = [rf"{n}^\circ", str(n), rf"{n}^{{\circ}}", rf"{n}\text{{ degrees}}", f"{n}°"]
    return forms, [rf"{n + 1}^\circ", str(n + 90)], [rf"{n}^\circ, {n + 1}^\circ", f"({n}, 0)"]


def quantity(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    n = r.randint(2, 999)
    unit = r.choice(["cm", "meters", "hours", "square feet", "miles per hour", "apples", "dollars"])
    forms = [str(n), rf"{n}\text{{ {unit}}}", rf"{n} \text{{ {unit}}}", rf"{n}~\mathrm{{{unit}}}"]
    return (
        forms,
        [rf"{n + 1}\text{{ {unit}}}", rf"{n * 2}\text{{ {unit}}}"],
        [f"({n}, {n})", f"{n}, {n + 7}"],
    )


def word(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    names = ["Evelyn", "even", "odd", "Tuesday", "yes", "no", "east", "parabola", "ellipse", "True"]
    chosen = r.choice(names)
    other = r.choice([n for n in names if n != chosen])
    return [rf"\text{{{chosen}}}", chosen, rf"\text{{{chosen.lower()}}}"], [other], ["42", "(1,2)"]


def choice(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    letter, other = r.sample("ABCDE", 2)
    forms = [
        letter,
        f"({letter})",
        rf"\text{{{letter}}}",
        rf"\textbf{{({letter})}}",
        rf"\text{{({letter})}}",
    ]
    return forms, [other, rf"\text{{{other}}}", f"({other})"], [f"{letter}, {other}", "3"]


def hard(r: random.Random) -> tuple[list[str], list[str], list[str]]:
    """Identities that the fast path leaves to Math-Verify, in part."""
    n, a = r.randint(3, 12), r.randint(2, 9)
    which = r.randrange(5)
    if which == 0:
        forms = [rf"{a}\sin 2x", rf"{2 * a}\sin x \cos x"]
        return forms, [rf"{a}\sin x \cos x", rf"{a}\cos 2x"], [f"({a}, 2x)"]
    if which == 1:
        forms = [str(n * (n + 1) // 2), rf"\sum_{{k=1}}^{{{n}}} k"]
        return forms, [rf"\sum_{{k=1}}^{{{n + 1}}} k", str(n)], [rf"(1, {n})"]
    if which == 2:
        forms = [rf"\frac{{x^{{{n}}}}}{{{n}}} + C", rf"C + \frac{{1}}{{{n}}}x^{{{n}}}"]
        return (
            forms,
            [rf"\frac{{x^{{{n + 1}}}}}{{{n}}} + C"],
            [rf"\frac{{x^{{{n}}}}}{{{n}}} + C = 0"],
        )
    if which == 3:
        forms = [rf"\int_0^{{{a}}} x^2 dx", rf"\frac{{{a**3}}}{{3}}"]
        return forms, [rf"\frac{{{a**3 + 1}}}{{3}}", f"{a**3}"], [rf"(0, {a})"]
    forms = [rf"\arcsin\frac{{1}}{{{a}}}", rf"\arcsin(1/{a})"]
    return forms, [rf"\arccos\frac{{1}}{{{a}}}", rf"\arcsin(1/{a + 1})"], [f"({a}, 1)"]


# weight: how often the kind occurs, after the answers of MATH, GSM8K and AIME
KINDS: dict[str, tuple[int, Forms]] = {
    "integer": (34, integer), "fraction": (13, fraction), "decimal": (6, decimal),
    "percent": (3, percent), "radical": (6, radical), "pi": (3, pi_multiple),
    "polynomial": (6, polynomial), "rational function": (2, rational_function), "point": (5, point),
    "interval": (3, interval), "union": (1, union), "solutions": (3, solutions),
    "matrix": (2, matrix), "equation": (2, equation), "complex": (2, complex_number),
    "power": (2, power), "logarithm": (1, logarithm), "trigonometric": (1, trigonometric),
    "nested radical": (1, nested_radical), "hard": (3, hard), "degrees": (2, degrees),
    "quantity": (5, quantity), "word": (2, word), "choice": (2, choice),
}  # fmt: skip


def traffic(count: int, seed: int) -> Iterator[Pair]:
    r = random.Random(seed)
    names = list(KINDS)
    weights = [KINDS[name][0] for name in names]
    for _ in range(count):
        kind = r.choices(names, weights)[0]
        mix = r.choices(list(MIX), list(MIX.values()))[0]
        forms, wrong, malformed = KINDS[kind][1](r)
        reference = forms[0]
        if mix == "equal":
            answer = reference
        elif mix == "other form":
            answer = r.choice(forms[1:])
        elif mix == "wrong number":
            answer = r.choice(wrong)
        elif mix == "wrong form":
            answer = r.choice(malformed)
        else:
            answer = _other_type(r, kind)
        yield Pair(kind, mix, answer, reference, mix in ("equal", "other form"))


def _other_type(r: random.Random, kind: str) -> str:
    """Prose, or an answer of a kind that this reference cannot be."""
    if r.random() < 0.35 and kind not in ("word", "choice"):
        return r.choice(PROSE)
    families = [
        {"integer", "fraction", "decimal", "percent", "radical", "pi", "power"}
        | {"degrees", "quantity"},
        {"polynomial", "rational function", "trigonometric", "hard"}, {"point"}, {"union"},
        {"matrix"}, {"equation"}, {"word", "choice"}, {"solutions"},
    ]  # fmt: skip
    others = sorted(k for f in families if kind not in f for k in f)
    return r.choice(KINDS[r.choice(others)][1](r)[0])


def gsm8k(path: str) -> Iterator[Pair]:
    """Model solutions of GSM8K: the text after the last "A:" in a box, against the labels."""
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            reference = row["ground_truth"].rpartition("\nA:")[2].strip()
            for name, value in row.items():
                if isinstance(value, dict):
                    _, boxed, answer = value["solution"].rpartition("\nA:")
                    answer = answer.strip() if boxed else ""  # no final answer: an empty box
                    yield Pair("gsm8k", name, answer, reference, value["is_correct"])


@cache
def _theirs_reference(reference: str) -> Any:
    from math_verify import parse

    return parse(f"${reference}$", parsing_timeout=None)


def theirs(pair: Pair) -> bool:
    from math_verify import parse
    from math_verify import verify as math_verify

    answer = parse(rf"\boxed{{{pair.answer}}}", parsing_timeout=None)
    return bool(math_verify(_theirs_reference(pair.reference), answer, timeout_seconds=None))


def ours(pair: Pair) -> tuple[bool, Equivalence]:
    verdict = decide(pair.answer, pair.reference).verdict
    if verdict is Equivalence.UNKNOWN:
        return verify(pair.answer, pair.reference), verdict
    return verdict is Equivalence.EQUAL, verdict


def measure(
    pairs: list[Pair], block: int = 250
) -> list[tuple[Pair, bool, bool, Equivalence, float, float]]:
    warm = Pair("", "", r"\frac{2}{4}", "0.5")
    theirs(warm), ours(warm), verify(r"\sum_{k=1}^{3} k", "6")
    results = []
    for start in range(0, len(pairs), block):
        part = pairs[start : start + block]
        mine, times = [], []
        for pair in part:
            clock = time.perf_counter()
            mine.append(ours(pair))
            times.append(time.perf_counter() - clock)
        for pair, (verdict, raw), spent in zip(part, mine, times, strict=True):
            clock = time.perf_counter()
            other = theirs(pair)
            results.append((pair, verdict, other, raw, spent, time.perf_counter() - clock))
    return results


def report(pairs: list[Pair]) -> None:
    results = measure(pairs)

    def ratio(rows: list[Any]) -> str:
        mine, other = sum(row[4] for row in rows), sum(row[5] for row in rows)
        per = f"{1e6 * mine / len(rows):.0f} us against {1e6 * other / len(rows):.0f} us a pair"
        return f"{other / mine:6.1f}x  ({per}, n={len(rows)})"

    print("mix:", dict(Counter(p.mix for p in pairs)))
    print("kinds:", dict(Counter(p.kind for p in pairs)))
    print("throughput against Math-Verify, overall:", ratio(results))
    for mix in dict.fromkeys(p.mix for p in pairs):
        print(f"  {mix:16}", ratio([row for row in results if row[0].mix == mix]))
    unknown = [row for row in results if row[3] is Equivalence.UNKNOWN]
    print(f"fell through to Math-Verify: {len(unknown)} of {len(results)} "
          f"({100 * len(unknown) / len(results):.2f}%)")  # fmt: skip
    if unknown:
        print("  those alone:", ratio(unknown))
    print(
        "  without identical texts:", ratio([r for r in results if r[0].answer != r[0].reference])
    )
    for kind, count in Counter(row[0].kind for row in unknown).most_common():
        print(f"  {kind}: {count}")
    for who, index in (("ours", 1), ("Math-Verify", 2)):
        bad = [
            row for row in results if row[0].expected is not None and row[index] != row[0].expected
        ]
        false_equal = sum(bool(row[index]) for row in bad)
        print(f"{who} against the labels: {len(bad)} wrong, {false_equal} of them false rewards")
        if who == "ours":
            for pair, verdict, *_ in bad:
                print(f"    {pair.kind} / {pair.mix}: answer {pair.answer!r}, reference "
                      f"{pair.reference!r}: ours {verdict}, label {pair.expected}")  # fmt: skip
    differing = [row for row in results if row[1] != row[2]]
    print(f"verdicts that differ: {len(differing)} of {len(results)}")
    for pair, verdict, other, *_ in differing:
        print(f"  {pair.kind} / {pair.mix}: answer {pair.answer!r}, reference {pair.reference!r}: "
              f"ours {verdict}, Math-Verify {other}, label {pair.expected}")  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--pairs", type=int, default=5_000)
    options.add_argument("--seed", type=int, default=7)
    options.add_argument("--gsm8k", metavar="FILE")
    chosen = options.parse_args()
    report(list(gsm8k(chosen.gsm8k)) if chosen.gsm8k else list(traffic(chosen.pairs, chosen.seed)))


if __name__ == "__main__":
    main()
