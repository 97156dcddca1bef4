"""Defences against prompt injection: fences that keep untrusted text apart from instructions.

A fence is a pair of marks with a check number around a text. The number is a keyed hash of the
texts with a secret of this machine: the author of a text cannot know it, the same texts have the
same number (so a cache can answer), and a number that occurs in the texts is drawn again. In the
brief form each text is instead one line that starts with a title, so it cannot start a new line.
"""

import hashlib
import os
import secrets
import sys
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Literal, get_args

import msgspec

from fourscore.judges.chat_tokens import break_chat_tokens
from fourscore.judges.hidden_text import remove_invisible
from fourscore.models.model_spec import get_default_cache

#: Each can be switched off by the option `without`, to measure its effect.
#: `fence`: marks around untrusted text, or one line for it.
#: `invisible`: remove invisible characters.
#: `tokens`: break the special tokens of chat templates, such as `<|im_start|>`.
#: `openers`: do not ask about an answer without content.
#: `number`: the reply must repeat the check number.
#: `cut`: shorten long texts.
#: `evidence`: quoted words must be in the text.
Defence = Literal["fence", "invisible", "tokens", "openers", "number", "cut", "evidence"]
DEFENCES: tuple[Defence, ...] = get_args(Defence)

#: Share of a shortened text that is its beginning; the rest is its end, where conclusions stand.
HEAD = 0.75
#: Characters at each end of a text that are read at all, in multiples of the limit: more than are
#: shown, as invisible characters are removed before a text is shortened.
KEPT = 4
#: Bytes hashed at a time: for larger pieces the interpreter would release its lock.
PIECE = 2000
#: Replaces a line break in a text that is shown as one line.
BREAK = " ⏎ "


class FencedTexts(msgspec.Struct, frozen=True, kw_only=True):
    """Untrusted texts in fences, with their check number.

    `removed`: number of invisible characters removed. `left_out`: characters cut from long texts.
    `subject`: the claim, aspect or statement that the question is about, unfenced.
    """

    number: str
    texts: Mapping[str, str]
    removed: int = 0
    left_out: int = 0
    subject: str = ""


def fence_texts(
    texts: Mapping[str, str],
    limit: int,
    titles: Mapping[str, str],
    without: Collection[str] = (),
    *,
    lines: bool = False,
    own: Collection[str] = (),
) -> FencedTexts:
    """Return each text in its own fence, all with one check number; long ones are cut to `limit`.

    `without` names defences to switch off. With `lines` each text is one line after its title. The
    texts named in `own` are the user's: they keep their chat tokens.
    """
    seen = str if "invisible" in without else remove_invisible
    limit = sys.maxsize if "cut" in without else limit
    middle = {name: max(0, len(text) - 2 * KEPT * limit) for name, text in texts.items()}
    ends = {name: _cut_middle(text, middle[name]) for name, text in texts.items()}
    clean = {name: seen(text) for name, text in ends.items()}
    removed = sum(len(text) - len(clean[name]) for name, text in ends.items())
    if "tokens" not in without:
        # After `seen` and the cut, which may join the parts of a token.
        clean |= {n: break_chat_tokens(text) for n, text in clean.items() if n not in own}
    number = draw_number(clean)
    enclose = _add_heading if "fence" in without else _make_line if lines else _add_fence
    left_out = sum(max(0, len(text) - limit) + middle[name] for name, text in clean.items())
    fenced = {
        name: enclose(titles.get(name, name), _shorten(text, limit, number, middle[name]), number)
        for name, text in clean.items()
    }
    return FencedTexts(number=number, texts=fenced, removed=removed, left_out=left_out)


def draw_number(texts: Mapping[str, str]) -> str:
    """Return a check number that occurs in none of the texts."""
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


def _add_fence(title: str, text: str, number: str) -> str:
    return f"[{number} {title}]\n{text}\n[{number} /{title}]" if text else ""


def _make_line(title: str, text: str, _: str) -> str:
    """Return title and text as one line, so that nothing in the text can start a line."""
    return f"{title.capitalize()}: {BREAK.join(text.splitlines())}" if text else ""


def _add_heading(title: str, text: str, _: str) -> str:
    """Return the text under a heading, unfenced, as in most prompts elsewhere."""
    return f"{title}:\n{text}" if text else ""


def _cut_middle(text: str, count: int) -> str:
    """Return the text without as many characters from its middle, so that no text is slow."""
    half = (len(text) - count) // 2
    return text[:half] + text[half + count :] if count else text


def _shorten(text: str, limit: int, number: str, middle: int = 0) -> str:
    """Return the text cut to `limit` characters; `middle` were cut from it before."""
    if len(text) + middle <= limit:
        return text
    shown = min(limit, len(text))
    head = int(shown * HEAD)
    mark = f"\n[{number}: {len(text) - shown + middle} characters are left out here]\n"
    return f"{text[:head]}{mark}{text[len(text) - (shown - head) :]}"


@cache
def _secret() -> bytes:
    """Return the key of the check numbers: `FOURSCORE_SECRET`, else 32 bytes from `fence.secret`.

    If that file, beside the cache, cannot be written, the key is new in each process. Whoever can
    read the file could also change the cached verdicts.
    """
    if named := os.environ.get("FOURSCORE_SECRET"):
        return hashlib.blake2b(named.encode(), digest_size=32).digest()
    path = get_default_cache().with_name("fence.secret")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_once(path)
        kept = path.read_bytes()
    except OSError:
        return secrets.token_bytes(32)
    return kept if len(kept) == 32 else secrets.token_bytes(32)


def _write_once(path: Path) -> None:
    """Write a new secret unless the file exists; `link` makes the complete file appear at once."""
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
