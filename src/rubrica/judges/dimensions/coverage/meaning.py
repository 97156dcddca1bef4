"""What words mean, near enough to tell kinship: `larvae` and `feed`, `渡轮` and `port`.

`meanings.bin` holds a code for each of some 15,000 words, English and Chinese in one space; the
fewer bits two codes differ in, the closer the words. `tools/aspects.py` says how it was made.
"""

import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from math import pi, sin
from pathlib import Path

from rubrica.judges.dimensions.coverage.concepts import words_in
from rubrica.judges.dimensions.coverage.scanning import word_key

_FILE = Path(__file__).parent / "meanings.bin"
_BYTES = 24
#: How close words are by the bits in which they differ, less what any two words have in common.
_COMMON = 0.12
CLOSE = tuple(max(0.0, sin(pi / 2 * (1 - bits / (4 * _BYTES))) - _COMMON) for bits in range(193))
#: From which closeness a word is of the same field as another.
SAME_FIELD = 0.45 - _COMMON


@cache
def codes() -> Mapping[str, int]:
    """The code of each word, English ones by their key."""
    words, _, packed = zlib.decompress(_FILE.read_bytes()).partition(b"\0")
    rows = [int.from_bytes(packed[at : at + _BYTES], "big") for at in range(0, len(packed), _BYTES)]
    found: dict[str, int] = {}
    for line in words.decode().splitlines():
        word, _, row = line.partition(" ")
        found.setdefault(word_key(word) if word.isascii() else word, rows[int(row)])
    return found


@cache
def _said() -> tuple[Mapping[str, int], Mapping[str, tuple[int, ...]]]:
    """The words that count in a text, and by first character how long the Chinese ones are."""
    idle = words_in("fluff.txt")
    kept = {word: code for word, code in codes().items() if word not in idle}
    sizes: dict[str, set[int]] = {}
    for word in kept:
        if not word.isascii():
            sizes.setdefault(word[0], set()).add(len(word))
    return kept, {first: tuple(sorted(many, reverse=True)) for first, many in sizes.items()}


def meant(lower: str, keys: Sequence[str]) -> tuple[str, ...]:
    """The words of lower-case text that have a meaning here, each once, given its keys."""
    kept, sizes = _said()
    found = [key for key in keys if key in kept]
    if not lower.isascii():
        found += _chinese(lower, kept, sizes)
    return tuple(dict.fromkeys(found))


def _chinese(
    lower: str, kept: Mapping[str, int], sizes: Mapping[str, tuple[int, ...]]
) -> list[str]:
    """Chinese words from the left, the longest that fits."""
    found, skip = [], 0
    for at, sign in enumerate(lower):
        if at < skip or sign not in sizes:
            continue
        for size in sizes[sign]:
            word = lower[at : at + size]
            if word in kept:
                found.append(word)
                skip = at + size
                break
    return found


def middle(some: Sequence[int]) -> int:
    """The code that has each bit as most of some codes have it."""
    # All bits are counted side by side: the first of `counts` has the ones, the next the twos. They
    # start at what makes the last one say which are more than half.
    last, every = len(some).bit_length(), (1 << 8 * _BYTES) - 1
    start = (1 << last) - 1 - len(some) // 2
    counts = [every if start >> at & 1 else 0 for at in range(last + 1)]
    for carry in some:
        for at, count in enumerate(counts):
            counts[at], carry = count ^ carry, count & carry
    return counts[last]
