"""Checks of one demand each: whether an output has a form."""

import re
from itertools import pairwise
from typing import NamedTuple

from rubrica.judges.fitness.detectors.amounts import BULLET, NUMBERED, Amount, count
from rubrica.judges.fitness.detectors.blocks import blocks, has_code_block, outside
from rubrica.judges.fitness.detectors.language import guess, named
from rubrica.judges.fitness.detectors.payload import (
    has_header,
    is_data,
    json_value,
    payload,
    rows,
)
from rubrica.judges.fitness.detectors.tongues import written_in

LETTER = re.compile(r"[^\W\d_]")
_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\||$)")
_NUMBER = re.compile(r"[-+−$€£¥]?\d[\d.,  ]*\s?%?[.。]?")
_DECIMAL = re.compile(r"\d[.,](\d+)\b")
EDGE = " \t\n.。!！\"'“”*`"


class Wants(NamedTuple):
    """What is wanted of data beyond its kind."""

    keys: tuple[str, ...]
    array: bool
    object: bool
    header: bool


def prose(output: str) -> str:
    """The output without its fenced blocks, where something is left."""
    left = outside(output)
    return left if LETTER.search(left) else output


def data(kind: str, bare: bool, only: bool, wants: Wants, output: str) -> bool:
    text = payload(output, kind, bare=bare)
    if text is None or not is_data(text, kind):
        return False
    if only and not bare and LETTER.search(outside(output)):
        return False
    value = json_value(text) if kind == "json" else None
    if wants.array and kind == "json" and not isinstance(value, list):
        return False
    if wants.object and kind == "json" and not isinstance(value, dict):
        return False
    if wants.header and not has_header(rows(text)):
        return False
    return all(key in text for key in wants.keys)


def fenced(label: str, output: str) -> bool:
    language = named(label)
    found = blocks(output)
    return any(language in (None, "text") or named(block.language) == language for block in found)


def only_code(output: str) -> bool:
    if has_code_block(output):
        return not LETTER.search(outside(output))
    if guess(output, alone=True) is not None:
        return True
    words = len(re.findall(r"[^\W\d_]+", output))
    return words < 3 or (words < 20 and bool(re.search(r"[(){}=;|<>$/\\*]|--?\w", output)))


def listed(numbered: bool, output: str) -> bool:
    return bool((NUMBERED if numbered else BULLET).search(output))


def items(wanted: Amount, output: str) -> bool:
    marks = len(BULLET.findall(output)), len(NUMBERED.findall(output))
    return wanted.holds(max(marks))


def amount(wanted: Amount, output: str) -> bool:
    text = output.strip()
    if wanted.unit in ("sentences", "words", "signs"):
        text = prose(text)
    found = count(wanted.unit, text)
    return wanted.holds(found) and (found > 0 or wanted.low == 0)


def separated(signs: str, output: str) -> bool:
    lines = [line for line in output.strip().splitlines() if line.strip()]
    return (
        bool(lines)
        and not BULLET.search(output)
        and not NUMBERED.search(output)
        and all(any(sign in line for sign in signs) for line in lines)
    )


def has_table(output: str) -> bool:
    lines = output.splitlines()
    ruled = any("|" in above and _RULE.match(line) for above, line in pairwise(lines))
    return ruled or "<table" in output.lower()


def only_table(output: str) -> bool:
    return has_table(output) and all("|" in line for line in output.splitlines() if line.strip())


def only_items(output: str) -> bool:
    lines = [line for line in output.splitlines() if line.strip() and not line.startswith("  ")]
    return all(BULLET.match(line) or NUMBERED.match(line) for line in lines)


def tongue(name: str, only: bool, output: str) -> bool:
    """Whether the prose is in a language; "only" means each line and sentence of it."""
    text = prose(output)
    if not written_in(text, name):
        return False
    pieces = [s for s in re.split(r"[:：\n.!?。！？]", text) if len(LETTER.findall(s)) > 8]
    return not only or all(written_in(piece, name) for piece in pieces)


def exactly(n: int, output: str) -> bool:
    """How many things are listed, where that can be counted."""
    marks = max(len(BULLET.findall(output)), len(NUMBERED.findall(output)))
    lines = [line for line in output.strip().splitlines() if line.strip()]
    if marks > 1:
        return marks == n
    pieces = re.split(r"[,，、;；]", lines[0]) if len(lines) == 1 else []
    if len(pieces) > 1 and all(len(piece) < 40 for piece in pieces):
        return len(pieces) == n
    return True


def starts(text: str, output: str) -> bool:
    return output.strip().lower().startswith(text.strip().lower()) or (
        output.strip(EDGE + "#").lower().startswith(text.strip(EDGE + "#").lower())
        and not text.startswith("#")
    )


def ends(text: str, output: str) -> bool:
    return output.strip(EDGE).lower().endswith(text.strip(EDGE).lower())


def lacks(text: str, output: str) -> bool:
    if len(text) > 1 and text.isascii():
        return not re.search(rf"\b{re.escape(text)}\b", output, re.IGNORECASE)
    return text.lower() not in output.lower()


def contains(text: str, output: str) -> bool:
    return text.lower() in output.lower()


def sectioned(names: tuple[str, ...], output: str) -> bool:
    titles = [title for line in output.splitlines() if (title := _title(line))]
    return all(any(name.lower() in title for title in titles) for name in names)


def _title(line: str) -> str:
    """What a line is the heading of: marked as one, bold, or ending in a colon."""
    text = line.strip()[:200]
    bold = text.startswith("**") and text.rstrip(":：").endswith("**")
    marked = text.startswith("#") or bold or (text.endswith((":", "：")) and len(text) < 60)
    return text.strip("#*:： \t").lower() if marked else ""


def paired(sign: str, output: str) -> bool:
    lines = [line.strip() for line in prose(output).strip().splitlines() if line.strip()]
    signs = ":：" if sign in ":：" else sign
    other = "=" if sign in ":：" else ":" if sign == "=" else "\0"
    return bool(lines) and all(
        (any(s in line for s in signs) if len(sign) == 1 else sign in line)
        and (other not in line or line.find(other) > max(line.find(s) for s in signs) > -1)
        for line in lines
    )


def tagged(tag: str, output: str) -> bool:
    return f"<{tag}" in output and f"</{tag}>" in output


def is_number(output: str) -> bool:
    return bool(_NUMBER.fullmatch(output.strip(" \n*`")))


def decimals(n: int, output: str) -> bool:
    found = _DECIMAL.findall(output)
    if has_code_block(output):
        return True  # the code is to format them
    return (bool(found) and all(len(digits) == n for digits in found)) or (n == 0 and not found)
