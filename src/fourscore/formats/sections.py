"""One section of a YAML file that people edit, put in or replaced; every other byte stays.

A YAML library would write the whole file anew, with its own idea of spaces and quotes. Here the
lines of the section are found, and only they are exchanged. What comes out is read again: where it
does not say the same as before beside the new section, nothing is written.
"""

import io
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import ConfigError
from fourscore.formats.document import parse_document
from fourscore.formats.writing import written


def put_section(path: str, key: str, value: dict[str, Any], comment: str = "") -> None:
    """Set the top-level section `key` of the file."""
    try:
        text = Path(path).read_bytes().decode()
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path) from None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8", file=path) from None
    before = parse_document(text, path).value
    new, same = "", False
    if isinstance(before, dict):
        new = with_section(text, key, value, comment)
        with suppress(ConfigError):
            same = parse_document(new, path).value == {**before, key: value}
    if not same:
        message = f"a section {key} cannot be put into it: write its top level as one key a line"
        raise ConfigError(message, file=path)
    with written(path) as stream:
        stream.write(new.encode())


def with_section(text: str, key: str, value: dict[str, Any], comment: str = "") -> str:
    """The text with the section in it, where it was or at the end."""
    end = "\r\n" if "\r\n" in text else "\n"
    block = "".join(f"{line}{end}" for line in _lines(key, value, comment))
    lines = text.splitlines(keepends=True)
    found = _span(text, key)
    if found is None:
        gap = "" if not text or text.endswith("\n") else end
        return f"{text}{gap}{block}"
    first, last = found
    if comment and first and lines[first - 1].strip() == f"# {comment}":
        first -= 1  # our own, from the last time
    if last == len(lines) and lines and not lines[-1].endswith("\n"):
        block = block.removesuffix(end)
    return "".join([*lines[:first], block, *lines[last:]])


def _lines(key: str, value: dict[str, Any], comment: str) -> list[str]:
    """A key a line, with values in JSON, which is YAML too."""
    head = [f"# {comment}"] if comment else []
    return [
        *head,
        f"{key}:",
        *(f"  {name}: {_shown(item)}" for name, item in value.items()),
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_shown(item)}" for name, item in value.items()) + "}"
    return msgspec.json.encode(value).decode()


def _span(text: str, key: str) -> tuple[int, int] | None:
    """The lines of the section: from its key to the last line that has something of it."""
    from ruamel.yaml import YAML

    node = YAML(typ="safe", pure=True).compose(io.StringIO(text))
    for name, content in getattr(node, "value", None) or ():
        if name.value == key:
            first, last = name.start_mark.line, content.end_mark.line
            lines = text.splitlines()
            if content.end_mark.column or last == first:
                last += 1
            while last > first + 1 and not lines[last - 1].split("#")[0].strip():
                last -= 1  # blank lines and comments below it belong to what follows
            return first, last
    return None
