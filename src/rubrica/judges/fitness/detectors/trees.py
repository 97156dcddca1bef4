"""Syntax trees of the languages that tree-sitter reads: an optional extra, loaded when needed.

A grammar recovers from errors and marks them, so an error is a node. What the grammars let pass and
the compilers do not is looked at by hand.
"""

import importlib
import re
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from rubrica.judges.fitness.detectors.lists import sections

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_FACTORY = {"typescript": "language_typescript", "tsx": "language_tsx"}
_PACKAGE = {"tsx": "typescript"}
#: One parse may take so long; recovery from errors can be made to take minutes and gigabytes.
_MICROSECONDS = 250_000
_DEEPEST = 100
#: Marks that are no part of any of these languages outside of strings and comments.
_WIDE = re.compile("[，。；：（）“”‘’！？【】《》、]")
_QUOTED = (
    "string",
    "comment",
    "char",
    "template",
    "text",
    "regex",
    "heredoc",
    "literal",
    "raw",
    "jsx",
)
#: Elements of HTML that may be left open.
_OPEN = frozenset(
    sections("languages")["left_open"][0].split()  # those that may, and those that have no end
)
_CALLABLE = ("function_declaration", "function_expression", "arrow_function", "method_definition",
             "function", "generator_function", "generator_function_declaration")  # fmt: skip


class TooLong(Exception):  # noqa: N818 - it is no error of anybody's
    """The parser was stopped at its deadline."""


@cache
def parser(language: str) -> "Parser | None":
    """The parser of a language; None where the extra is not installed."""
    package = "tree_sitter_" + _PACKAGE.get(language, language)
    try:
        core = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(package)
    except ImportError:
        return None
    factory = getattr(grammar, _FACTORY.get(language, "language"))
    with warnings.catch_warnings():
        # The callback that shall replace the limit crashes the interpreter (0.25 and 0.26).
        warnings.simplefilter("ignore")
        made: Parser = core.Parser(core.Language(factory()), timeout_micros=_MICROSECONDS)
    return made


def broken(language: str, code: str, deadline: float) -> bool:
    """Whether the text has an error in it; `deadline` is a time of `time.monotonic`."""
    reader = parser(language)
    assert reader is not None
    if time.monotonic() > deadline or too_deep(code):
        raise TooLong(language)
    try:
        tree = reader.parse(code.encode("utf-8", "replace"))
    except ValueError as reason:  # what the binding makes of a parser that was stopped
        reader.reset()
        raise TooLong(language) from reason
    root = tree.root_node
    if root.has_error and language != "html":
        return True
    return any(_wrong(language, node) for node in _nodes(root))


def too_deep(code: str) -> bool:
    """Brackets open within brackets beyond what people write; type arguments take cubic time."""
    if sum(map(code.count, "([{<")) < _DEEPEST:
        return False
    depth = angles = 0
    for sign in code:
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif sign == "<":
            angles += 1
        if sign in ";{}>":
            angles = 0
        if depth > _DEEPEST or angles > _DEEPEST:
            return True
    return False


def _nodes(root: "Node") -> "Iterator[Node]":
    cursor = root.walk()
    while True:
        if cursor.node is not None:
            yield cursor.node
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while cursor.goto_parent():
            if cursor.goto_next_sibling():
                break
        else:
            return


def _wrong(language: str, node: "Node") -> bool:
    kind = node.type
    if node.is_error or (node.is_missing and kind != "_implicit_end_tag"):
        return True
    if node.child_count == 0 and language not in ("bash", "html"):
        text = (node.text or b"").decode("utf-8", "replace")
        if not text.isascii() and _WIDE.search(text) and not _in_text(node):
            return True
    check = _CHECKS.get((language, kind))
    return check is not None and check(node)


def _in_text(node: "Node | None") -> bool:
    for _ in range(3):
        if node is None:
            return False
        if any(word in node.type for word in _QUOTED):
            return True
        node = node.parent
    return False


def _bodiless(node: "Node") -> bool:
    """Go ends a statement at the line's end: a brace on the next line belongs to nothing."""
    following = node.next_named_sibling
    return (
        node.child_by_field_name("body") is None
        and following is not None
        and following.type == "block"
    )


def _characters(node: "Node") -> bool:
    """A character in Java is one character: 'admin' is no string."""
    text = (node.text or b"").decode("utf-8", "replace")[1:-1]
    return len(text) > 1 and not text.startswith("\\")


def _unset(node: "Node") -> bool:
    """A `const` without a value, outside of `for (const x of xs)`."""
    first = node.child(0)
    if first is None or first.type != "const":
        return False
    return any(
        child.type == "variable_declarator" and child.child_by_field_name("value") is None
        for child in node.named_children
    )


def _waits(node: "Node") -> bool:
    """`await` in a function that is not `async`; at the top of a module it may stand."""
    parent = node.parent
    while parent is not None and parent.type not in _CALLABLE:
        parent = parent.parent
    return parent is not None and all(child.type != "async" for child in parent.children[:3])


def _left_open(node: "Node") -> bool:
    start = node.child(0)
    if start is None or start.type != "start_tag":
        return False
    last = node.child(node.child_count - 1)
    name = next((c for c in start.named_children if c.type == "tag_name"), None)
    tag = (name.text or b"").decode().lower() if name is not None else ""
    return tag not in _OPEN and (last is None or last.type != "end_tag")


_CHECKS: "dict[tuple[str, str], Callable[[Node], bool]]" = {
    ("go", "function_declaration"): _bodiless,
    ("java", "character_literal"): _characters,
    ("javascript", "lexical_declaration"): _unset,
    ("javascript", "await_expression"): _waits,
    ("html", "element"): _left_open,
    ("html", "erroneous_end_tag"): lambda _node: True,
}
