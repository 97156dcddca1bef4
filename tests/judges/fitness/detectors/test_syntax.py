"""Code that parses, pieces of it, and code that does not; what is not judged."""

# ruff: noqa: E501 - rows of a table

import time

import pytest

from rubrica.judges.fitness.detectors import has_syntax_errors, syntax, trees

pytest.importorskip("tree_sitter")

SOUND = [
    ("python", "x = 1\nif x:\n    ...\n"),
    ("python", "def f(a, *, b=2, **kw) -> None: ..."),
    ("python", '@app.get("/")\ndef home(): return {"a": 1}'),
    ("python", "class A:\n    # ...\n    def f(self):\n        # your code here\n"),
    ("python", "    return x + 1"),
    ("python", "elif x == 2:\n    y()\n"),
    ("python", ">>> 1 + 1\n2\n>>> print(\n"),
    ("python", 'print(f"{x!r:>10} {{}}")'),
    ("python", "client = OpenAI(api_key=<YOUR_API_KEY>)"),
    ("python", "match x:\n    case [1, *rest]:\n        pass"),
    ("python", "!pip install x\nimport x"),
    ("python", "def f[T](x: T) -> T:\n    return x"),
    ("python", "type X = int"),
    ("python", 's = "（全角）"\nprint(s)  # 注释，全角'),
    ("python", '"a": 1,\n"b": 2,'),
    ("python", "async def f():\n    await g()\nawait f()"),
    ("python", "try:\n    a()\nexcept* ValueError:\n    pass"),
    ("python", 'with open("a") as f, open("b") as g:\n    ...'),
    ("python", 'x = {\n    "a": 1,\n    ...\n}'),
    ("python", "foo(a, ..., b)"),
    ("python", "for x in xs:\n    # do something\n"),
    ("js", "const f = async ({a, ...rest}) => ({...rest, a});"),
    ("js", "for await (const x of xs) console.log(x)"),
    ("js", 'const re = /[(\\[{]"/g;'),
    ("js", "a?.b?.[c] ?? d"),
    ("jsx", 'const A = () => <div className="x">{y}</div>;'),
    ("js", 'name: "x",\nmounted() { this.a(); },'),
    ("js", "return x;"),
    ("js", "class A { #p = 1; static { } get x() { return this.#p } }"),
    ("js", 'import x from "y" with { type: "json" };'),
    ("js", "const a = `x ${`y ${z}`}`"),
    ("js", "...\nfoo();\n..."),
    ("js", "if (a) {\n  ...\n}"),
    ("js", "label: for (;;) { break label }"),
    ("js", '// 注释（全角）\nlet s = "，";'),
    ("js", "let a"),
    ("ts", "type A<T> = T extends (infer U)[] ? U : never;"),
    ("ts", "abstract class A { private readonly x?: string; constructor(private y: number) {} }"),
    ("ts", 'declare module "x" { export const a: number }'),
    ("ts", "const x = <const T,>(a: T) => a"),
    ("ts", "function f(this: Window, a?: number): asserts a is number {}"),
    ("ts", "id: number;\nname?: string;"),
    ("ts", "let x = y as unknown as Z; let z = a satisfies B;"),
    ("ts", "enum A { B = 1, C }"),
    ("ts", '@Component({selector: "a"})\nexport class A { @Input() x!: string }'),
    ("tsx", "export default function A(p: P) { return <B<T> x={1}/> }"),
    ("go", 'type A struct {\n\tB int `json:"b"`\n}'),
    ("go", 'x := map[string][]int{"a": {1, 2}}'),
    ("go", "switch v := x.(type) {\ncase int:\n\tfmt.Println(v)\n}"),
    ("go", "go func() { ch <- 1 }()"),
    ("go", "func (s *S) M() (n int, err error) { return }"),
    ("go", 'import "fmt"\n\nfunc main() { fmt.Println("a") }'),
    ("go", "for i := range 10 {\n}"),
    ("go", "...\nx := 1"),
    ("go", "var _ I = (*T)(nil)"),
    ("rust", "impl<'a, T: Clone + 'a> Foo<'a, T> for Bar where T: Send {}"),
    ("rust", "let v: Vec<_> = it.collect::<Result<_, _>>()?;"),
    ("rust", "#[derive(Debug)]\nstruct A { x: i32 }"),
    ("rust", "match x {\n    Some(n) if n > 0 => n,\n    _ => 0,\n}"),
    ("rust", "macro_rules! m { ($x:expr) => { $x } }"),
    ("rust", "async fn f() -> Result<(), Box<dyn Error>> { g().await?; Ok(()) }"),
    ("rust", 'let c = \'x\'; let s = r#"a"b"#;'),
    ("rust", "x.iter().map(|a| a + 1)"),
    ("rust", "// ...\nfn f() { ... }"),
    ("java", "record P(int x, int y) {}"),
    ("java", '@Override\npublic String toString() { return ""; }'),
    ("java", 'var x = switch (y) { case 1 -> "a"; default -> "b"; };'),
    ("java", "Map<String, List<Integer>> m = new HashMap<>();"),
    ("java", "list.stream().filter(x -> x > 1).toList();"),
    ("java", 'String s = """\n  a "b"\n  """;'),
    ("java", "import java.util.*;\n\npublic class A { }"),
    ("java", "char c = '\\u0041'; char d = 'x';"),
    ("java", "try (var r = open()) { ... } catch (IOException | X e) { }"),
    ("java", "public interface A<T extends B & C> { default void f() {} }"),
    (
        "c",
        "#include <stdio.h>\n#define MAX(a,b) ((a)>(b)?(a):(b))\nint main(void){ return MAX(1,2); }",
    ),
    ("c", "struct node *next;"),
    ("c", 'for (int i = 0; i < n; i++) printf("%d\\n", a[i]);'),
    ("c", "typedef int (*fn)(const char *, ...);"),
    ("c", "#ifdef X\nint a;\n#else\nint b;\n#endif"),
    ("c", "static inline __attribute__((always_inline)) int f(void) { return 0; }"),
    (
        "cpp",
        "template <typename T, typename... A> auto f(A&&... a) -> decltype(auto) { return g(std::forward<A>(a)...); }",
    ),
    ("cpp", "class A : public B { public: A() = default; ~A(); private: int x_{0}; };"),
    ("cpp", "auto [a, b] = p; if (auto it = m.find(k); it != m.end()) {}"),
    ("cpp", "namespace a::b { enum class C : int { X }; }"),
    ("cpp", "for (const auto& [k, v] : m) std::cout << k << v;"),
    ("cpp", "std::unique_ptr<int> p = std::make_unique<int>(1);"),
    ("cpp", "x = y <=> z;"),
    ("sql", "CREATE TABLE t (id SERIAL PRIMARY KEY, a JSONB NOT NULL DEFAULT '{}');"),
    ("sql", "SELECT TOP 10 * FROM t ORDER BY a;"),
    (
        "sql",
        "INSERT INTO t (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET b = EXCLUDED.b RETURNING id;",
    ),
    (
        "sql",
        "WITH RECURSIVE c AS (SELECT 1 AS n UNION ALL SELECT n+1 FROM c WHERE n<5) SELECT * FROM c;",
    ),
    ("sql", "CREATE INDEX CONCURRENTLY i ON t (lower(a)) WHERE b IS NOT NULL;"),
    ("sql", "ALTER TABLE t ADD COLUMN a INT, ADD COLUMN b TEXT;"),
    (
        "sql",
        "SELECT a, SUM(b) OVER (PARTITION BY c ORDER BY d ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
    ),
    ("sql", "WHERE a = 1 AND b IN (2, 3)"),
    ("sql", "DELETE FROM t WHERE id = ?;"),
    ("sql", "UPDATE t SET a = :x WHERE id = @y;"),
    (
        "sql",
        "CREATE TABLE `a` (`id` int NOT NULL AUTO_INCREMENT, PRIMARY KEY (`id`)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;",
    ),
    ("sql", "SELECT * FROM users WHERE id = <id>;"),
    ("sql", "-- 注释，说明\nSELECT 1;"),
    (
        "sql",
        "CREATE OR REPLACE FUNCTION f() RETURNS trigger AS $$\nBEGIN\n  NEW.a := 1;\n  RETURN NEW;\nEND;\n$$ LANGUAGE plpgsql;",
    ),
    ("sql", "SELECT date_trunc('month', a) AT TIME ZONE 'UTC', b->>'x' FROM t LIMIT 5 OFFSET 2;"),
    ("sql", "SELECT a FROM t LEFT JOIN u USING (id) GROUP BY 1 HAVING COUNT(*) > 1;"),
    ("sql", "EXPLAIN ANALYZE SELECT 1;"),
    ("sql", "BEGIN;\nUPDATE a SET b = 1;\nCOMMIT;"),
    ("sql", "SELECT CASE WHEN a > 1 THEN 'x' ELSE 'y' END FROM t;"),
    ("bash", 'for f in *.txt; do echo "$f"; done'),
    ("bash", "cat <<'EOF' > x\n\"unclosed\nEOF"),
    ("bash", "curl -s https://x | jq '.a[] | select(.b == \"c\")'"),
    ("bash", 'docker run -it --rm -v "$PWD":/app <image>'),
    ("bash", 'case "$1" in\n  a) echo 1;;\n  *) exit 1;;\nesac'),
    ("bash", 'arr=(a b c); echo "${arr[@]}" "${#arr[@]}" $((1+2))'),
    ("bash", "if ! grep -q x f; then echo no; fi"),
    ("bash", 'export A=1 B="x y" && ./run.sh || true'),
    ("bash", 'f() { local x=$1; echo "${x:-d}"; }; f'),
    ("bash", "$ ls\na b\n$ (\n"),
    ("sh", "npm install\nnpm run dev -- --port 3000"),
    ("bash", 'find . -name "*.py" -exec sed -i "s/a/b/" {} \\;'),
    ("bash", "[[ $a =~ ^[0-9]+$ ]] && echo ok"),
    ("bash", 'git commit -m "it\'s ok"'),
    ("bash", "diff <(sort a) <(sort b)"),
    ("bash", "while read -r l; do :; done < f"),
    ("bash", "trap 'rm -f \"$t\"' EXIT"),
    ("bash", 'pip install -e ".[dev]"  # 安装（开发）'),
    ("bash", "kubectl get pods -o jsonpath='{.items[*].metadata.name}'"),
    ("bash", "awk -F, '{ s += $2 } END { print s }' f"),
    ("bash", "...\nmake\n..."),
    ("json", '{"a": [1, 2, ...]}'),
    ("json", '{"a": 1, ...}'),
    ("json", '{"a": "<your key>", "b": <number>}'),
    ("json", '{"a":1}\n{"a":2}'),
    ("json", "[]"),
    ("json", '"just text"'),
    ("json", '"a": 1,\n"b": 2'),
    ("jsonc", '{\n // c\n "a": 1,\n}'),
    ("json", '{\n  ...\n  "a": 1\n}'),
    ("json", '{"a": {...}, "b": [...]}'),
    ("json", '{\n  "a": 1,\n  ...\n}'),
    ("yaml", "a: 1\nb:\n- x\n- y: 2"),
    (
        "yaml",
        'on:\n  push:\n    branches: [main]\njobs:\n  b:\n    runs-on: ${{ matrix.os }}\n    steps:\n      - run: |\n          echo "a: b"',
    ),
    ("yaml", "a: &x {b: 1}\nc: *x\n---\nd: !!str 1"),
    ("yaml", 'key: "a: b"\nurl: http://x:80/'),
    ("yaml", "replicas: {{ .Values.n }}"),
    ("yaml", "a:\n  ...\n  b: 1"),
    ("yaml", "password: <your password>"),
    ("yaml", "  - name: x\n    run: y"),
    ("yaml", "a: 1 # 注释，全角"),
    ("toml", '[a.b]\nc = 1979-05-27\nd = [\n 1,\n 2,\n]\n[[e]]\nf = """x"""'),
    ("toml", "[tool.x]\n...\na = 1"),
    ("toml", 'key = "<your key>"'),
    ("html", '<div class="a">\n  <img src="x" alt="">\n  <p>a<p>b\n</div>'),
    ("html", '<button @click="a > b">x</button>'),
    ("html", '<!-- ... --><input type="text" disabled><br/>'),
    ("html", '<svg viewBox="0 0 1 1"><path d="M0 0"/></svg>'),
    ("html", '<template v-if="a && b"><my-el></my-el></template>'),
    ("html", "<p>5 &lt; 6 &amp; 7</p>"),
    ("", "total = 0\nfor x in xs:\n    total += x"),
    ("", "npm install\nnpm test"),
    ("", "SELECT 1;"),
    ("", "Name    Age\nAnn     3"),
    ("", '{"a": 1}'),
    ("", "error: something went (wrong"),
    ("text", "( ("),
    ("mermaid", "graph TD; A-->B"),
    ("", "https://example.com/a?b=c"),
    ("", "src/\n  a.py"),
    ("", "key: value\nother: x"),
    ("", "def f(x):\n    return x"),
    ("", "x = y"),
]
BROKEN = [
    ("python", "def f(x)\n    return x"),
    ("python", 'print("a'),
    ("python", "if x = 1:\n    pass"),
    ("python", "for i in range(3):\nprint(i)"),
    ("python", "x = [1, 2"),
    ("python", "class A\n    pass"),
    ("python", "return = 1"),
    ("python", "def f():\n    x = 1\n  y = 2"),
    ("python", "print（1）"),
    ("python", "x = “a”"),
    ("python", "def f(:\n    pass"),
    ("python", "import"),
    ("python", "else if x:\n  pass"),
    ("python", "x++"),
    ("python", "lambda x: return x"),
    ("python", "def run(cfg):\n    for k, v in cfg.items(\n"),
    ("python", 'raise ValueError "x"'),
    ("python", "while True\n    pass"),
    ("python", 'd = {"a": 1 "b": 2}'),
    ("python", 'exec "x"'),
    ("js", "function f( { return 1 }"),
    ("js", "const a = [1, 2;"),
    ("js", 'let x = "abc\n;'),
    ("js", "if (a {\n}"),
    ("js", "const x;"),
    ("js", "function f() { await g(); }"),
    ("js", "for (let i = 0; i < 3; i++ {}"),
    ("js", "const f = (a, b => a + b;"),
    ("js", "fetch(url).then(r => {\n  console.log(r)\n"),
    ("js", "x = {a: 1 b: 2}"),
    ("js", "var 1a = 2;"),
    ("js", "def f(x):\n    return x"),
    ("js", "console.log（1）；"),
    ("jsx", "const A = () => <div><span></div>;"),
    ("ts", "interface A { x: string y: number; }"),
    ("ts", "const a: = 1;"),
    ("ts", "type A = { b: string"),
    ("ts", "function f(a: string, b: number: void {}"),
    ("ts", "class A { constructor(private x number) {} }"),
    ("go", "func f() {\n\tx := 1\n"),
    ("go", "func f( int {\n}"),
    ("go", "for i := 0; i < 3; i++\n{\n}"),
    ("go", "if x == 1\n{\n}"),
    ("go", "var x int = "),
    ("go", 'fmt.Println("a"'),
    ("go", "func f() int {\n\treturn 1,\n}"),
    ("rust", "fn f( { }"),
    ("rust", "let x = 5\nlet y = 6;"),
    ("rust", "fn f() -> { 1 }"),
    ("rust", "struct A { x: i32 y: i32 }"),
    ("rust", 'println!("a";'),
    ("rust", 'match x { 1 => "a" 2 => "b" }'),
    ("rust", "fn main() {\n let x = 1;\n"),
    ("java", "public class A {\n void f( {\n }\n}"),
    ("java", "int x = 1"),
    ("java", "public void f() { return 1 }"),
    ("java", 'String s = "a;'),
    ("java", "for (int i = 0; i < 3; i++ { }"),
    ("java", "public class A { int x; "),
    ("java", 'System.out.println("a"));'),
    ("c", "int main( { return 0; }"),
    ("c", "int x = 1\nint y = 2;"),
    ("c", 'printf("a);'),
    ("c", "int a[3] = {1, 2;"),
    ("c", "int main() {\n  if (1) {\n  return 0;\n}"),
    ("cpp", "std::vector<int v;"),
    ("cpp", "class A { int x; }\nint main() { return 0 }"),
    ("cpp", 'cout << "a" << endl\nreturn 0;'),
    ("sql", "SELECT FROM WHERE;"),
    ("sql", "SELECT a, FROM t;"),
    ("sql", "SELEC a FROM t;"),
    ("sql", "SELECT a FROM t WHERE (b = 1;"),
    ("sql", "INSERT INTO t (a, b VALUES (1, 2);"),
    ("sql", "UPDATE t SET WHERE a = 1;"),
    ("sql", "SELECT 'a FROM t;"),
    ("sql", "SELECT a FROM t GROUP a;"),
    ("sql", "CREATE TABLE t (a INT, b TEXT;"),
    ("sql", "SELECT * FROM t WHERE a = 1 ORDER LIMIT 2;"),
    ("bash", "if [ -f a ]; then echo"),
    ("bash", "for f in *; do echo $f"),
    ("bash", 'echo "a'),
    ("bash", "case $1 in\na) echo 1;;"),
    ("bash", "f() { echo 1"),
    ("bash", "while true; echo 1; done"),
    ("bash", "if true; then echo 1; done"),
    ("bash", "x=$(ls"),
    ("json", '{"a": 1,}'),
    ("json", "{'a': 1}"),
    ("json", '{"a": 1 "b": 2}'),
    ("json", '{"a": 1'),
    ("json", "{a: 1}"),
    ("json", '{\n // c\n "a": 1\n}'),
    ("json", '{"a": "x}'),
    ("json", "[1, 2"),
    ("json", '{"a"：1}'),
    ("json", '{"a": True}'),
    ("json", '{"a": 1}}'),
    ("yaml", "a: b: c"),
    ("yaml", "a: [1, 2"),
    ("yaml", 'a: "x'),
    ("yaml", "a:\n\t- b"),
    ("yaml", "a: 1\n  b: 2"),
    ("yaml", "- a\nb: 1"),
    ("yaml", "a: {b: 1"),
    ("toml", "a = "),
    ("toml", "[a\nb=1"),
    ("toml", "a = x y"),
    ("toml", "a: 1"),
    ("toml", 'a = "x'),
    ("html", "<div><p>a</div></p>"),
    ("html", "<div>"),
    ("html", '<a href="x>y</a>'),
    ("html", "<div><span></div>"),
    ("html", "<h1>a</h2>"),
    ("html", '<div class="a"'),
    ("html", "<ul><li>a</li>"),
    ("", "def f(x)\n    return x"),
    ("", "for x in range(3)\n    print(x)"),
    ("", "function f() {\n  const a = 1;\n  return a;\n"),
    ("", '{"a": 1,}'),
]


