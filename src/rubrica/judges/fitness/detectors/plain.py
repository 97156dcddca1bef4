"""Demands on the form that need no more than a name: what to leave out, which case, which end."""

import re
from collections.abc import Callable
from functools import partial

from rubrica.judges.fitness.detectors.amounts import BULLET, EMOJI, NUMBERED, count
from rubrica.judges.fitness.detectors.blocks import blocks, has_code_block
from rubrica.judges.fitness.detectors.explanation import has_explanation
from rubrica.judges.fitness.detectors.language import guess
from rubrica.judges.fitness.detectors.shapes import EDGE, LETTER, prose
from rubrica.judges.fitness.detectors.tongues import simplified, traditional

_TITLE = re.compile(r"^\s{0,3}#{1,6}\s", re.MULTILINE)
_SMILE = re.compile(r"(?:^|\s)[:;]-?[)(DP](?:\s|$)")
_NOON = re.compile(r"\d\s?[ap]\.?m\b", re.IGNORECASE)
_YES = (
    *(
        "yes",
        "no",
        "是",
        "否",
        "对",
        "不对",
        "不是",
        "有",
        "没有",
        "能",
        "不能",
        "会",
        "不会",
        "不",
    ),
    *("có", "không", "đúng", "sai", "phải", "không phải", "được"),
)


def _chosen(options: tuple[str, ...], strict: bool, output: str) -> bool:
    text = output.strip(EDGE).lower()
    if strict or len(text) < 12:
        return text in options
    return any(
        re.match(rf"{re.escape(option)}(?![^\W_])", text)
        or (not option.isascii() and text.startswith(option))
        for option in options
    )


def _per_line(output: str) -> bool:
    lines = [line for line in output.strip().splitlines() if line.strip()]
    return len(lines) > 1 and sum(
        1 for line in lines if re.search(r"[,，、;；]\s*\S", line)
    ) * 2 <= len(lines)


def _upper(output: str) -> bool:
    text = prose(output)
    return bool(LETTER.search(text)) and text == text.upper()


def _brief(output: str) -> bool:
    return (
        count("lines", output) == 1 and count("words", output) <= 8 and not has_explanation(output)
    )


def _sorted(output: str) -> bool:
    lines = [line for line in output.strip().splitlines() if line.strip()]
    items = re.split(r"[,;，；]", lines[0]) if len(lines) == 1 else lines
    words = [re.sub(r"^[\W\d_]+", "", item).lower() for item in items]
    return words == sorted(words)


def _one_liner(output: str) -> bool:
    found = blocks(output)
    return count("lines", found[0].text if found else output) == 1


def _lower(output: str) -> bool:
    return bool(LETTER.search(output)) and output == output.lower()


def _without_code(output: str) -> bool:
    return (
        not has_code_block(output)
        and guess(output, alone=True) is None
        and not re.search(r"^ {4,}\S+[(=]", output, re.MULTILINE)
    )


CHOICES: dict[str, Callable[[bool, str], bool]] = {
    "yes_no": partial(_chosen, _YES),
    "true_false": partial(_chosen, ("true", "false")),
}
#: Demands that need no more than their name.
PLAIN: dict[str, Callable[[str], bool]] = {
    "no_markdown": lambda out: not (has_code_block(out) or _TITLE.search(out) or "**" in out),
    "no_explanation": lambda out: not has_explanation(out),
    "no_code": _without_code,
    "no_list": lambda out: not BULLET.search(out) and not NUMBERED.search(out),
    "no_numbers": lambda out: not NUMBERED.search(out),
    "no_digits": lambda out: not re.search(r"\d", out),
    "no_emoji": lambda out: not EMOJI.search(out) and not _SMILE.search(out),
    "emoji": lambda out: bool(EMOJI.search(out)),
    "no_exclamation": lambda out: not re.search("[!！]", out),
    "no_comma": lambda out: not re.search("[,，]", out),
    "no_heading": lambda out: not _TITLE.search(out),
    "one_per_line": _per_line,
    "upper": _upper,
    "lower": _lower,
    "short": _brief,
    "one_liner": _one_liner,
    "no_breaks": lambda out: "\n" not in out.strip(),
    "headings": lambda out: bool(_TITLE.search(out)),
    "sorted": _sorted,
    "snake": lambda out: not re.search(r"\b[a-z]+[A-Z]\w*|\b[a-z]+-[a-z]+", out),
    "camel": lambda out: not re.search(r"\b\w+_\w+|\b[a-z]+-[a-z]+", out),
    "kebab": lambda out: not re.search(r"\b\w+_\w+|\b[a-z]+[A-Z]\w*", out),
    "roman": lambda out: bool(re.search(r"\b[IVXLCDM]+\b", out)),
    "binary": lambda out: bool(re.search(r"\b(?:0b)?[01]+\b", out)),
    "hexadecimal": lambda out: bool(re.search(r"\b(?:0x)?[0-9a-fA-F]+\b", out)),
    "inline": lambda out: bool(re.search(r"`[^`\n]+`", out)),
    "quoted": lambda out: bool(re.search("[\"'“「][^\"'”」\n]+[\"'”」]", out)),
    "haiku": lambda out: count("lines", out) == 3,
    "iso_date": lambda out: bool(re.search(r"\b\d{4}[-/.]\d\d[-/.]\d\d\b", out)),
    "day_date": lambda out: bool(re.search(r"\b\d\d[-/.]\d\d[-/.]\d{4}\b", out)),
    "clock": lambda out: bool(re.search(r"\b\d\d:\d\d\b", out)) and not _NOON.search(out),
    "bold": lambda out: bool(re.search(r"\*\*\S|__\S|<b>|<strong>", out)),
    "question_end": lambda out: out.strip(" \n\"'”*)").endswith(("?", "？")),
    "traditional": lambda out: not simplified(out),
    "simplified": lambda out: not traditional(out),
}  # fmt: skip
