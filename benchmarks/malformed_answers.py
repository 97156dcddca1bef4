r"""Malformed LaTeX answers against sound references: is each one judged, and how long does it take?

    python benchmarks/malformed_answers.py [--answers 20000] [--seed 24] [--deadline 1]

An answer that cannot be judged leaves its group's mean and so pays better than a wrong one.
Formulas are drawn from a grammar, then damaged: pieces are cut, swapped, doubled, nested or put
into other formulas, brackets are removed, commands get the wrong arguments. Every answer must get
a 0 or a 1; the script fails if one gets no reward or if an exception leaves the judge.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))

from fourscore.core import Case, Rubric, Score, Trace, score
from fourscore.judges.math import Equivalence, MathJudge, decide

#: References of every kind that the judge reads, each of which can be compared with itself.
REFERENCES = (
    "42", "-7.25", r"\frac{3}{4}", r"\sqrt{2}+\sqrt{3}", "x^2+1", r"\sin x", "(1, 2)",
    r"\{1, 2, 3\}", r"[0, \infty)", "x < 3", "x = 5", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}",
    r"\frac{\pi}{6}", r"2 e^{3}", "5 cm", r"\text{yes}", "B", r"\sum_{k=1}^{3} k", r"3 + 4i",
    r"(-\infty, 1) \cup (2, 5]",
)  # fmt: skip
_ATOMS = str.split(
    r"0 1 2 7 10 42 100 0.5 1e3 -3 x y k n a e i \pi \infty \alpha \theta \emptyset \mathbb{R}"
    r" 1,234 3\% 90^\circ \text{yes} \text{cm} \mathrm{d} \ldots \dots \cdots ? ½ π ∞ √2 x² yes cm"
)
_FUNCTIONS = str.split(
    r"\sin \cos \tan \cot \sec \csc \arcsin \arctan \sinh \ln \log \log_2 \exp \det \gcd \max \min"
    r" \Re \Im \arg \sgn \operatorname{tr} f g \lfloor \lceil \Gamma \zeta"
)
_OPERATORS = str.split(
    r"+ - \cdot \times / \div ^ _ = < > \le \ge \ne \approx \equiv \in \cup \cap \setminus \to \mid"
    r" , ; : ! !! ' \pm \mp \circ \land \lor \implies \bmod \choose \subset \mapsto & \\"
)
_MATRICES = ("pmatrix", "bmatrix", "vmatrix", "matrix", "cases", "array", "align*", "smallmatrix")
_BRACKETS = (
    ("(", ")"), ("[", "]"), (r"\{", r"\}"), ("|", "|"), ("{", "}"), (r"\left(", r"\right)"),
    (r"\lfloor", r"\rfloor"), (r"\langle", r"\rangle"), (r"\left|", r"\right|"),
    (r"\left[", r"\right)"), (r"\|", r"\|"),
)  # fmt: skip
#: Answers that make SymPy raise, or compute for ever.
_COSTLY = (
    r"0=(\begin{pmatrix}1\\2\end{pmatrix})", r"\int_0^1 e^{e^{e^{x^x}}} dx", "42!!!!!!",
    "x^{10^{30}}", r"\sum_{i=1}^{10^{9}} i^{i}", r"\prod_{k=1}^{10^7} (1+\frac{1}{k})",
    r"\lim_{x \to 0} x^{x^{x}}", r"\sin(\sin(\sin(x))) = \cos(\cos(x))", r"x < 3 = y > 2",
    r"10^{10^{10}} - 10^{10^{10}} + 42", r"\sqrt{x+\sqrt{x+\sqrt{x}}}", r"(1,2) + \{3\}",
    r"\frac{\begin{pmatrix}1\end{pmatrix}}{0}", r"\frac{0}{0}", r"\infty - \infty",
)  # fmt: skip
_PIECE = re.compile(r"\\[A-Za-z]+\*?|\\.|\d+|\s+|.", re.DOTALL)
_JUNK = (
    *str.split(
        r"{ } ( ) [ ] \{ \} $ $$ & \\ ^ _ ^^ __ {} {{}} \left \right \frac \sqrt[ \begin{pmatrix}"
        r" \end{pmatrix} \begin{cases} \end{cases} \boxed{ \text{ \mathrm{ \int \sum_ \lim_ \over ="
        r" == ~ # % \x \0 ' '' ` ¬ ₂ ² ⅓ − × ≤ 𝟙 ٤ NaN None zoo oo I E S N O Q nan __class__ lambda"
    ),
    "\ud800", "\u200b", "\x00", "\x1b[31m", "\n\n", "\u0301",
)  # fmt: skip


class Formulas:
    """Draws formulas from a grammar and damages them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def draw_answer(self) -> str:
        """Return one answer without braces that would end its box early."""
        seeded = self.random.random() < 0.2
        text = self.random.choice(_COSTLY) if seeded else self.draw(self.random.randint(0, 5))
        for _ in range(self.random.choice((0, 1, 1, 2, 3, 6))):
            text = self._damage(text)
        return _balance(text)[:1_900]

    def draw(self, depth: int) -> str:
        """Return a well-formed formula of at most this depth."""
        pick = self.random
        if depth <= 0:
            return pick.choice(_ATOMS)
        a, b = (self.draw(pick.randint(0, depth - 1)) for _ in range(2))
        left, right = pick.choice(_BRACKETS)
        name = pick.choice(_MATRICES)
        over, how = pick.choice("xkn"), pick.choice(("=", r"\to ", ""))
        limits = f"_{{{over}{how}{b}}}^{{{self.draw(0)}}}"
        forms = (
            f"{a} {pick.choice(_OPERATORS)} {b}",
            f"{a} {pick.choice(_OPERATORS)} {b}",
            f"{left}{a}{right}",
            f"{left}{a}, {b}{right}",
            rf"\{pick.choice(('frac', 'dfrac', 'binom'))}{{{a}}}{{{b}}}",
            rf"\sqrt{pick.choice(('', '[3]', '[' + b + ']'))}{{{a}}}",
            f"{{{a}}}^{{{b}}}",
            f"{a}_{{{b}}}",
            f"{pick.choice(_FUNCTIONS)}{pick.choice((' ', '(', '{', '^2 '))}{a}",
            rf"\{pick.choice(('sum', 'prod', 'lim', 'bigcup'))}{limits} {a}",
            rf"\int{pick.choice(('', '_{' + b + '}^{1}', '_0^1'))} {a} \, d{pick.choice('xyk')}",
            rf"\frac{{d}}{{dx}} {a}",
            rf"\begin{{{name}}} {a} & {b} \\ {b} & {a} \end{{{name}}}",
            rf"\begin{{{name}}} {a} \\ {b} \end{{{name}}}",
            f"{a}!",
            f"{a} = {b}",
            rf"{left}{a}{right}^{{{b}}}",
            rf"\overline{{{a}}} \{pick.choice(('to', 'cdot', 'vec', 'hat'))} {b}",
        )
        return pick.choice(forms)

    def _damage(self, text: str) -> str:
        pick = self.random
        pieces = _PIECE.findall(text) or ["1"]
        i, j = sorted((pick.randrange(len(pieces)), pick.randrange(len(pieces))))
        junk = pick.choice(_JUNK)
        ways = (
            pieces[:i] + pieces[j:],
            [*pieces[:i], junk, *pieces[i:]],
            [*pieces[:i], junk, *pieces[i + 1 :]],
            pieces[:j] + pieces[i:],
            [*pieces[:i], pieces[j], *pieces[i + 1 : j], pieces[i], *pieces[j + 1 :]],
            [*pieces[:i], *pieces[i : j + 1] * pick.randint(2, 6), *pieces[j + 1 :]],
            [*pieces[:i], self.draw(2), *pieces[j:]],
            [p for p in pieces if p not in ("{", "}") or pick.random() < 0.7],
            ["0=(", *pieces, ")"],
        )
        return "".join(pick.choice(ways))


