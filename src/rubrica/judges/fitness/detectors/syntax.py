"""Whether the code in an output parses: nothing is evaluated, and every parser has its bounds.

Python, JSON, TOML and YAML are read without any extra; other languages by tree-sitter (the extra
`code`). A snippet is often a piece of a program, so it is also tried inside of what it may stand
in. One with gaps ("...", "<your key>") that does not parse is not judged. Nor are SQL and HTML: the
dialects of the one and the leniency of the other make an error a matter of opinion.
"""

import ast
import importlib
import io
import re
import time
import tomllib
import warnings
from collections.abc import Iterator
from functools import cache
from textwrap import dedent, indent
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from rubrica.judges.fitness.detectors.markdown import read_markdown

if TYPE_CHECKING:
    from tree_sitter import Parser

#: Characters of one block, brackets within brackets, seconds of one parse and of one output.
LONGEST, DEEPEST, PARSE_SECONDS, SECONDS = 32_000, 100, 0.25, 2.0

#: The language that a fence names, by any of its names.
LANGUAGES = {
    name: names.split()[0]
    for names in (
        *("bash sh shell zsh", "c h", "cpp c++ cc cxx hpp", "go golang", "java", "json", "rust rs"),
        *(
            "javascript js jsx mjs node",
            "python py python3",
            "toml",
            "tsx",
            "typescript ts",
            "yaml yml",
        ),
    )
    for name in names.split()
}
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
_PYTHON = re.compile(r"\s{0,99}(?:(?:async )?def|class|from|import) \w")


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
    """Parse the fenced blocks of an output."""
    fences = read_markdown(output).fences
    deadline = time.monotonic() + SECONDS
    unread: list[str] = []
    for number, (name, code) in enumerate(fences, 1):
        language = LANGUAGES.get(name) if name else _guess_language(code)
        try:
            if language is None:
                raise NotJudged(f"no parser for {name}" if name else "text")
            if not _parses(language, code, deadline):
                return Syntax(True, f"block {number} ({language}) does not parse")
        except NotJudged as reason:
            unread.append(str(reason))
    if len(unread) == len(fences):
        return Syntax(None, "; ".join(dict.fromkeys(unread)) or "no code")
    return Syntax(False, f"{len(fences) - len(unread)} of {len(fences)} blocks parse")


def parse_data(language: str, text: str) -> Any:
    """Parse JSON, TOML or YAML; raises ValueError where it is none.

    Of YAML only the events are read, so that no alias is resolved, and None is given.
    """
    if len(text) > LONGEST or _is_deep(text):
        raise NotJudged("block too long or too deep")
    if language == "json":
        return msgspec.json.decode(text)
    if language == "toml":
        return tomllib.loads(text)
    return _read_yaml(text)


def _guess_language(code: str) -> str | None:
    """JSON and Python need no name on their fence; what may be plain text is not judged."""
    if code.lstrip().startswith(('{"', '{\n  "', '[{"', "[\n  {")):
        return "json"
    return "python" if _PYTHON.match(code) else None


def _parses(language: str, code: str, deadline: float) -> bool:
    if _SESSION.search(code):
        raise NotJudged("text")
    if len(code) > LONGEST or _is_deep(code):
        raise NotJudged("block too long or too deep")
    for text in _in_context(language, dedent(code)):
        if time.monotonic() > deadline:
            raise NotJudged("parsing takes too long")
        if _is_sound(language, text):
            return True
    if _GAP.search(code):
        raise NotJudged("block with gaps")
    return False


def _in_context(language: str, code: str) -> Iterator[str]:
    """The snippet as it is, and inside of what it may be a piece of."""
    yield code
    for around in _AROUND.get("typescript" if language == "tsx" else language, ()):
        yield around.replace("@", indent(code, "    ") if language == "python" else code)


def _is_sound(language: str, code: str) -> bool:
    try:
        if language == "python":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(code)
        elif language in ("json", "toml", "yaml"):
            parse_data(language, code)
        else:
            return _is_tree_sound(language, code)
    except (SyntaxError, ValueError):
        return False
    except (RecursionError, MemoryError) as reason:
        raise NotJudged("block too long or too deep") from reason
    return True


def _is_tree_sound(language: str, code: str) -> bool:
    parser = tree_parser(language)
    if parser is None:
        raise NotJudged(f"{language} needs rubrica[code]")
    try:
        return not parser.parse(code.encode("utf-8", "replace")).root_node.has_error
    except ValueError as reason:  # what the binding makes of a parser that was stopped
        parser.reset()
        raise NotJudged("parsing takes too long") from reason


def _read_yaml(text: str) -> None:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        for _event in YAML(typ="safe", pure=True).parse(io.StringIO(text)):
            pass
    except (YAMLError, ArithmeticError, AttributeError, LookupError, TypeError) as reason:
        # "\UFFFFFFFF" and the like go past the parser's own errors
        raise ValueError(str(reason)) from reason


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
def tree_parser(language: str) -> "Parser | None":
    """The tree-sitter parser of a language; None where the extra is not installed."""
    package = "typescript" if language == "tsx" else language
    try:
        core = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(f"tree_sitter_{package}")
    except ImportError:
        return None
    make = getattr(grammar, f"language_{language}" if package == "typescript" else "language")
    with warnings.catch_warnings():
        # The callback that shall replace the limit crashes the interpreter (0.25 and 0.26).
        warnings.simplefilter("ignore")
        micros = int(PARSE_SECONDS * 1e6)
        parser: Parser = core.Parser(core.Language(make()), timeout_micros=micros)
    return parser
