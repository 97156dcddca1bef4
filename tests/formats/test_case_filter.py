"""Which cases: tags, equality, expressions that never run code, limits and samples."""

import builtins
import os
import pickle
import random
from itertools import count, islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import Case, ConfigError
from fourscore.formats.case_filter import CaseFilter, take_first, take_sample
from fourscore.formats.filter_expression import MAX_DEPTH, compile_expression

CASE = Case(
    id="q1",
    input={"question": "2 + 2?", "parts": [1, 2]},
    expected={"answer": "4"},
    tags=("math", "easy"),
    complexity="simple",
    metadata={"level": 3, "ok": True, "none": None, "my key": "x", "a.b": 1, "id": "inner"},
)
BARE = Case(id="bare", input="x")


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({}, True),
        ({"tags_any": ("math", "prose")}, True),
        ({"tags_any": ["prose"]}, False),
        ({"tags_all": ("math", "easy")}, True),
        ({"tags_all": ("math", "hard")}, False),
        ({"tags_not": ("hard",)}, True),
        ({"tags_not": ("hard", "easy")}, False),
        ({"tags_any": ("math",), "tags_not": ("math",)}, False),
        ({"where": {"complexity": "simple", "level": 3}}, True),
        ({"where": {"level": 3.0}}, True),
        ({"where": {"level": "3"}}, False),
        ({"where": {"ok": True}}, True),
        ({"where": {"ok": 1}}, False),
        ({"where": {"none": None}}, True),
        ({"where": {"absent": None}}, False),
        ({"where": {"task_type": None}}, False),
        ({"where": {"tags": ["math", "easy"]}}, True),
        ({"where": {"tags": ["easy", "math"]}}, False),
        ({"where": {"expected": {"answer": "4"}}}, True),
        ({"where": {"expected.answer": "4"}}, True),
        ({"where": {"expected.answer.more": "4"}}, False),
        ({"where": {"input.parts": [1, 2]}}, True),
        ({"where": {"input.parts": [True, 2]}}, False),
        ({"where": {"a.b": 1}}, True),
        ({"where": {"id": "q1", "metadata.id": "inner"}}, True),
        ({"expression": "level >= 3", "where": {"level": 4}}, False),
    ],
)
def test_filter_matches_tags_and_fields(chosen: dict[str, Any], expected: bool) -> None:
    assert CaseFilter(**chosen).matches(CASE) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('complexity == "simple" and "math" in tags', True),
        ("complexity == 'hard' or level >= 3", True),
        ("not (level == 3)", False),
        ("1 < level < 5", True),
        ("1 < level < 3", False),
        ("level > -1 and level in [1, 2, 3]", True),
        ("level not in (1, 2)", True),
        ("level in {3}", True),
        ("'hard' not in tags", True),
        ("tags == ['math', 'easy']", True),
        ("tags[0] == 'math' and tags[-1] == 'easy'", True),
        ("tags[2] == 'math'", False),
        ("expected.answer == '4'", True),
        ("input.question != '' and '2' in input.question", True),
        ("input['parts'][1] == 2", True),
        ("metadata['my key'] == 'x' and metadata.id == 'inner'", True),
        ("'level' in metadata", True),
        ("ok", True),
        ("ok == true and ok == True", True),
        ("ok == 1 or ok > 0 or level == true", False),
        ("none == null and none == None", True),
        ("absent == null", False),
        ("absent != 1", False),
        ("absent not in [1]", False),
        ("absent in [absent]", False),
        ("absent.more.still == 1", False),
        ("not absent", True),
        ("absent", False),
        ("level < 'a' or level > 'a' or 'a' > level", False),
        ("level in 'text' or level not in level or 1 in level", False),
        ("1 in metadata", False),
        ("level", True),
        ("level == 3.0", True),
        ("id == 'q1'", True),
        ("task_type == 'x'", False),
        ("level < 1e999 and level > -1e999", True),
    ],
)
def test_expression_matches_cases(text: str, expected: bool) -> None:
    assert compile_expression(text)(CASE) is expected
    assert compile_expression(f"  {text}\n")(BARE) in (True, False)


