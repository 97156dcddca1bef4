"""YAML files that people write: read with the line of every key, and one section replaced.

A YAML library would write the whole file again, with its own spaces and quotes. `write_section`
replaces only the lines of its section, and parses the result before writing: if anything but the
section would change, the file is not written.
"""

import io
import itertools
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from fourscore.core import ConfigError
from fourscore.formats.atomic_file import open_atomic

#: Values in one document. Cases for more than this belong in JSONL.
MAX_VALUES = 1_000_000
KINDS = frozenset({"map", "seq", "str", "int", "float", "bool", "null", "merge"})


class YamlDocument(NamedTuple):
    """A parsed file. `lines` maps the path of a key (`ajet.task_judge`) to its line."""

    file: str
    value: Any
    lines: dict[str, int]

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
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path) from None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8", file=path) from None
    return parse_yaml(text, path)


def parse_yaml(text: str, file: str) -> YamlDocument:
    """Parse YAML text; `file` is the name that errors give."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    lines: dict[str, int] = {}
    try:
        yaml = YAML(typ="safe", pure=True)
        node = yaml.compose(io.StringIO(text))
        _note(node, "", lines, set(), file)
        value = None if node is None else yaml.constructor.construct_document(node)
        value = _plain(value, itertools.count())
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        problem = (error.problem or error.context or "").splitlines()[0]
        raise ConfigError(f"not YAML: {problem}", file=file, line=line) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"not YAML: {str(error).splitlines()[0]}", file=file) from None
    return YamlDocument(file, value, lines)


def _note(node: Any, path: str, lines: dict[str, int], seen: set[int], file: str) -> None:
    """Note the line of every key; timestamps stay text, and tags are refused."""
    if node is None or id(node) in seen:
        return  # visit an alias once: nested aliases (an attack) would take for ever
    seen.add(id(node))
    tag = str(node.tag).removeprefix("tag:yaml.org,2002:")
    if tag == "timestamp":
        node.tag = "tag:yaml.org,2002:str"
    elif tag not in KINDS:
        line = node.start_mark.line + 1
        raise ConfigError(f"the tag {node.tag} is not allowed", file=file, line=line, field=path)
    if not isinstance(node.value, list):
        return
    for position, item in enumerate(node.value):
        pair = isinstance(item, tuple)
        key, child = item if pair else (item, item)
        place = f"{path}.{key.value}".lstrip(".") if pair else f"{path}[{position}]"
        lines[place] = key.start_mark.line + 1
        if pair:
            _note(key, place, lines, seen, file)
        _note(child, place, lines, seen, file)


def _plain(value: Any, count: "itertools.count[int]") -> Any:
    """Return a copy without shared parts; nested aliases can expand beyond all memory."""
    if next(count) > MAX_VALUES:
        raise ValueError(f"more than {MAX_VALUES} values, its aliases written out")
    if isinstance(value, dict):
        return {key: _plain(item, count) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item, count) for item in value]
    return value


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