@pytest.mark.parametrize(("language", "code"), SOUND)
def test_sound_code_and_pieces_of_it(language: str, code: str) -> None:
    assert syntax(f"```{language}\n{code}\n```").broken is not True


@pytest.mark.parametrize(("language", "code"), BROKEN)
def test_broken_code(language: str, code: str) -> None:
    assert syntax(f"```{language}\n{code}\n```").broken is True


@pytest.mark.parametrize(
    ("output", "broken"),
    [
        ('{"a": 1}', False),
        ('{"a": 1,}', True),
        ("def f(x):\n    return x\n\nprint(f(1))", False),
        ("def f(x)\n    return x\n\nprint(f(1))", True),
        ("import os\nprint(os.getcwd()", True),
        ("SELECT a, FROM t;", True),
        ("#!/bin/bash\nif true; then\necho 1", True),
        ("function f() {\n  return 1;\n", True),
        ("The answer is (a, b.", None),
        ("[1] See the docs (here.", None),
        ("Total = 5 apples (maybe", None),
        ("- a\n- b", None),
        ("Paris", None),
        ("", None),
    ],
)
def test_an_output_that_is_nothing_but_code(output: str, broken: bool | None) -> None:
    assert syntax(output).broken is broken


def test_one_broken_block_is_enough_and_named() -> None:
    found = syntax("```python\nx = 1\n```\n\n```json\n{\n```\n")
    assert found == (True, "block 2 (json) does not parse")


