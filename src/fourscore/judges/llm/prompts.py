"""Read prompt files, fill in their placeholders and compute their versions.

A prompt is a markdown file with two headings, `# system` and `# user`, and placeholders such as
`{{answer}}`. English and Chinese ship with the package; files in a custom folder replace them
one by one. Text that several prompts share is in `parts/` and is included by a line
`{{> material}}`. A prompt's version is a digest of its whole text and is part of every score.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from fourscore.core import ConfigError, digest

Language = Literal["en", "zh"]
SHIPPED = Path(__file__).parent / "prompts"
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_HEADING = re.compile(r"^# (system|user)\s*$", re.MULTILINE)
_INCLUDE = re.compile(r"^\{\{>\s*(\w+)\s*\}\}[ \t]*$", re.MULTILINE)
#: Titles of the fenced texts, as the prompts call them.
TITLES = {
    "en": {
        "question": "QUESTION",
        "answer": "ANSWER",
        "reference": "REFERENCE",
        "text": "TEXT",
        "expected": "EXPECTED",
        "correct": "CORRECT ANSWER",
        "given": "GIVEN ANSWER",
        "claim": "CLAIM",
        "aspect": "ASPECT",
        "source": "SOURCE",
        "context": "CONTEXT",
        "statement": "STATEMENT",
        "call": "CALL",
    },
    "zh": {
        "question": "问题",
        "answer": "回答",
        "reference": "参考答案",
        "text": "文本",
        "expected": "预期结果",
        "correct": "正确答案",
        "given": "给出的回答",
        "claim": "主张",
        "aspect": "方面",
        "source": "来源",
        "context": "上下文",
        "statement": "语句",
        "call": "调用",
    },
}
#: Added to the prompt after a reply that could not be used.
REMINDERS = {
    "en": "An earlier reply could not be used. Keep to the form; `number` has to be {number}.",
    "zh": "之前的回复无法使用。请严格遵守格式；number 必须是 {number}。",
}
#: The same for one-word replies.
WORD_REMINDERS = {
    "en": "An earlier reply could not be used. Reply with one word and nothing else: {words}.",
    "zh": "之前的回复无法使用。请只回复一个词：{words}。",
}


class Prompt(msgspec.Struct, frozen=True, kw_only=True):
    """A prompt as read from its file, with the shared parts included."""

    name: str
    language: str
    system: str
    user: str
    version: str
    file: str

    @property
    def placeholders(self) -> frozenset[str]:
        """The names of all placeholders."""
        return frozenset(_PLACEHOLDER.findall(self.system) + _PLACEHOLDER.findall(self.user))

    def fill(self, texts: Mapping[str, str]) -> tuple[str, str]:
        """Return system and user text with all placeholders replaced, in one pass.

        A placeholder inside one of the texts is not replaced.
        """

        def get_text(found: re.Match[str]) -> str:
            if found[1] not in texts:
                known = ", ".join(sorted(texts))
                message = f"unknown placeholder {found[0]}; this prompt can use: {known}"
                raise ConfigError(message, file=self.file)
            return texts[found[1]]

        system, user = (_PLACEHOLDER.sub(get_text, text) for text in (self.system, self.user))
        return system.strip(), user.strip()


@lru_cache(maxsize=256)
def read_prompt(name: str, language: Language, folder: str | None = None) -> Prompt:
    """Return the prompt of that name: from `folder` if it is there, else the shipped one."""
    own = None if folder is None else Path(folder).expanduser()
    if own is not None and not own.is_dir():
        raise ConfigError("no such folder", file=str(own), field="prompt_folder")
    found = _read(_find_file(f"{name}.md", language, own), name, language, own)
    shipped = SHIPPED / language / f"{name}.md"
    if own is not None and shipped.is_file():
        known = _read(shipped, name, language, None).placeholders
        if odd := sorted(found.placeholders - known):  # before the first case runs
            names = ", ".join(sorted(known))
            message = f"unknown placeholder {{{{{odd[0]}}}}}; this prompt can use: {names}"
            raise ConfigError(message, file=found.file)
    return found


def _find_file(file: str, language: Language, own: Path | None) -> Path:
    tried = [] if own is None else [own / language / file, own / file]
    return next((path for path in tried if path.is_file()), SHIPPED / language / file)


@lru_cache(maxsize=256)
def _read(path: Path, name: str, language: Language, own: Path | None) -> Prompt:
    def include(line: re.Match[str]) -> str:
        return _read_text(_find_file(f"parts/{line[1]}.md", language, own)).strip()

    text = _INCLUDE.sub(include, _read_text(path))
    pieces = _HEADING.split(text)
    parts = dict(zip(pieces[1::2], pieces[2::2], strict=True))
    if sorted(pieces[1::2]) != ["system", "user"]:
        raise ConfigError("expected the headings # system and # user, once each", file=str(path))
    version = digest(text)[:12]
    return Prompt(
        name=name,
        language=language,
        system=parts["system"].strip(),
        user=parts["user"].strip(),
        version=version,
        file=str(path),
    )


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=str(path)) from None