ATTACKS = [
    "__import__('os').system('touch owned')",
    "().__class__.__bases__[0].__subclasses__()",
    "input.__class__",
    "__builtins__",
    "metadata.__init__.__globals__",
    "open('owned', 'w')",
    "level()",
    "tags.append('x')",
    "tags.append",
    "(lambda: 1)()",
    "lambda: 1",
    "[x for x in tags]",
    "{x for x in tags}",
    "{x: 1 for x in tags}",
    "any(x for x in tags)",
    "(x := 1)",
    "9 ** 9 ** 9 ** 9",
    "2 ** 100000000",
    "'a' * 10 ** 10",
    "level + 1 == 4",
    "1 << 10 ** 9",
    "~level",
    "+level",
    "-tags",
    "-'a'",
    "f'{level}'",
    "f'{open(1)}'",
    "'%s' % level",
    "level if ok else 1",
    "await level",
    "(yield)",
    "*tags",
    "[*tags]",
    "{**metadata}",
    "{'a': 1}",
    "tags[0:1]",
    "tags[level]",
    "tags[True]",
    "tags[1.5]",
    "level is 3",
    "level is not None",
    "b'x' == level",
    "1j == level",
    "... == level",
    "import os",
    "x = 1",
    "level == 3; open('owned', 'w')",
    "level == 3\nopen('owned', 'w')",
    "del level",
    "",
    "   ",
    "level ==",
    "'\\d' == level",
    "1if level else 2",
    "\x00",
    "level == 3 # " + "x" * 3000,
    "(" * 150 + "level" + ")" * 1500,
    "(" * 900 + "level" + ")" * 900,
    "[" * 150 + "level" + "]" * 150,
    "not " * 490 + "level",
    "-" * 1900 + "1",
    "a" + ".b" * 900,
    "a" + "[0]" * 600,
    "a == " * 300 + "(" * 100,
    "9" * 1999,
    "9" * 5000,
]


@pytest.mark.parametrize("text", ATTACKS, ids=range(len(ATTACKS)))
def test_malicious_expression_is_refused_or_read_as_a_key(
    text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.chdir(tmp_path)

    def never(*_: object, **__: object) -> None:
        raise AssertionError("code was run")

    with monkeypatch.context() as patch:
        for name in ("eval", "exec", "open"):
            patch.setattr(builtins, name, never)
        patch.setattr(os, "system", never)
        try:
            test = compile_expression(text)
        except ConfigError as error:
            refusal: ConfigError | None = error
        else:
            refusal = None
            outcome = test(CASE)
    if refusal is not None:
        assert refusal.field == "expression"
        assert refusal.message
    else:  # a key that no case has, or a number
        assert text in ("tags.append", "9" * 1999)
        assert outcome is (text[0] == "9")
    assert list(tmp_path.iterdir()) == []


def test_error_names_the_problem_and_the_column() -> None:
    for text, words in {
        "level == open(1)": "a call is not part of the language (column 10)",
        "level + 1": "arithmetic is not part of the language (column 1)",
        "input.__class__": "__class__ is not a name of the language (column 1)",
        "level is 3": "compare with ==, not with is",
        "level =": "not an expression: invalid syntax",
        "x" * 2001: "longer than 2000 characters",
        "not " * (MAX_DEPTH + 1) + "x": f"nested more than {MAX_DEPTH} deep",
    }.items():
        with pytest.raises(ConfigError) as caught:
            CaseFilter(expression=text)
        assert caught.value.message.startswith(words)


@given(text=st.text(max_size=30) | st.text("leva.[]()'\"=<>!andortin0123 -*_", max_size=40))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    try:
        test = compile_expression(text)
    except ConfigError:
        return
    assert test(CASE) in (True, False)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3),
    max_leaves=5,
)


