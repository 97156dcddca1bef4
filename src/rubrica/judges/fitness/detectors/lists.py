"""The word lists in the folder beside this module.

A list is plain text in sections: `[name]` opens one, a line that begins with `# ` is a remark, and
every other line is a regular expression or a row of names. Lists that `pattern.py` compiles have no
look-around, so that both engines can read them.
"""

from functools import cache
from pathlib import Path

_ROOM = Path(__file__).parent / "lexicon"


@cache
def sections(name: str) -> dict[str, tuple[str, ...]]:
    """The lines of each section of `lexicon/<name>.txt`, in order."""
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in (_ROOM / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        line = line.strip()
        if line.startswith("[") and line.endswith("]") and line[1:-1].isidentifier():
            lines = found.setdefault(line[1:-1], [])
        elif line and not line.startswith("# ") and line != "#":
            lines.append(line)
    return {section: tuple(lines) for section, lines in found.items()}
