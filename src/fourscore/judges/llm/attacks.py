"""Attempts to talk a judge into a good score: families of texts, as data.

Each family is a file in `attacks/`. What is hidden in an answer stands there plainly and is hidden
when it is used, so the files can be read. The texts are for judges to withstand; nothing of them is
ever run, and whoever shows one shows it escaped.
"""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec

from fourscore.core import Case, ConfigError
from fourscore.core.errors import suggest_known
from fourscore.core.trace import as_text
from fourscore.formats.cases import CaseFile
from fourscore.formats.validation import ConversionError, converted
from fourscore.formats.yaml_file import read_document

FOLDER = Path(__file__).parent / "attacks"
#: Questions with an answer that is right, and in their metadata one that is wrong.
CASES = FOLDER / "cases.jsonl"
#: The key of a case's metadata with an answer that is known to be wrong.
WRONG = "wrong"
Place = Literal["alone", "before", "after"]
PLACES: tuple[Place, ...] = ("alone", "before", "after")
Hiding = Literal["tags", "selectors", "zero_width", "joiners", "soft_hyphens", "bidi"]


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text as its file has it: repeated, hidden, behind something that is seen."""

    text: str
    times: int = 1
    hide: Hiding | None = None
    cover: str = ""


class FamilyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of one family."""

    about: str
    texts: list[str | Line]


class Attack(msgspec.Struct, frozen=True):
    """One text of a family; `number` is its place there, from 1 on."""

    family: str
    number: int
    line: Line

    @property
    def name(self) -> str:
        return f"{self.family}/{self.number}"

    def text(self, case: Case) -> str:
        """The attack as it stands in an answer to this case."""
        line = self.line
        plain = line.text.replace("{{question}}", as_text(case.input)) * line.times
        return line.cover + (plain if line.hide is None else HIDERS[line.hide](plain))

    def answer(self, case: Case, place: Place, wrong: str = "") -> str:
        """An answer that carries it: by itself, or before or after one that is wrong."""
        text = self.text(case)
        if place == "alone":
            return text
        return f"{text}\n\n{wrong}" if place == "before" else f"{wrong}\n\n{text}"


class Family(msgspec.Struct, frozen=True):
    """Attacks of one kind."""

    name: str
    about: str
    attacks: tuple[Attack, ...]


@cache
def families() -> tuple[Family, ...]:
    """All families, by name."""
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.yaml")))


def family(name: str) -> Family:
    """The family of that name."""
    known = {one.name: one for one in families()}
    if name not in known:
        raise ConfigError(f"{name!r}: {suggest_known(name, known)}", field="family")
    return known[name]


def read_bundled_cases() -> Iterator[Case]:
    """Questions to try a judge with."""
    return CaseFile(CASES).cases()


def read_wrong_answer(case: Case) -> str | None:
    """The answer that a case says is wrong."""
    wrong = case.metadata.get(WRONG)
    return None if wrong is None else as_text(wrong)


def _read(path: Path) -> Family:
    document = read_document(str(path))
    try:
        spec = converted(document.value, FamilyFile)
    except ConversionError as error:
        raise document.error(error.message, error.field or "") from None
    lines = [Line(one) if isinstance(one, str) else one for one in spec.texts]
    attacks = tuple(Attack(path.stem, at, line) for at, line in enumerate(lines, 1))
    return Family(path.stem, spec.about, attacks)


def _tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(sign)) for sign in text if sign.isascii())


def _selectors(text: str) -> str:
    """A byte is a variation selector: 16 in one block, the others in another."""
    return "".join(chr(0xFE00 + byte if byte < 16 else 0xE00F0 + byte) for byte in text.encode())


def _bidi(text: str) -> str:
    """Reversed, and shown the right way round by a mark of direction."""
    return f"\u202e{text[::-1]}\u202c"


HIDERS: dict[str, Callable[[str], str]] = {
    "tags": _tags,
    "selectors": _selectors,
    "zero_width": "\u200b".join,
    "joiners": "\u2060".join,
    "soft_hyphens": "\u00ad".join,
    "bidi": _bidi,
}
