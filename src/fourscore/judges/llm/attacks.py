"""Attacks on judges: texts that try to get a good score for a bad answer, grouped in families.

Each family is a file in `attacks/`. Text that an attack hides is readable there and is hidden when
it is used. The texts are only shown to judges, never executed; reports show them escaped.
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
from fourscore.formats.validation import ConversionError, convert_value
from fourscore.formats.yaml_file import read_yaml_file

FOLDER = Path(__file__).parent / "attacks"
#: Questions with the right answer, and in their metadata a wrong one.
CASES = FOLDER / "cases.jsonl"
#: The metadata key of a case's wrong answer.
WRONG = "wrong"
Place = Literal["alone", "before", "after"]
PLACES: tuple[Place, ...] = ("alone", "before", "after")
Hiding = Literal["tags", "selectors", "zero_width", "joiners", "soft_hyphens", "bidi"]


class AttackText(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An attack text as its file describes it.

    `times`: how often it is repeated. `hide`: how it is made invisible. `cover`: visible text in
    front of it.
    """

    text: str
    times: int = 1
    hide: Hiding | None = None
    cover: str = ""


class FamilyFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a family's file."""

    about: str
    texts: list[str | AttackText]


class Attack(msgspec.Struct, frozen=True):
    """One attack text; `number` is its position in the family, from 1."""

    family: str
    number: int
    source: AttackText

    @property
    def name(self) -> str:
        return f"{self.family}/{self.number}"

    def text(self, case: Case) -> str:
        """Return the attack text for an answer to this case: repeated, hidden, with its cover."""
        source = self.source
        plain = source.text.replace("{{question}}", as_text(case.input)) * source.times
        return source.cover + (plain if source.hide is None else HIDERS[source.hide](plain))

    def answer(self, case: Case, place: Place, wrong: str = "") -> str:
        """Return an answer with the attack: alone, or before or after a wrong answer."""
        text = self.text(case)
        if place == "alone":
            return text
        return f"{text}\n\n{wrong}" if place == "before" else f"{wrong}\n\n{text}"


class AttackFamily(msgspec.Struct, frozen=True):
    """All attacks of one kind; `about` describes it."""

    name: str
    about: str
    attacks: tuple[Attack, ...]


@cache
def read_families() -> tuple[AttackFamily, ...]:
    """Read all families, sorted by name."""
    return tuple(_read(path) for path in sorted(FOLDER.glob("*.yaml")))


def read_family(name: str) -> AttackFamily:
    """Return the family of that name; an unknown name is a `ConfigError`."""
    known = {one.name: one for one in read_families()}
    if name not in known:
        raise ConfigError(f"{name!r}: {suggest_known(name, known)}", field="family")
    return known[name]


def read_bundled_cases() -> Iterator[Case]:
    """Yield the cases that ship with the package, to try attacks on a judge."""
    return CaseFile(CASES).cases()


def read_wrong_answer(case: Case) -> str | None:
    """Return the wrong answer in a case's metadata; None if there is none."""
    wrong = case.metadata.get(WRONG)
    return None if wrong is None else as_text(wrong)


def _read(path: Path) -> AttackFamily:
    document = read_yaml_file(str(path))
    try:
        spec = convert_value(document.value, FamilyFile)
    except ConversionError as error:
        raise document.error(error.message, error.field or "") from None
    texts = [AttackText(text=one) if isinstance(one, str) else one for one in spec.texts]
    attacks = tuple(Attack(path.stem, at, text) for at, text in enumerate(texts, 1))
    return AttackFamily(path.stem, spec.about, attacks)


def _hide_as_tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(sign)) for sign in text if sign.isascii())


def _hide_as_selectors(text: str) -> str:
    """Write each byte as a variation selector: 16 are in one block, the others in another."""
    return "".join(chr(0xFE00 + byte if byte < 16 else 0xE00F0 + byte) for byte in text.encode())


def _hide_as_bidi(text: str) -> str:
    """Reverse the text between bidirectional control characters, which display it unreversed."""
    return f"\u202e{text[::-1]}\u202c"


HIDERS: dict[str, Callable[[str], str]] = {
    "tags": _hide_as_tags,
    "selectors": _hide_as_selectors,
    "zero_width": "\u200b".join,
    "joiners": "\u2060".join,
    "soft_hyphens": "\u00ad".join,
    "bidi": _hide_as_bidi,
}
