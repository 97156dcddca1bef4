"""Fences around what others wrote, so that a model can tell material from instructions.

The number of a fence is drawn from the material with a secret of this machine: whoever wrote the
material cannot know it, the same material has the same fence (so a cache can answer), and a number
that happens to stand in the material is drawn again. In a brief question each text is one line
behind its title instead: it cannot begin another.
"""

import hashlib
import os
import secrets
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from fourscore.judges.hidden_text import remove_invisible
from fourscore.models.model_spec import usual_cache

#: What is left of a text that is cut: the beginning, and the end, where conclusions stand.
HEAD = 0.75
#: Bytes hashed at a time. For more the interpreter would let other threads go first.
PIECE = 2000
#: What stands for a line break in a text that is one line.
BREAK = " ⏎ "


class Material(NamedTuple):
    """What others wrote, fenced, and what was taken out of it. `about` is the claim, aspect or
    statement in question, without its fence."""

    number: str
    texts: Mapping[str, str]
    removed: int = 0
    left_out: int = 0
    about: str = ""


def fence(
    texts: Mapping[str, str],
    limit: int,
    titles: Mapping[str, str],
    without: Collection[str] = (),
    *,
    lines: bool = False,
) -> Material:
    """Each text in a fence of its own, all with one number; a long one cut to `limit`, visibly.

    `without` are defences to leave out, for measuring. With `lines` each text is one line behind
    its title instead.
    """
    seen = str if "invisible" in without else remove_invisible
    clean = {name: seen(text) for name, text in texts.items()}
    removed = sum(len(text) - len(clean[name]) for name, text in texts.items())
    number = draw(clean)
    limit = sys.maxsize if "cut" in without else limit
    activate = _headed if "fence" in without else _lined if lines else _fenced
    left_out = sum(max(0, len(text) - limit) for text in clean.values())
    fenced = {
        name: activate(titles.get(name, name), _cut(text, limit, number), number)
        for name, text in clean.items()
    }
    return Material(number, fenced, removed, left_out)


def draw(texts: Mapping[str, str]) -> str:
    """A number that stands in none of the texts."""
    body = "\0".join(f"{name}\0{text}" for name, text in texts.items())
    low, data = body.lower(), body.encode("utf-8", "surrogatepass")
    again = 0
    while True:
        hashed = hashlib.blake2b(b"%d" % again, key=_secret(), digest_size=6)
        for at in range(0, len(data), PIECE):
            hashed.update(data[at : at + PIECE])
        number = hashed.hexdigest()
        if number not in low:
            return number
        again += 1


def _fenced(title: str, text: str, number: str) -> str:
    return f"[{number} {title}]\n{text}\n[{number} /{title}]" if text else ""


def _lined(title: str, text: str, _: str) -> str:
    """The text as one line: whatever it holds, it cannot begin a line, which only we do."""
    return f"{title.capitalize()}: {BREAK.join(text.splitlines())}" if text else ""


def _headed(title: str, text: str, _: str) -> str:
    """Without a fence: a heading, as most prompts have it."""
    return f"{title}:\n{text}" if text else ""


def _cut(text: str, limit: int, number: str) -> str:
    if len(text) <= limit:
        return text
    head = int(limit * HEAD)
    mark = f"\n[{number}: {len(text) - limit} characters are left out here]\n"
    return f"{text[:head]}{mark}{text[len(text) - (limit - head) :]}"


@cache
def _secret() -> bytes:
    """`FOURSCORE_SECRET`, else 32 bytes beside the cache; where nothing can be kept, new each time.

    It protects nothing but the numbers: whoever can read it could write the verdicts as well.
    """
    if named := os.environ.get("FOURSCORE_SECRET"):
        return hashlib.blake2b(named.encode(), digest_size=32).digest()
    path = usual_cache().with_name("fence.secret")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_once(path)
        kept = path.read_bytes()
    except OSError:
        return secrets.token_bytes(32)
    return kept if len(kept) == 32 else secrets.token_bytes(32)


def _write_once(path: Path) -> None:
    """Whole or not at all, and by one process only: `link` refuses where the file is there."""
    if path.exists():
        return
    mine = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    opened = os.open(mine, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(secrets.token_bytes(32))
        with suppress(FileExistsError):
            os.link(mine, path)
    finally:
        mine.unlink()
