"""Detect whether the code in an output parses. No code is run; size, depth and time are limited.

Python, JSON, TOML and YAML are parsed without any extra; other languages by tree-sitter (the extra
`code`). A snippet is often a piece of a program, so it is also tried inside of a function, class or
call. A snippet with gaps ("...", "<your key>") that does not parse is not judged.
"""

import ast
import importlib
import io
import re
import time
import tomllib
import warnings
from contextlib import suppress
from functools import cache
from textwrap import dedent, indent
from typing import Any

import msgspec

from fourscore.judges.fitness.detectors.markdown import read_markdown

#: Limits: characters of a block, depth of nested brackets, seconds for a parse and for an output.
LONGEST, DEEPEST, PARSE_SECONDS, SECONDS = 32_000, 100, 0.25, 2.0

_NAMES = """bash sh shell zsh|c h|cpp c++ cc cxx hpp|go golang|java|javascript js jsx mjs|json
    |python py python3|rust rs|toml|typescript ts|yaml yml"""
#: Languages by each of the names that a fence may use.
LANGUAGES = {name: names.split()[0] for names in _NAMES.split("|") for name in names.split()}
#: Code around a snippet that makes it a whole program; `@` is the snippet's place.
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
#: "...", "{{ name }}" and "<your key>" replace something left out; "...rest" does not.
_GAP = re.compile(r"(?:\.\.\.|…)(?![\w\[({])|\{\{|<[^\W\d_][^<>\n=;(){}\"']{0,40}>")
#: Shell and REPL sessions, notebooks and patches show code among other things.
_SESSION = re.compile(r"^(?:\$ |>>> |PS |[!%]\w|@@ |diff --git )", re.MULTILINE)


class NotJudged(Exception):  # noqa: N818 - reaching a limit is no error
    """A text was not parsed: it is too long, too deep or too slow, or there is no parser."""


def has_syntax_errors(output: str) -> bool:
    """Whether a fenced block does not parse; False if there is no block to judge."""
    return parses(output) is False


def parses(output: str) -> bool | None:
    """Whether all fenced blocks that can be judged parse; None if there are none."""
    deadline, found = time.monotonic() + SECONDS, None
    for name, code in read_markdown(output).fences:
        with suppress(NotJudged):
            if name in LANGUAGES and time.monotonic() < deadline:
                found = _is_sound(LANGUAGES[name], dedent(code))
        if found is False:
            break
    return found


#: The first line of an output that is Python code and nothing else.
_PYTHON = re.compile(r"(?:async def|def|class|import|from|@)[ \w(]")


def parses_as_whole(output: str) -> bool | None:
    """Whether an output without fences parses as Python; None if it does not begin like code."""
    if _PYTHON.match(output.lstrip()) is None or read_markdown(output).fences:
        return None
    with suppress(NotJudged):
        return _is_sound("python", dedent(output))
    return None


def _is_sound(language: str, code: str) -> bool:
    """Whether the code parses, alone or inside of one of its language's `_AROUND`."""
    if len(code) > LONGEST or _SESSION.search(code):
        raise NotJudged
    piece = indent(code, "    ") if language == "python" else code
    around = (each.replace("@", piece) for each in _AROUND.get(language, ()))
    for text in (code, *around):
        try:
            parse(language, text)
        except (SyntaxError, ValueError):
            continue
        except (RecursionError, MemoryError) as reason:
            raise NotJudged from reason
        return True
    if _GAP.search(code):
        raise NotJudged
    return False


def parse(language: str, code: str) -> Any:
    """Parse code; return the value of JSON or TOML. Raise SyntaxError or ValueError if invalid."""
    if _is_deep(code):
        raise NotJudged
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
    """Parse YAML without building values, so that no alias is expanded."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        for _event in YAML(typ="safe", pure=True).parse(io.StringIO(text)):
            pass
    except (YAMLError, ArithmeticError, AttributeError, LookupError, TypeError) as reason:
        # input such as "\UFFFFFFFF" raises errors that are not YAMLError
        raise ValueError(str(reason)) from reason


def _parse_tree(language: str, code: str) -> None:
    parser = tree_parser(language)
    try:
        tree = parser.parse(code.encode("utf-8", "replace"))
    except ValueError as reason:  # the binding raises this if the parser timed out
        parser.reset()
        raise NotJudged from reason
    if tree.root_node.has_error:
        raise SyntaxError


def _is_deep(code: str) -> bool:
    """Whether brackets nest deeper than `DEEPEST`, on which some parsers take cubic time."""
    depth = angles = 0
    for sign in re.findall(r"[(\[{}\])<>;]", code):
        depth += (sign in "([{") - (sign in ")]}")
        angles = angles + 1 if sign == "<" else 0 if sign in ";{}>" else angles
        if depth > DEEPEST or angles > DEEPEST:
            return True
    return False


@cache
def tree_parser(language: str) -> Any:
    """Return the tree-sitter parser of a language; raise NotJudged without the extra `code`."""
    try:
        core = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(f"tree_sitter_{language}")
    except ImportError as reason:
        raise NotJudged from reason
    make = getattr(grammar, "language_typescript", None) or grammar.language
    # `timeout_micros` is deprecated, but the callback that replaces it crashes the interpreter.
    return core.Parser(core.Language(make()), timeout_micros=int(PARSE_SECONDS * 1e6))
