"""What language a piece of code is written in: by its label, else by how its lines look."""

import re
from functools import cache

from rubrica.judges.fitness.detectors.lists import sections

_JSON = re.compile(r"\s*(?:\{\s*(?:\"|\}|$)|\[\s*(?:[\[{\"\d\]-]|$|true|false|null))")
_MEMBER = re.compile(r"\s*\"[^\"\n]*\"\s*:\s*[\[{\"\d]")
_SHEBANG = re.compile(r"#!\S*(?:\s?\S*(?:sh|python[\d.]*))\b")
_CALL = re.compile(r"(?:import|from|def|class|for|while|if|with|async|return|@)\b|[\w.]+\(")
_DIFF = re.compile(r"[-+](?![-+\d])")
_WORD = re.compile(r"[^\W\d_]+")
_CODE = ("python", "javascript", "typescript", "go", "rust", "java", "c", "cpp", "sql", "bash")
#: Lines looked at: a listing of a million lines is what its first thousand are.
_LINES = 1_000
_WIDTH = 500


@cache
def _names() -> dict[str, str]:
    names = {}
    for section in ("names", "other"):
        for line in sections("languages")[section]:
            language, _, words = line.partition(":")
            names.update(dict.fromkeys(words.split(), language))
    return names


@cache
def _lines_of(language: str) -> re.Pattern[str]:
    lines = sections("languages")[language]
    flags = re.IGNORECASE if language in ("sql", "html") else 0
    return re.compile("|".join(f"(?:{line})" for line in lines), flags)


def named(label: str) -> str | None:
    """The language that the label of a fence names; None for a label that is not known."""
    return _names().get(label)


def guess(text: str, *, alone: bool = False) -> str | None:
    """The language of a text without a label, or None where it is no code.

    A text that stands `alone`, without a fence around it, has to look like code from its first line
    to its last.
    """
    lines = [line[:_WIDTH] for line in text.splitlines() if line.strip()][:_LINES]
    if not lines or any(_lines_of("not_code").search(line) for line in lines):
        return None
    if sum(1 for line in lines if _DIFF.match(line)) * 3 > len(lines):
        return None
    if shebang := _SHEBANG.match(text):
        return "python" if "python" in shebang.group() else "bash"
    if _JSON.match(text) and ('"' in text or text.strip()[-1] in "]}"):
        return "json" if not alone or text.strip()[-1] not in ".!?。" else None
    if not alone and _MEMBER.match(text):
        return "json"
    if _lines_of("html").match(lines[0]):
        return "html"
    best, most = None, 0
    for language in _CODE:
        count = sum(1 for line in lines if _lines_of(language).search(line))
        if count > most:
            best, most = language, count
    if best in ("javascript", "python") and _lines_of("toml").fullmatch(lines[0]):
        best = _settings(lines) or best
    if best == "python" and alone and most * 10 < len(lines) * 8:
        return None
    if best is None or most * 2 < len(lines):
        return None
    if alone and not _lines_of(best).search(lines[0]):
        return None
    if alone and best == "bash" and most < len(lines):
        return None
    return _sole(lines) if alone and best == "python" and len(lines) == 1 else best


def _settings(lines: list[str]) -> str | None:
    """Whether every line is a table or a member of TOML."""
    toml = _lines_of("toml")
    return "toml" if all(toml.fullmatch(line) for line in lines) else None


def _sole(lines: list[str]) -> str | None:
    """One line that only looks like code in part is prose."""
    return "python" if _CALL.match(lines[0]) and len(_WORD.findall(lines[0])) < 12 else None
