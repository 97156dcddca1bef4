"""Build the values of a YAML document within bounds, which are checked before anything is built.

A few hundred bytes can stand for gigabytes: aliases of aliases, merge keys of merge keys, long
texts repeated. Nodes and depth are counted while the parser gives its events; what aliases and
merge keys add, and all characters, before each value is made.
"""

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml.composer import Composer
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from fourscore.core.frozen import MAX_DEPTH, MAX_INT_BITS
from fourscore.formats.yaml_file import MAX_SIZE

#: Values in one document, with aliases and merge keys written out. More cases belong in JSONL.
MAX_VALUES = 100_000
#: Of a document: a value in a case may be as deep as `MAX_DEPTH` itself.
DEEPEST = MAX_DEPTH + 10
#: Characters of a number; Python itself refuses more digits.
LONGEST_NUMBER = 4_300

TAG = "tag:yaml.org,2002:"
NUMBERS = frozenset({"int", "float"})
PLAIN = NUMBERS | {"bool", "null"}
#: Kinds of scalars that stay text: a date, `<<` as a value, `=`.
TEXTS = frozenset({"str", "timestamp", "merge", "value"})

#: Lines of the keys of a mapping or the items of a list, each with what is below it.
Tree = dict[str, tuple[int, Any]] | list[tuple[int, Any]] | None
_ITEM = re.compile(r"\[(\d{1,9})\]")


class KeyLines(Mapping[str, int]):
    """The lines of keys by their path (`ajet.task_judge`, `cases[3]`), found when asked for.

    Paths are not kept: those of many values under a long key would fill the memory.
    """

    def __init__(self, tree: Tree = None) -> None:
        self._tree = tree

    def __getitem__(self, path: str) -> int:
        line = _find_line(self._tree, path)
        if line is None:
            raise KeyError(path)
        return line

    def __iter__(self) -> Iterator[str]:
        return _walk(self._tree, "")

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _find_line(tree: Tree, path: str) -> int | None:
    if isinstance(tree, list):
        found = _ITEM.match(path)
        if found is None or int(found[1]) >= len(tree):
            return None
        return _line_below(tree[int(found[1])], path[found.end() :])
    for end in range(len(path) + 1):
        if tree and (end == len(path) or path[end] in ".[") and (entry := tree.get(path[:end])):
            line = _line_below(entry, path[end:])
            if line is not None:
                return line
    return None


def _line_below(entry: tuple[int, Tree], rest: str) -> int | None:
    line, below = entry
    if not rest:
        return line
    is_key = rest[0] == "."
    if isinstance(below, dict) != is_key:
        return None
    return _find_line(below, rest[1:] if is_key else rest)


def _walk(tree: Tree, above: str) -> Iterator[str]:
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree or ())
    for step, (_, below) in entries:
        path = f"{above}[{step}]" if isinstance(tree, list) else f"{above}.{step}"
        path = path if above or isinstance(tree, list) else str(step)
        yield path
        yield from _walk(below, path)


class RefusedNode(Exception):  # noqa: N818 - becomes a ConfigError with the name of the file
    """What is wrong with a node, its line and its path."""

    def __init__(self, message: str, node: Any, place: "Place | None" = None) -> None:
        super().__init__(message)
        self.message, self.line = message, _line(node)
        self.path = "" if place is None else place.path


class Place(NamedTuple):
    """A step below another place; the path is made only for an error."""

    above: "Place | None"
    step: str | int

    @property
    def path(self) -> str:
        steps, place = [], self
        while place.above is not None:
            steps.append(f"[{place.step}]" if isinstance(place.step, int) else f".{place.step}")
            place = place.above
        return "".join(reversed(steps)).removeprefix(".")


ROOT = Place(None, "")