def test_a_language_without_a_parser_is_not_judged() -> None:
    assert syntax("```cobol\nIDENTIFICATION DIVISION.\n```") == (None, "no parser for cobol")
    assert not has_syntax_errors("```cobol\n((\n```")


def test_without_the_extra_the_reason_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import import_module

    module = import_module("rubrica.judges.fitness.detectors.syntax")
    monkeypatch.setattr(module, "parser", lambda _language: None)
    assert syntax("```go\nfunc f( {\n```") == (None, "go needs rubrica[code]")
    assert syntax("```python\nx = (\n```").broken is True


def test_a_grammar_that_is_not_installed() -> None:
    assert trees.parser("klingon") is None


@pytest.mark.parametrize("language", ["typescript", "java", "rust", "go", "yaml", "sql", "python"])
@pytest.mark.parametrize(
    "piece", ["a<b,", "(", "{", "<a ", '"a\n', "if (", "/*", "- ", "a: &a [*a,"]
)
def test_hostile_code_is_given_up(language: str, piece: str) -> None:
    code = piece * (30_000 // len(piece))
    began = time.monotonic()
    syntax(f"```{language}\n{code}\n```")
    assert time.monotonic() - began < 30  # limits of its own: 2 s, on a busy machine more


def test_what_is_too_long_is_not_judged() -> None:
    assert syntax("```python\n" + "x = 1\n" * 10_000 + "```").broken is None


def test_nothing_is_evaluated() -> None:
    assert syntax("```python\nraise SystemExit(1)\n```").broken is False
    assert syntax("```sql\nATTACH 'x.db' AS x; PRAGMA user_version = 3;\n```").broken is not True