def _balance(text: str) -> str:
    """Return the text with its braces in pairs, so that the box holds all of it."""
    depth, kept = 0, []
    for piece in _PIECE.findall(text):
        if piece == "}" and depth == 0:
            continue
        depth += (piece == "{") - (piece == "}")
        kept.append(piece)
    return "".join(kept) + "}" * depth


async def judge_answers(
    answers: list[tuple[str, str]], deadline: float, concurrency: int = 8
) -> list[Score]:
    """Return the scores of pairs of answer and reference, in order."""
    rubric = Rubric.from_judge(MathJudge(match="equivalent", deadline=deadline))
    gate = asyncio.Semaphore(concurrency)

    async def judge(answer: str, reference: str) -> Score:
        async with gate:
            case = Case(id="t", input="?", expected=reference)
            (scored,) = await score(rubric, case, [Trace(output=f"\\boxed{{{answer}}}")])
            return scored

    return list(await asyncio.gather(*(judge(*pair) for pair in answers)))


def draw_pairs(n: int, seed: int) -> list[tuple[str, str]]:
    """Return n pairs of a malformed answer and a reference, the references in turn."""
    formulas = Formulas(seed)
    return [(formulas.draw_answer(), REFERENCES[i % len(REFERENCES)]) for i in range(n)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("--deadline", type=float, default=1.0)
    options = parser.parse_args()
    pairs = draw_pairs(options.answers, options.seed)
    slow = sum(decide(*pair).verdict is Equivalence.UNKNOWN for pair in pairs)
    began = time.monotonic()
    scores: list[Score] = []
    for at in range(0, len(pairs), 1_000):
        scores += asyncio.run(judge_answers(pairs[at : at + 1_000], options.deadline))
        print(f"{len(scores)} judged, {time.monotonic() - began:.0f} s", file=sys.stderr)
    unjudged = [(pair, s) for pair, s in zip(pairs, scores, strict=True) if s.reward is None]
    split = (s.reason.rpartition(" could not be compared") for s in scores)
    failed = Counter(after.strip(" :") for _, found, after in split if found)
    print(f"{len(scores)} answers, {slow} of them left to Math-Verify, seed {options.seed}")
    print(f"rewards: {dict(Counter(s.reward for s in scores))}")
    print(f"made Math-Verify fail: {dict(failed.most_common())}")
    print(f"{time.monotonic() - began:.0f} s; without a reward: {len(unjudged)}")
    for (answer, reference), scored in unjudged[:10]:
        print(f"  {answer!r} against {reference!r}: {scored.status} {scored.reason}")
    return 1 if unjudged else 0


if __name__ == "__main__":
    sys.exit(main())
