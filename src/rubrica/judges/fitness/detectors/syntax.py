"""Whether the code in an output parses: nothing is evaluated, and every parser has its bounds.

Python, JSON, TOML and YAML are read without any extra; other languages by tree-sitter (the extra
`code`). A snippet is often a piece of a program, so it is also tried inside of what it may stand
in. One with gaps ("...", "<your key>") that does not parse is not judged.
"""

import ast
import importlib
import io
import re
import time
import tomllib
import warnings
from functools import cache
from textwrap import dedent, indent
from typing import Any, NamedTuple

import msgspec

from rubrica.judges.fitness.detectors.markdown import read_markdown

#: Characters of one block, brackets within brackets, seconds of one parse and of one output.
LONGEST, DEEPEST, PARSE_SECONDS, SECONDS = 32_000, 100, 0.25, 2.0

_NAMES = """bash sh shell zsh|c h|cpp c++ cc cxx hpp|go golang|java|javascript js jsx mjs|json
    |python py python3|rust rs|toml|typescript ts|yaml yml"""
#: The language that a fence names, by any of its names.
LANGUAGES = {name: names.split()[0] for names in _NAMES.split("|") for name in names.split()}
#: What a snippet may stand in; `@` is its place.
_AROUND = {
    "c": ("void f() {\n@\n}",),
    "cpp": ("void f() {\n@\n}", "struct A {\n@\n};"),
    "go": ("package a\n@", "func f() {\n@\n}", "type A struct {\n@\n}"),
    "java": ("class A {\n@\n}", "class A { void f() {\n@\n} }"),
    "javascript": ("({\n@\n})", "class A {\n@\n}", "async function* f() {\n@\n}"),
    "json": ("{\n@\n}",),
    "python": ("async def f():\n    pass\n@", "f(\n@\n)", "if a:\n@\n        pass"),
    "rust": ("fn f() {\n@\n}", "impl A {\n@\n}"),
    "typescript": ("({\n@\n})", "class A {\n@\n}", "interface A {\n@\n}"),
}
#: "...", "{{ name }}" and "<your key>" stand for something left out; "...rest" does not.
_GAP = re.compile(r"(?:\.\.\.|…)(?![\w\[({])|\{\{|<[^\W\d_][^<>\n=;(){}\"']{0,40}>")
#: Shell and REPL sessions, notebooks and patches show code among other things.
_SESSION = re.compile(r"^(?:\$ |>>> |PS |[!%]\w|@@ |diff --git )", re.MULTILINE)


class Syntax(NamedTuple):
    """`broken` is None where no code could be judged; `reason` says which block, or why none."""

    broken: bool | None
    reason: str


class NotJudged(Exception):  # noqa: N818 - a bound was reached, which is nobody's error
    """A text that is not parsed, and why: too long, too deep, no parser."""


def has_syntax_errors(output: str) -> bool:
    """Whether a fenced block does not parse; False where there is none to judge."""
    return syntax(output).broken is True


def syntax(output: str) -> Syntax:
    """Parse the fenced blocks of an output that name their language."""
    fences = read_markdown(output).fences
    deadline = time.monotonic() + SECONDS
    unread: list[str] = []
    for number, (name, code) in enumerate(fences, 1):
        try:
            if time.monotonic() > deadline:
                raise NotJudged("parsing takes too long")
            if not _is_sound(name, code):
                return Syntax(True, f"block {number} ({LANGUAGES[name]}) does not parse")
        except NotJudged as reason:
            unread.append(str(reason))
    if len(unread) == len(fences):
        return Syntax(None, "; ".join(dict.fromkeys(unread)) or "no code")
    return Syntax(False, f"{len(fences) - len(unread)} of {len(fences)} blocks parse")


def _is_sound(name: str, code: str) -> bool:
    """Whether the code parses, as it is or inside of what it may be a piece of."""
    if name not in LANGUAGES or _SESSION.search(code):
        raise NotJudged(f"no parser for {name}" if name and name not in LANGUAGES else "text")
    language, code = LANGUAGES[name], dedent(code)
    piece = indent(code, "    ") if language == "python" else code
    around = (each.replace("@", piece) for each in _AROUND.get(language, ()))
    for text in (code, *around):
        try:
            parse(language, text)
        except (SyntaxError, ValueError):
            continue
        except (RecursionError, MemoryError) as reason:
            raise NotJudged("block too long or too deep") from reason
        return True
    if _GAP.search(code):
        raise NotJudged("block with gaps")
    return False


def parse(language: str, code: str) -> Any:
    """Parse a text and return what JSON or TOML holds; SyntaxError or ValueError if it is none."""
    if len(code) > LONGEST + 100 or _is_deep(code):
        raise NotJudged("block too long or too deep")
    if language == "json":
        return msgspec.json.decode(code)
    if language == "toml":
        return tomllib.loads(code)
    if language == "yaml":
        return _parse_yaml(code)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code) if language == "python" else _parse_tree(language, code)


def _parse_yaml(text: str) -> None:
    """Read the events only, so that no alias is resolved."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        for _event in YAML(typ="safe", pure=True).parse(io.StringIO(text)):
            pass
    except (YAMLError, ArithmeticError, AttributeError, LookupError, TypeError) as reason:
        # "\UFFFFFFFF" and the like go past the parser's own errors
        raise ValueError(str(reason)) from reason


def _parse_tree(language: str, code: str) -> None:
    parser = tree_parser(language)
    if parser is None:
        raise NotJudged(f"{language} needs rubrica[code]")
    try:
        tree = parser.parse(code.encode("utf-8", "replace"))
    except ValueError as reason:  # what the binding makes of a parser that was stopped
        parser.reset()
        raise NotJudged("parsing takes too long") from reason
    if tree.root_node.has_error:
        raise SyntaxError


def _is_deep(code: str) -> bool:
    """Whether brackets open within brackets beyond what people write: some parsers go cubic."""
    depth = angles = 0
    for sign in re.findall(r"[(\[{}\])<>;]", code):
        depth += (sign in "([{") - (sign in ")]}")
        angles = angles + 1 if sign == "<" else 0 if sign in ";{}>" else angles
        if depth > DEEPEST or angles > DEEPEST:
            return True
    return False


@cache
def tree_parser(language: str) -> Any:
    """Return the tree-sitter parser of a language; None where the extra is not installed."""
    try:
        core = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(f"tree_sitter_{language}")
    except ImportError:
        return None
    make = getattr(grammar, "language_typescript", None) or grammar.language
    # A limit is deprecated, but the callback that shall replace it crashes the interpreter.
    return core.Parser(core.Language(make()), timeout_micros=int(PARSE_SECONDS * 1e6))