def build_document(text: str) -> tuple[Any, KeyLines]:
    """Return the value of the only document in a text, and the lines of its keys."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Composer = _BoundedComposer
    node = yaml.compose(io.StringIO(text))
    if node is None:
        return None, KeyLines()
    value, tree = _Builder(yaml.constructor).build(node, ROOT, 0)
    return value, KeyLines(tree)


class _BoundedComposer(Composer):
    """Stops at too many nodes or too much nesting before they are made."""

    def __init__(self, loader: Any = None) -> None:
        super().__init__(loader)
        self.warn_double_anchors = False
        self.nodes = self.level = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.nodes += 1
        self.level += 1
        if self.nodes > MAX_VALUES or self.level > DEEPEST:
            words = _too_many() if self.nodes > MAX_VALUES else _too_deep()
            raise MarkedYAMLError(problem=words, problem_mark=self.parser.peek_event().start_mark)
        node = super().compose_node(parent, index)
        self.level -= 1
        return node


class _Builder:
    """Builds plain values from nodes; nothing that it returns is shared."""

    def __init__(self, constructor: Any) -> None:
        self._constructor = constructor
        self._values = self._characters = 0
        self._entries: dict[int, dict[Any, tuple[Any, Any]]] = {}
        self._open: set[int] = set()

    def build(self, node: Any, place: Place, depth: int) -> tuple[Any, Tree]:
        """Return the value of a node and the lines of what is below it."""
        self._count(node, place)
        if isinstance(node, ScalarNode):
            return self._scalar(node, place), None
        if depth >= DEEPEST:
            raise RefusedNode(f"not YAML: {_too_deep()}", node, place)
        self._enter(node, place)
        _check_tag(node, "seq" if isinstance(node, SequenceNode) else "map", place)
        build = self._list if isinstance(node, SequenceNode) else self._mapping
        built = build(node, place, depth + 1)
        self._open.discard(id(node))
        return built

    def _list(self, node: Any, place: Place, depth: int) -> tuple[Any, Tree]:
        value, items = list[Any](), list[tuple[int, Tree]]()
        for position, child in enumerate(node.value):
            item, below = self.build(child, Place(place, position), depth)
            value.append(item)
            items.append((_line(child), below))
        return value, items

    def _mapping(self, node: Any, place: Place, depth: int) -> tuple[Any, Tree]:
        value, keys = dict[Any, Any](), dict[str, tuple[int, Tree]]()
        for name, (key, child) in self._pairs(node, place).items():
            here = Place(place, key.value)
            self._count(key, here)
            value[name], below = self.build(child, here, depth)
            keys[key.value] = (_line(key), below)
        return value, keys

    def _pairs(self, node: Any, place: Place) -> dict[Any, tuple[Any, Any]]:
        """Return the entries of a mapping by key, with those of its merge key before its own."""
        found = self._entries.get(id(node))
        if found is not None:
            return found
        merged, own = None, dict[Any, tuple[Any, Any]]()
        for key, child in node.value:
            if not isinstance(key, ScalarNode):
                raise RefusedNode("not YAML: expected a plain key", key, place)
            here, is_merge = Place(place, key.value), _kind(key) == "merge"
            name = None if is_merge else self._scalar(key, here)
            if merged is not None if is_merge else name in own:
                raise RefusedNode("not YAML: duplicate key", key, here)
            if is_merge:
                merged = self._merged(child, here)
            else:
                own[name] = key, child
        self._entries[id(node)] = found = {**(merged or {}), **own}
        return found

    def _merged(self, node: Any, place: Place) -> dict[Any, tuple[Any, Any]]:
        """Return the entries of the mappings that a merge key names; the first one wins."""
        entries = []
        for each in node.value if isinstance(node, SequenceNode) else [node]:
            if not isinstance(each, MappingNode):
                raise RefusedNode("not YAML: expected a mapping to merge", each, place)
            self._enter(each, place)
            entries.append(self._pairs(each, place))
            self._open.discard(id(each))
            self._count(each, place, len(entries[-1]))
        merged: dict[Any, tuple[Any, Any]] = {}
        for entry in reversed(entries):
            merged.update(entry)
        return merged

    def _scalar(self, node: Any, place: Place) -> Any:
        kind = _kind(node)
        if kind in TEXTS:
            return node.value
        if kind not in PLAIN:
            _check_tag(node, "str", place)
        if kind in NUMBERS and len(node.value) > LONGEST_NUMBER:
            words = f"a number of more than {LONGEST_NUMBER:,} characters"
            raise RefusedNode(f"not YAML: {words}", node, place)
        try:
            value = getattr(self._constructor, f"construct_yaml_{kind}")(node)
        except (ValueError, LookupError, ArithmeticError):
            words = f"not YAML: {node.value[:40]!r} is not of the type {kind}"
            raise RefusedNode(words, node, place) from None
        if isinstance(value, int) and value.bit_length() > MAX_INT_BITS:
            words = "an integer of more than 4,000 digits is refused"
            raise RefusedNode(f"not YAML: {words}", node, place)
        return value

    def _enter(self, node: Any, place: Place) -> None:
        if id(node) in self._open:
            raise RefusedNode("not YAML: an alias contains itself", node, place)
        self._open.add(id(node))

    def _count(self, node: Any, place: Place, n: int = 1) -> None:
        self._values += n
        self._characters += len(node.value) if isinstance(node, ScalarNode) else 0
        if self._values > MAX_VALUES or self._characters > MAX_SIZE:
            most = _too_many()
            if self._values <= MAX_VALUES:
                most = f"more than {MAX_SIZE:,} characters"
            words = f"not YAML: {most}, its aliases and merge keys written out"
            raise RefusedNode(words, node, place)


def _check_tag(node: Any, expected: str, place: Place) -> None:
    if _kind(node) != expected:
        raise RefusedNode(f"the tag {node.tag} is not allowed", node, place)


def _too_many() -> str:
    return f"more than {MAX_VALUES:,} values"


def _too_deep() -> str:
    return f"nested more than {DEEPEST} deep"


def _kind(node: Any) -> str:
    return str(node.tag).removeprefix(TAG)


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1
