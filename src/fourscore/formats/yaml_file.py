"""YAML files that people write: read with the line of every key, and one section replaced.

A YAML library would write the whole file again, with its own spaces and quotes. `write_section`
replaces only the lines of its section, and parses the result before writing: if anything but the
section would change, the file is not written.
"""

import io
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from fourscore.core import ConfigError
from fourscore.formats.atomic_file import open_atomic

#: Bytes of a file, and characters of all its texts with aliases written out.
MAX_SIZE = 16 * 1024 * 1024
#: What the library raises at broken input besides its own errors, for instance at `"\\UFFFFFFFF"`.
PARSER_ERRORS = (
    ValueError,
    RecursionError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    AssertionError,
)


class YamlDocument(NamedTuple):
    """A parsed file. `lines` maps the path of a key (`ajet.task_judge`) to its line."""

    file: str
    value: Any
    lines: Mapping[str, int]

    def error(self, message: str, field: str = "") -> ConfigError:
        """Return an error at a key or, where the key is missing, at the nearest one above it."""
        place = field
        while place and place not in self.lines:
            place = place.rpartition(".")[0]
        line = self.lines.get(place)
        return ConfigError(message, file=self.file, line=line, field=field or None)


def read_yaml_file(path: str) -> YamlDocument:
    """Read the one YAML document of a file as plain values: no tags, no duplicate keys."""
    try:
        with Path(path).open("rb") as stream:
            raw = stream.read(MAX_SIZE + 1)
        check_size(len(raw), path)
        text = raw.decode().removeprefix("\ufeff")
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path) from None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8", file=path) from None
    except ValueError as error:  # the path has a null byte
        raise ConfigError(str(error), file=path) from None
    return parse_yaml(text, path)


def parse_yaml(text: str, file: str) -> YamlDocument:
    """Parse YAML text; `file` is the name that errors give."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    from fourscore.formats.yaml_tree import RefusedNode, build_document

    check_size(len(text), file)
    try:
        return YamlDocument(file, *build_document(text))
    except RefusedNode as error:
        field = error.path or None
        raise ConfigError(error.message, file=file, line=error.line, field=field) from None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        problem = (error.problem or error.context or "").splitlines()[0]
        raise ConfigError(f"not YAML: {problem}", file=file, line=line) from None
    except (YAMLError, *PARSER_ERRORS) as error:
        problem = (str(error).splitlines() or [type(error).__name__])[0]
        raise ConfigError(f"not YAML: {problem}", file=file) from None


def check_size(size: int, file: str) -> None:
    if size > MAX_SIZE:
        message = f"longer than {MAX_SIZE >> 20} MiB, too long for YAML; keep many cases in JSONL"
        raise ConfigError(message, file=file)


def write_section(path: str, key: str, value: dict[str, Any], comment: str = "") -> None:
    """Set the top-level section `key` of the file."""
    try:
        text = Path(path).read_bytes().decode()
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path) from None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8", file=path) from None
    before = parse_yaml(text, path).value
    new, same = "", False
    if isinstance(before, dict):
        new = replace_section(text, key, value, comment)
        with suppress(ConfigError):
            same = parse_yaml(new, path).value == {**before, key: value}
    if not same:
        message = f"cannot write the section {key}: give each top-level key a line of its own"
        raise ConfigError(message, file=path)
    with open_atomic(path) as stream:
        stream.write(new.encode())


def replace_section(text: str, key: str, value: dict[str, Any], comment: str = "") -> str:
    """Return the text with the section replaced, or added at the end."""
    end = "\r\n" if "\r\n" in text else "\n"
    block = "".join(f"{line}{end}" for line in _lines(key, value, comment))
    lines = text.splitlines(keepends=True)
    found = _span(text, key)
    if found is None:
        gap = "" if not text or text.endswith("\n") else end
        return f"{text}{gap}{block}"
    first, last = found
    if comment and first and lines[first - 1].strip() == f"# {comment}":
        first -= 1  # the comment that this function wrote before
    if last == len(lines) and lines and not lines[-1].endswith("\n"):
        block = block.removesuffix(end)
    return "".join([*lines[:first], block, *lines[last:]])


def _lines(key: str, value: dict[str, Any], comment: str) -> list[str]:
    """Return the lines of a section: one key per line, with values in JSON, which is YAML too."""
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
    """Return the first line of a section and the line after its last; None where it is missing."""
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