@given(value=json_values.filter(lambda v: v != float("inf") and v != float("-inf")))
def test_every_value_equals_itself(value: Any) -> None:
    try:
        case = Case(id="a", input=1, metadata={"k": value})
    except ValueError:
        return  # an infinity inside
    assert CaseFilter(where={"k": value}).matches(case)
    assert compile_expression("k == k")(case)
    assert not compile_expression("k != k")(case)


@pytest.mark.parametrize(
    ("chosen", "field"),
    [
        ({"tags_any": "math"}, "tags_any"),
        ({"tags_not": (1,)}, "tags_not"),
        ({"where": [1]}, "where"),
        ({"where": {"a": float("nan")}}, "where.a"),
        ({"expression": "a ="}, "expression"),
    ],
)
def test_invalid_filter_fails_before_the_first_case(chosen: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as caught:
        CaseFilter(**chosen)
    assert caught.value.field == field


def test_filter_compares_by_value_and_pickles() -> None:
    chosen = CaseFilter(tags_any=("math",), where={"level": 3}, expression="level > 2")
    again = pickle.loads(pickle.dumps(chosen))
    assert again == chosen
    assert again.matches(CASE)


def numbered(n: int) -> list[Case]:
    return [Case(id=f"c{i}", input=i) for i in range(n)]


def test_a_limit_takes_the_first_and_reads_no_further() -> None:
    endless = (Case(id=str(i), input=i) for i in count())
    assert [case.id for case in take_first(endless, 3)] == ["0", "1", "2"]
    assert next(endless).id == "3"
    assert list(take_first(numbered(2), 5)) == numbered(2)
    assert list(take_first(numbered(2), 0)) == []


@given(n=st.integers(0, 60), size=st.integers(0, 70), seed=st.integers())
def test_sample_keeps_the_order_of_the_file(n: int, size: int, seed: int) -> None:
    cases = numbered(n)
    chosen = list(take_sample(cases, size, seed))
    assert len(chosen) == min(n, size)
    assert chosen == [case for case in cases if case in chosen]
    shuffled = random.Random(seed).sample(cases, n)
    assert {case.id for case in take_sample(shuffled, size, seed)} == {case.id for case in chosen}
    assert {case.id for case in take_sample(cases, size + 1, seed)} >= {case.id for case in chosen}


def test_a_sample_depends_on_the_seed_alone() -> None:
    assert [case.id for case in take_sample(numbered(1000), 5, seed=1)] == [
        case.id for case in take_sample(iter(numbered(1000)), 5, seed=1)
    ]
    one, other = ({c.id for c in take_sample(numbered(1000), 100, seed=s)} for s in (1, 2))
    assert len(one & other) < 40  # ten are expected by chance


def test_sample_is_uniform() -> None:
    times = dict.fromkeys((case.id for case in numbered(20)), 0)
    for seed in range(400):
        for case in take_sample(numbered(20), 5, seed):
            times[case.id] += 1
    assert all(50 < n < 160 for n in times.values())  # 100 expected, deviation 8.7


def test_sample_holds_n_cases_in_memory() -> None:
    class Passing:
        alive = most = 0

        def __init__(self, number: int) -> None:
            self.id = str(number)
            Passing.alive += 1
            Passing.most = max(Passing.most, Passing.alive)

        def __del__(self) -> None:
            Passing.alive -= 1

    stream: Any = map(Passing, range(500))
    assert len(list(take_sample(stream, 10, seed=0))) == 10
    assert Passing.most <= 13  # those kept, the one that comes and the one that goes


@pytest.mark.parametrize("take", [take_first, take_sample])
def test_negative_size_is_refused(take: Any) -> None:
    with pytest.raises(ConfigError, match="at least 0"):
        list(islice(take([], -1), 1))
