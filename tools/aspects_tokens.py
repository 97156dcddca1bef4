"""Reads what a language model has learned of single words: the rows of its table of tokens.

`aspects.py` uses them. The model is Qwen2.5-Coder-1.5B-Instruct (Apache 2.0) as a GGUF file; its
table holds some 24,000 English words and 16,000 Chinese ones in one space. Needs `gguf` and numpy.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

Matrix = Any
#: Directions that all rows share and that mean nothing, and axes that are kept.
SHARED, AXES = 3, 300
_WORD = re.compile(r" [a-z]{3,}|[\u4e00-\u9fff]{1,6}")


def tokens(model: Path) -> dict[str, Matrix]:
    """The row of each token that is a whole word, of length 1."""
    from gguf import GGUFReader
    from gguf.quants import dequantize

    reader = GGUFReader(str(model))
    field = reader.fields["tokenizer.ggml.tokens"]
    places: dict[str, int] = {}
    for at, part in enumerate(field.data):
        word = _text(bytes(field.parts[part]).decode())
        if word and _WORD.fullmatch(word):
            places[word.strip()] = at
    table = next(one for one in reader.tensors if one.name == "token_embd.weight")
    rows = dequantize(np.array(table.data[list(places.values())]), table.tensor_type)
    rows = _unit(_without_shared(rows.astype(np.float32)))
    axes = np.linalg.svd(rows[::3], full_matrices=False)[2][:AXES]
    return dict(zip(places, _unit(rows @ axes.T), strict=True))


def _without_shared(rows: Matrix) -> Matrix:
    rows = rows - rows.mean(0)
    shared = np.linalg.svd(rows[::5], full_matrices=False)[2][:SHARED]
    return rows - rows @ shared.T @ shared


def _unit(rows: Matrix) -> Matrix:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _signs() -> dict[str, int]:
    """The byte that each sign of a token stands for, as in all byte-level vocabularies."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    known = {chr(byte): byte for byte in plain}
    return known | {chr(256 + at): byte for at, byte in enumerate(others)}


_BYTES = _signs()


def _text(token: str) -> str:
    try:
        return bytes(_BYTES[sign] for sign in token).decode()
    except (KeyError, UnicodeDecodeError):
        return ""
