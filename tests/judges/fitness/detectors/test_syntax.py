"""Code that parses, pieces of it, code that does not, and what is not judged."""

import importlib

import pytest

from rubrica import has_syntax_errors
from rubrica.judges.fitness.detectors.syntax import syntax, tree_parser

#: Languages that need no extra.
SOUND = [
    ("python", "def f(a, *, b=2, **kw) -> None: ..."),
    ("python", "    return x + 1"),
    ("python", "for x in xs:\n    # do something\n"),
    ("python", "await f()"),
    ("py", "name='a',\nage=3,"),
    ("json", '{"a": [1, 2.5, null]}'),
    ("json", '"a": 1,\n"b": 2'),
    ("yaml", "a: &x {b: 1}\nc: *x\n---\nd: !!str 1"),
    ("toml", "[a.b]\nc = 1979-05-27"),
    ("", "def f(x):\n    return x"),
    ("", ""),
]
BROKEN = [
    ("python", "def f(x)\n    return x"),
    ("python", "print（1）"),
    ("python", "x = [1, 2"),
    ("json", '{"a": 1,}'),
    ("json", "{'a': 1}"),
    ("yaml", "a: [1, 2"),
    ("yaml", '"\\UFFFFFFFF"'),
    ("toml", "a = "),
    ("", "def f(x)\n    return x"),
    ("", '{"a": 1,}'),
]
TREES = [
    ("js", 'name: "x",\nmounted() { this.a(); },', False),
    ("jsx", 'const A = () => <div className="x">{y}</div>;', False),
    ("ts", "id: number;\nname?: string;", False),
    ("tsx", "export default function A(p: P) { return <B x={1}/> }", False),
    ("go", "x := 1\nfmt.Println(x)", False),
    ("rust", "let c = 'x';", False),
    ("java", "@Override\npublic void f() { }", False),
    ("c", "for (int i = 0; i < n; i++) a[i] = 0;", False),
    ("cpp", "auto [a, b] = p;", False),
    ("bash", 'for f in *.txt; do echo "$f"; done', False),
    ("js", "function f( { return 1 }", True),
    ("ts", "const a: = 1;", True),
    ("go", "func f( int {\n}", True),
    ("rust", "fn f( { }", True),
    ("java", "int x = 1", True),
    ("c", "int main( { return 0; }", True),
    ("bash", "for f in *; do echo $f", True),
]


def fenced(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```"


@pytest.mark.parametrize(("language", "code"), SOUND)
def test_sound_code_and_pieces_of_it(language: str, code: str) -> None:
    assert syntax(fenced(language, code)).broken is not True


@pytest.mark.parametrize(("language", "code"), BROKEN)
def test_broken_code(language: str, code: str) -> None:
    assert has_syntax_errors(fenced(language, code))


@pytest.mark.parametrize(("language", "code", "broken"), TREES)
def test_languages_of_the_extra(language: str, code: str, broken: bool) -> None:
    pytest.importorskip("tree_sitter")
    assert syntax(fenced(language, code)).broken is broken


def test_one_broken_block_is_enough_and_named() -> None:
    found = syntax("```python\nx = 1\n```\n\n```json\n{\n```\n")
    assert found == (True, "block 2 (json) does not parse")


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ("Paris", "no code"),
        (fenced("cobol", "(("), "no parser for cobol"),
        (fenced("", "Name (Age"), "text"),
        (fenced("bash", "$ ls (\na b"), "text"),
        (fenced("json", '{"a": 1, ...}'), "block with gaps"),
        (fenced("python", "key = <your key>"), "block with gaps"),
        (fenced("python", "x = 1\n" * 7_000), "block too long or too deep"),
        (fenced("python", "(" * 9_000), "block too long or too deep"),
        (fenced("python", "-" * 30_000 + "1"), "block too long or too deep"),
    ],
)
def test_what_is_not_judged(output: str, reason: str) -> None:
    assert syntax(output) == (None, reason)
    assert not has_syntax_errors(output)


def test_without_the_extra_the_reason_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("rubrica.judges.fitness.detectors.syntax")
    monkeypatch.setattr(module, "tree_parser", lambda _language: None)
    assert syntax(fenced("go", "func f( {")) == (None, "go needs rubrica[code]")
    assert syntax(fenced("python", "x = (")).broken is True


def test_a_grammar_that_is_not_installed() -> None:
    assert tree_parser("klingon") is None
