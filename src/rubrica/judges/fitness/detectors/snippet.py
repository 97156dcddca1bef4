"""A snippet is a piece of a program: what may stand around it, and what stands for something else.

A method without its class, a member without its object, `...` for what was left out and `<name>`
for what the reader has to fill in are no errors. Each form of the snippet is tried in turn, and one
that parses is enough.
"""

import re
from collections.abc import Iterator
from textwrap import dedent

#: `<your key>`, `<用户名>`, `{{ name }}`: something to fill in. Comparisons have blanks.
_PLACE = re.compile(
    r"<[^\W\d_](?:[^<>\n=;(){}\"'|&$]{0,40}[^\W_])?>|\{\{[^{}\n]{0,80}\}\}|\[\[?YOUR[^\]\n]{0,40}\]"
)
#: Dots that stand for something left out, not before a name (a spread) nor behind one.
_DOTS = re.compile(r"(?<![\w)\].])(?:\.\.\.|…+)(?![\w\[({\"'`.])")
_DOT_LINE = re.compile(r"^[ \t]*(?:#|//|--)?[ \t]*(?:\[)?(?:\.\.\.|…)[^\n]{0,80}$", re.MULTILINE)
_MUSTACHE = re.compile(r"\{\{[^{}\n]{0,80}\}\}")
#: A part of a statement, which needs the rest before it.
_CLAUSE = re.compile(
    r"\s*(?:WHERE|AND|OR|GROUP|ORDER|HAVING|LIMIT|(?:LEFT|INNER|RIGHT|CROSS|FULL)?\s*JOIN|UNION)\b",
    re.IGNORECASE,
)
_BODY = re.compile(r"^([ \t]*)((?:#|//)[^\n]*)$", re.MULTILINE)

_MEMBERS = "({{\n{}\n}})"
_CLASS = "class A {{\n{}\n}}"
_FUNCTION = "async function* f() {{\n{}\n}}"
_METHOD = "class A:\n    def f(self):\n        pass\n{}"
_MATCH = "match a:\n{}"
_INDENTED = frozenset({_METHOD, _MATCH})
#: What a piece may stand in, by language.
_AROUND: dict[str, tuple[str, ...]] = {
    "javascript": (_MEMBERS, _CLASS, _FUNCTION, "({}\n)", "[{}\n]"),
    "typescript": (_MEMBERS, _CLASS, _FUNCTION, "interface A {{\n{}\n}}", "({}\n)"),
    "tsx": (_MEMBERS, _CLASS, _FUNCTION),
    "go": (
        *("func f() {{\n{}\n}}", "type A struct {{\n{}\n}}", "var a = A{{\n{}\n}}"),
        "package a\n{}",
    ),
    "rust": (
        *("fn f() {{\n{}\n}}", "impl A {{\n{}\n}}", "struct A {{\n{}\n}}"),
        "fn f() {{ match a {{\n{}\n}} }}",
    ),
    "java": (
        *(_CLASS, "class A {{ void f() {{\n{}\n}} }}"),
        "class A {{ void f() {{ a\n{};\n}} }}",
    ),
    "c": ("void f() {{\n{}\n}}", "struct a {{\n{}\n}};", "int a[] = {{\n{}\n}};"),
    "cpp": ("void f() {{\n{}\n}}", "struct A {{\n{}\n}};", "struct A {{ void f() {{\n{}\n}} }};"),
    "sql": ("SELECT * FROM t {}",),
    "python": (
        *(_METHOD, "f(\n{}\n)", "{{\n{}\n}}", "if a:\n    pass\n{}", "try:\n    pass\n{}"),
        *("{}\n    pass", "{}\ndef f(): pass", _MATCH),
    ),
}


def forms(language: str, code: str) -> Iterator[str]:
    """The snippet as it is, in what it may be a piece of, and with its gaps filled."""
    plain = dedent(code.replace("\r\n", "\n"))
    yield plain
    filled = [text for text in dict.fromkeys(_filled(language, plain)) if text != plain]
    yield from filled
    for text in (plain, *filled):
        if language == "sql" and not _CLAUSE.match(text):
            continue
        for around in _AROUND.get(language, ()):
            piece = "\n".join("    " + line for line in text.split("\n"))
            yield around.format(piece if around in _INDENTED else text.strip("\n"))


def _filled(language: str, code: str) -> Iterator[str]:
    """The text with its gaps filled in one way or another."""
    named = (_MUSTACHE if language == "html" else _PLACE).sub("X", code)
    yield named
    if "..." not in named and "…" not in named and language != "python":
        return
    without = _DOT_LINE.sub("", named)
    for dots in ("", "_", "*_"):
        yield _DOTS.sub(dots, without)
    if language == "python":
        for text in (named, _DOTS.sub("*_", named)):
            yield _BODY.sub(r"\1pass \2", text)
            yield _DOT_LINE.sub(_passed, text)


def _passed(line: re.Match[str]) -> str:
    text = line.group()
    return text[: len(text) - len(text.lstrip())] + "pass"
