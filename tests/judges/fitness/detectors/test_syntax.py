"""Code that parses, pieces of it, code that does not, and what is not judged."""

import sys

import pytest

from fourscore import has_syntax_errors
from fourscore.judges.fitness.detectors.syntax import parses, tree_parser

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
]
TREES = [
    ("js", 'name: "x",\nmounted() { this.a(); },', False),
    ("jsx", 'const A = () => <div className="x">{y}</div>;', False),
    ("ts", "id: number;\nname?: string;", False),
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
def test_accepts_sound_code_and_snippets(language: str, code: str) -> None:
    assert parses(fenced(language, code)) is not False


@pytest.mark.parametrize(("language", "code"), BROKEN)
def test_finds_syntax_errors(language: str, code: str) -> None:
    assert has_syntax_errors(fenced(language, code))


@pytest.mark.parametrize(("language", "code", "broken"), TREES)
def test_parses_languages_of_code_extra(language: str, code: str, broken: bool) -> None:
    pytest.importorskip("tree_sitter")
    assert parses(fenced(language, code)) is not broken


def test_one_broken_block_fails_output() -> None:
    assert parses("```python\nx = 1\n```\n\n```json\n{\n```\n\n```python\nx = 1\n```\n") is False


@pytest.mark.parametrize(
    "output",
    [
        "Paris",
        fenced("cobol", "(("),
        fenced("", "Name (Age"),
        fenced("bash", "$ ls (\na b"),
        fenced("json", '{"a": 1, ...}'),
        fenced("python", "key = <your key>"),
        fenced("python", "x = 1\n" * 7_000),
        fenced("python", "(" * 9_000),
        fenced("python", "-" * 30_000 + "1"),
        fenced("yaml", "[" * 9_000),
    ],
)
def test_does_not_judge_gaps_sessions_and_unknown_languages(output: str) -> None:
    assert parses(output) is None
    assert not has_syntax_errors(output)


def test_other_languages_need_code_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    tree_parser.cache_clear()
    assert parses(fenced("go", "func f( {")) is None
    assert parses(fenced("python", "x = (")) is False
