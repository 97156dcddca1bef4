"""Whether a prompt repeats what an agent wrote.

A failure may carry an order, and a model that improves a prompt may carry it on. Runs of about
eight words, or a dozen Chinese characters, that stand in the material and in the new prompt, and
not in the parent, are such a copy; so is one long word, as addresses and keys are.
"""

import re
from collections.abc import Iterable, Iterator

from fourscore.judges.hidden_text import remove_invisible

#: What a run has to weigh; a word weighs 3, a character of a script without blanks 2.
ENOUGH = 24
#: Characters of a word that is a copy by itself.
LONG = 24
_TOKEN = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]|[^\W_぀-ヿ㐀-鿿豈-﫿가-힯]+")
_WIDE = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]")


def copied(parent: str, text: str, material: Iterable[str]) -> str | None:
    """The first run of the text that was copied, else None."""
    known = set(_runs(parent))
    new = [run for run in _runs(text) if run not in known]
    if not new:
        return None
    theirs = {run for piece in material for run in _runs(piece)}
    return next((" ".join(run) for run in new if run in theirs), None)


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    """From each word on, the words that weigh enough."""
    words = _TOKEN.findall(remove_invisible(text).lower())
    weights = [2 if _WIDE.match(word) else 3 for word in words]
    for word in words:
        if len(word) >= LONG:
            yield (word,)
    end = weight = 0
    for start, own in enumerate(weights):
        while weight < ENOUGH and end < len(words):
            weight += weights[end]
            end += 1
        if weight < ENOUGH:
            return
        yield tuple(words[start:end])
        weight -= own
