"""What an operator is given, and what it gives back."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from fourscore.core import Case
from fourscore.evolve.mutations.failure import Failure
from fourscore.evolve.mutations.outline import Outline, outline
from fourscore.evolve.mutations.placeholders import blocks, places

#: Parts of a prompt that an operator looks at; each candidate is a whole prompt.
MOST = 200
_WORD = re.compile(r"[a-zà-ÿ]{4,}|(?=([㐀-鿿]{2}))")
_HAN = re.compile(r"[㐀-鿿]")


class Candidate(NamedTuple):
    """A text that could be tried; those of the lowest `rank` go first."""

    text: str
    why: str
    rank: float = 0.0


class Situation:
    """A parent and what went wrong with it. `kept` are lines that have to stay as they are,
    `constraints` lines that somebody would like to see tried."""

    def __init__(
        self,
        parent: str,
        failures: Sequence[Failure] = (),
        passed: Sequence[Case] = (),
        *,
        signal: str = "",
        kept: Sequence[str] = (),
        constraints: Sequence[str] = (),
    ) -> None:
        self.parent, self.failures, self.passed = parent, failures, passed
        self.signal, self.constraints = signal, constraints
        self._kept = {line.strip() for line in kept}

    @cached_property
    def outline(self) -> Outline:
        return outline(self.parent)

    @property
    def language(self) -> Literal["en", "zh"]:
        """That of the parent: a fifth of Chinese characters is Chinese, English words are long."""
        found = len(_HAN.findall(self.parent))
        return "zh" if found and found * 5 >= len(self.parent.split()) else "en"

    @cached_property
    def reasons(self) -> Counter[str]:
        """The words of the judges' reasons, each once for a failure."""
        counted: Counter[str] = Counter()
        for failure in self.failures:
            said = " ".join([failure.reason, *(one.reason for one in failure.complaints)])
            counted.update(_words(said))
        return counted

    def blamed(self, text: str) -> float:
        """How much the reasons speak of what a line speaks of."""
        words = _words(text)
        return sum(self.reasons[word] for word in words) / len(words) if words else 0.0

    def keeps(self, text: str) -> bool:
        """Whether a part of the prompt has to stay as it is."""
        lines = {line.strip() for line in text.split("\n")}
        return bool(lines & self._kept)

    def with_part(self, part: str) -> str:
        """The parent with a part more at its end; where the end is a paragraph that is filled in,
        such as the question, before that."""
        body = self.parent.rstrip()
        end = self.parent[len(body) :]
        head, gap, tail = body.rpartition("\n\n")
        if gap and self.fills(tail) and not blocks(tail):
            return f"{head.rstrip()}\n\n{part}\n\n{tail}{end}"
        return f"{body}\n\n{part}{end}"

    def fills(self, text: str) -> bool:
        """Whether something is filled in here."""
        return bool(places(text) or blocks(text))


Operator = Callable[[Situation], list[Candidate]]


def _words(text: str) -> set[str]:
    """Longer words, and pairs of Chinese characters."""
    return {found[1] or found[0] for found in _WORD.finditer(text.lower())}


def shown(text: str) -> str:
    """The beginning of a line of the prompt, to tell it by."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
