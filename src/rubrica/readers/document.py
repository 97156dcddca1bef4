"""YAML that people write, with the line of every key, so that an error can point at it."""

import datetime
import io
from pathlib import Path
from typing import Any, NamedTuple

from rubrica.core import ConfigError


class Document(NamedTuple):
    """A parsed file. `lines` maps the path of a key (`ajet.task_judge`) to its line."""

    file: str
    value: Any
    lines: dict[str, int]

    def error(self, message: str, field: str = "") -> ConfigError:
        """An error at a key, or, where the key is missing, at the nearest one above it."""
        place = field
        while place and place not in self.lines:
            place = place.rpartition(".")[0]
        line = self.lines.get(place)
        return ConfigError(message, file=self.file, line=line, field=field or None)


def read_document(path: str) -> Document:
    """The one YAML document of a file, in plain values: no tags, no key twice."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path) from None
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8", file=path) from None
    return parse_document(text, path)


def parse_document(text: str, file: str) -> Document:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        yaml = YAML(typ="safe", pure=True)
        node = yaml.compose(io.StringIO(text))
        value = None if node is None else yaml.constructor.construct_document(node)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        problem = (error.problem or error.context or "").splitlines()[0]
        raise ConfigError(f"not YAML: {problem}", file=file, line=line) from None
    except (YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"not YAML: {str(error).splitlines()[0]}", file=file) from None
    lines: dict[str, int] = {}
    _note_lines(node, "", lines, set())
    return Document(file, _plain(value), lines)


def _note_lines(node: Any, path: str, lines: dict[str, int], seen: set[int]) -> None:
    if id(node) in seen or not isinstance(getattr(node, "value", None), list):
        return  # an alias, which an attacker nests, is walked once
    seen.add(id(node))
    for position, item in enumerate(node.value):
        pair = isinstance(item, tuple)
        key, child = item if pair else (item, item)
        place = f"{path}.{key.value}".lstrip(".") if pair else f"{path}[{position}]"
        lines[place] = key.start_mark.line + 1
        _note_lines(child, place, lines, seen)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, datetime.date):  # what looks like a date stays the text that it was
        return value.isoformat()
    return value
