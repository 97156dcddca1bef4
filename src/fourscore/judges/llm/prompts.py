"""The words that a model is asked with: files that people can read, change and compare.

A prompt is a markdown file with two headings, `# system` and `# user`, and places for what is
filled in: `{{answer}}`. Two languages ship with the package; a folder of one's own goes first, file
by file. What several prompts say alike stands once, in `parts/`: `{{> material}}` on a line of its
own. A prompt's version is a digest of its whole text, so a score can say which words gave it.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from fourscore.core import ConfigError, digest

Language = Literal["en", "zh"]
SHIPPED = Path(__file__).parent / "prompts"
_PLACE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_PART = re.compile(r"^# (system|user)\s*$", re.MULTILINE)
_SHARED = re.compile(r"^\{\{>\s*(\w+)\s*\}\}[ \t]*$", re.MULTILINE)


class Prompt(NamedTuple):
    """A prompt as it stands in its file."""

    name: str
    language: str
    system: str
    user: str
    version: str
    file: str

    @property
    def places(self) -> frozenset[str]:
        return frozenset(_PLACE.findall(self.system) + _PLACE.findall(self.user))

    def filled(self, texts: Mapping[str, str]) -> tuple[str, str]:
        """Both parts with everything in its place. One pass: what is filled in has no places."""

        def text(place: re.Match[str]) -> str:
            if place[1] not in texts:
                known = ", ".join(sorted(texts))
                message = f"{place[0]} is not filled in here; known: {known}"
                raise ConfigError(message, file=self.file)
            return texts[place[1]]

        return _PLACE.sub(text, self.system).strip(), _PLACE.sub(text, self.user).strip()


@lru_cache(maxsize=256)
def read_prompt(name: str, language: Language, folder: str | None = None) -> Prompt:
    """The prompt of that name: from the folder where it has one, else as it ships."""
    own = None if folder is None else Path(folder).expanduser()
    if own is not None and not own.is_dir():
        raise ConfigError("no such folder", file=str(own), field="prompt_folder")
    found = _read(_path(f"{name}.md", language, own), name, language, own)
    shipped = SHIPPED / language / f"{name}.md"
    if own is not None and shipped.is_file():
        known = _read(shipped, name, language, None).places
        if odd := sorted(found.places - known):  # before the first case runs
            message = f"{{{{{odd[0]}}}}} is not filled in here; known: {', '.join(sorted(known))}"
            raise ConfigError(message, file=found.file)
    return found


def _path(file: str, language: Language, own: Path | None) -> Path:
    tried = [] if own is None else [own / language / file, own / file]
    return next((path for path in tried if path.is_file()), SHIPPED / language / file)


@lru_cache(maxsize=256)
def _read(path: Path, name: str, language: Language, own: Path | None) -> Prompt:
    def shared(line: re.Match[str]) -> str:
        return _text(_path(f"parts/{line[1]}.md", language, own)).strip()

    text = _SHARED.sub(shared, _text(path))
    pieces = _PART.split(text)
    parts = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    if sorted(pieces[1::2]) != ["system", "user"]:
        raise ConfigError("expected the headings # system and # user, once each", file=str(path))
    version = digest(text)[:12]
    return Prompt(
        name, language, parts["system"].strip(), parts["user"].strip(), version, str(path)
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=str(path)) from None
