"""Every plain check: what it accepts, what it refuses, and what a hostile answer cannot do."""

import asyncio
import json
from typing import Any

import pytest

from fourscore import Case, Trace
from fourscore.core import CaseError, ConfigError, ToolCall, Usage
from fourscore.judges.checks import CHECKS
from fourscore.judges.checks.case_checks import make_check
from fourscore.judges.checks.check import NotApplicable

FENCED = "Here it is:\n```json\n{}\n```\nDone."
TABLE = "| Name | Price |\n|---|---|\n| Tea | 3 |\n| Milk | 2 |"

#: entry of a case, answers that pass, answers that fail
TEXTS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"exact": "Rome"}, ["Rome", " Rome\n", "<think>Milan?</think>Rome"], ["rome", "Rome.", ""]),
    ({"exact": 3.10}, ["3.1"], ["3.10", "3"]),
    ({"exact": ["Rome", "Roma"]}, ["Roma"], ["Rome Roma"]),
    ({"one_of": ["yes", "no"]}, ["no"], ["maybe", "yes or no"]),
    ({"contains": "Rome"}, ["In Rome."], ["rome", "<think>Rome</think>Milan"]),
    ({"contains": ["tea", "milk"]}, ["milk and tea"], ["tea"]),
    ({"contains": ["tea", "milk"], "need": "any"}, ["tea"], ["water"]),
    ({"contains": ["tea", "milk"], "need": "none"}, ["water"], ["milk", "tea, milk"]),
    ({"contains": "ROME", "ignore_case": True}, ["rome"], ["Milan"]),
    ({"contains": "罗马"}, ["首都是罗马。"], ["首都是米兰。"]),
    ({"starts_with": "Dear"}, ["Dear Ann,", " Dear"], ["dear Ann", "Oh Dear"]),
    ({"starts_with": ["yes", "no"], "ignore_case": True}, ["No.", "YES"], ["maybe yes"]),
    ({"regex": r"\d{4}-\d\d"}, ["on 2024-05."], ["24-05", ""]),
    ({"regex": r"[A-Z]\w+", "whole": True}, ["Rome"], ["Rome!", "in Rome"]),
    ({"regex": ["a", "b"], "need": "none"}, ["xyz"], ["a", "ab"]),
    ({"regex": "(x+x+)+y"}, ["xxy"], ["x" * 100_000]),
    (
        {"equals_ignoring": "New York"},
        ["new-york", "ＮＥＷ ＹＯＲＫ", " NewYork! "],
        ["New York City", "York New"],
    ),
    ({"equals_ignoring": "ab", "ignore": ["case"]}, ["AB"], ["a b", "ab."]),
    ({"equals_ignoring": "你好，世界"}, ["你好世界!"], ["你好"]),
    ({"edit_similarity": "kitten", "at_least": 0.5}, ["sitting"], ["dog"]),
    ({"f1": "the Eiffel Tower", "at_least": 0.8}, ["Eiffel tower, Paris"], ["a tower"]),
    ({"f1": "罗马是首都"}, ["首都是罗马"], ["米兰"]),
    ({"exact_match": "the Eiffel Tower"}, ["Eiffel tower."], ["the Eiffel Tower in Paris"]),
    ({"rouge": "the cat sat on the mat"}, ["the cat sat on a mat"], ["dogs bark"]),
    ({"rouge": "the cat sat", "kind": "rouge2"}, ["the cat sat"], ["sat cat the"]),
    ({"rouge": "我爱北京", "kind": "rouge1"}, ["北京我爱"], ["上海很大"]),
    ({"bleu": "the cat sat on the mat"}, ["the cat sat on the mat"], ["the dog ran away"]),
    ({"bleu": "我 爱 北京天安门", "tokenize": "zh"}, ["我爱北京天安门"], ["上海很大"]),
    ({"chrf": "the cat"}, ["the cats"], ["dog"]),
]
NUMBERS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (
        {"number": 42},
        ["42", "It is 42.", "6*7=42", "42.0", "４２", "42 km", "$42", "between 40 and 42"],
        ["-42", "42%", "1,042", "420", "forty", "", "x42", "42, or 43", "<think>42</think>41"],
    ),
    ({"number": 42, "tolerance": 0.5}, ["42.5", "41.5"], ["42.6"]),
    ({"number": 200, "relative": 0.01}, ["202"], ["203"]),
    ({"number": 42, "which": "first"}, ["42 of 50"], ["50 of 42"]),
    ({"number": 42, "which": "only"}, ["42 and 42.0"], ["42 of 50"]),
    ({"number": 42, "which": "any"}, ["1, 42, 3"], ["1, 2, 3"]),
    ({"number": "5%"}, ["5%", "0.05", "5 %", "５％"], ["5", "50%"]),
    ({"number": 5, "percent": "either"}, ["5%", "5"], ["0.5"]),
    ({"number": "1234567.5"}, ["1,234,567.5", "1 234 567.5", "1.2345675e6"], ["1,234.5"]),
    ({"number": "5 km"}, ["5", "5 km", "5km"], ["5 m", "5 miles"]),
    ({"number": "3 apples"}, ["3 apple", "3 Apples"], ["3 pears"]),
    ({"number": -3}, ["−3", "-3", "(-3)"], ["3", "2-3"]),
    ({"number": ["1", "2"]}, ["2"], ["3"]),
]
CHOICES: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (
        {"choice": "B"},
        [
            *("B", "b", "(B)", "B.", "**B.** because of tea", "B) Tea", "`B`", "Ｂ"),
            *("The answer is B", "The correct answer is (B).", "Answer: **B**", "answer is b"),
            *(
                r"\boxed{B}",
                r"so $\boxed{\text{B}}$",
                "<answer>B</answer>",
                "<answer> (b) </answer>",
            ),
            *("答案是B", "答案：B", "选 B", "所以选B。", "正确选项是 B", "I choose option B."),
            *("A is wrong.\nThe answer is B.", "The answer is A. No: the answer is B."),
            *("B\n\nA is wrong because it rains.", "Final answer: B, not A", "<think>A</think>B"),
        ],
        [
            *("A", "C", "", "E", "Bob", "B2", "none of these", "ABCD"),
            *("A or B", "The answer is A or B", "The answer is B and C.", "答案是A或B"),
            *("A. Tea\nB. Milk\nC. Water\nD. Juice", "It could be A. It could be B."),
            *(
                "A number of people say so",
                "not B",
                r"\boxed{A}, or B",
                "The answer is B. Final: A",
            ),
            *("<answer>A</answer> B", "I am sure that it is not A."),
        ],
    ),
    ({"choice": ["A", "D"]}, ["D", "The answer is A."], ["B"]),
    ({"choice": "E", "letters": "ABCDE"}, ["E"], ["A"]),
]
STRUCTURES: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (
        {"json": True},
        ['{"a": 1}', "[]", "3", FENCED],
        ["{a: 1}", '{"a": 1, "a": 2}', "NaN", "", "[" * 100_000, '{"a": 1} and more'],
    ),
    (
        {"json": {"type": "object", "required": ["a"], "properties": {"a": {"pattern": "^x+$"}}}},
        ['{"a": "xx"}'],
        ['{"a": "y"}', "[]", "{}", json.dumps({"a": "x" * 50_000 + "y"})],
    ),
    ({"json": {"uniqueItems": True}}, ["[1, 2]"], ["[1, 1]", json.dumps([{}] * 50_000)]),
    ({"json": True, "path": "a[0].b", "equals": 1}, ['{"a": [{"b": 1}]}'], ['{"a": []}', "{}"]),
    ({"json": True, "path": "ok", "equals": True}, ['{"ok": true}'], ['{"ok": 1}']),
    ({"json": True, "find": "whole"}, ["{}"], [FENCED]),
    ({"json": True, "find": "fenced"}, [FENCED], ["{}"]),
    (
        {"xml": "a"},
        ["<a><b/></a>", "```xml\n<a/>\n```"],
        ["<b/>", "<a>", "text", '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'],
    ),
    ({"yaml": True}, ["a: 1", "- 1\n- 2"], ["text", "a: [", "a: 1\na: 2"]),
    (
        {"sql": True},
        ["SELECT a FROM b", "```sql\nDELETE FROM b WHERE c = 1;\n```", "CREATE TABLE t (a INT)"],
        ["hello", "SELEC * FRM x", "SELECT FROM WHERE", "(" * 5_000, ""],
    ),
    ({"sql": "postgres"}, ["SELECT a::int FROM b"], ["SELECT a FROM"]),
    (
        {"markdown_table": ["Name", "Price"], "min_rows": 2},
        [TABLE, f"See:\n\n{TABLE}\n\nDone."],
        ["Name, Price", TABLE.rpartition("\n")[0], TABLE.replace("Price", "Cost")],
    ),
    ({"markdown_table": 2}, [TABLE], ["| a |\n|---|\n| 1 |"]),
    ({"language": "en"}, ["This is an English sentence."], ["Dies ist ein deutscher Satz."]),
    (
        {"language": ["zh", "vi"]},
        ["这是一个中文句子。", "Đây là một câu tiếng Việt."],
        ["Plain English words and nothing else."],
    ),
    ({"length": 3}, ["one two three", "一二三"], ["one two three four"]),
    ({"length": 10, "min": 2, "unit": "characters"}, ["ab"], ["a", "a" * 11]),
    ({"length": 2, "unit": "sentences"}, ["One. Dr. Who came."], ["One. Two. Three."]),
]


@pytest.mark.parametrize(
    ("entry", "right", "wrong"), [*TEXTS, *NUMBERS, *CHOICES, *STRUCTURES], ids=str
)
def test_accepts_right_answers_and_refuses_wrong_ones(
    entry: dict[str, Any], right: list[str], wrong: list[str]
) -> None:
    check = make_check(next(key for key in entry if key in CHECKS), json.dumps(entry))
    case = Case(input="?")
    for answer in right:
        signal = check.measure(case, Trace(output=answer))
        assert signal.passed, (answer, signal.reason)
    for answer in wrong:
        signal = check.measure(case, Trace(output=answer))
        assert signal.passed is False, (answer, signal.reason)
        assert signal.reason


#: entry of a case, what a trace has, whether it passes; None: not applicable
RUNS: list[tuple[dict[str, Any], dict[str, Any], bool | None]] = [
    ({"latency": 2}, {"seconds": 1.9}, True),
    ({"latency": 2}, {"seconds": 2.1}, False),
    ({"latency": 2}, {}, None),
    ({"cost": 0.01}, {"usage": Usage(dollars=0.01)}, True),
    ({"cost": 0.01}, {"usage": Usage(dollars=0.02)}, False),
    ({"cost": 0.01}, {}, None),
    ({"tokens": 10}, {"usage": Usage(input_tokens=6, output_tokens=5)}, False),
    ({"tokens": 10, "count": "output"}, {"usage": Usage(input_tokens=6, output_tokens=5)}, True),
    ({"length": 5, "unit": "tokens"}, {"usage": Usage(output_tokens=6)}, False),
    ({"length": 5, "unit": "tokens"}, {}, None),
    ({"steps": 1}, {"steps": (ToolCall(name="a"),)}, True),
    ({"steps": 0}, {"steps": (ToolCall(name="a"),)}, False),
    ({"no_errors": True}, {"steps": (ToolCall(name="a", result="fine"),)}, True),
    ({"no_errors": True}, {"steps": (ToolCall(name="a", error="boom"),)}, False),
    ({"no_errors": True}, {}, None),
]


@pytest.mark.parametrize(("entry", "given", "passed"), RUNS, ids=str)
def test_checks_how_the_agent_ran(
    entry: dict[str, Any], given: dict[str, Any], passed: bool | None
) -> None:
    check = make_check(next(key for key in entry if key in CHECKS), json.dumps(entry))
    (signal,) = asyncio.run(check.judge(Case(input="?"), Trace(output="x", **given)))
    assert signal.passed is passed
    assert signal.reason


@pytest.mark.parametrize("name", ["exact", "contains", "number", "choice", "f1", "one_of"])
def test_compares_with_what_the_case_expects(name: str) -> None:
    check = make_check(name, json.dumps({name: True}))
    expected = "B" if name == "choice" else "42"
    case = Case(input="?", expected=[expected, expected])
    assert check.measure(case, Trace(output=expected)).passed
    with pytest.raises(NotApplicable, match="no expected answer"):
        check.measure(Case(input="?"), Trace(output="x"))


@pytest.mark.parametrize(
    ("entry", "field", "message"),
    [
        ({"number": "many"}, "number", "expected one number"),
        ({"regex": "(a"}, "regex", "no pattern"),
        ({"regex": r"(a)\1"}, "regex", "no pattern"),
        ({"choice": "Z"}, "choice", "none of ABCD"),
        ({"length": True}, "length", "expected max or min"),
        ({"json": {"type": "objekt"}}, "schema.type", "no JSON Schema"),
        ({"json": {"pattern": "(a"}}, "pattern", "no pattern"),
        ({"no_errors": 3}, "no_errors", "expected true"),
        ({"contains": "a", "ned": "all"}, "ned", "did you mean need"),
        ({"contains": "a", "need": "some"}, "need", "expected"),
        ({"language": "klingon"}, "language", "codes such as"),
        ({"sql": "nosql"}, "sql", "nosql"),
        ({"latency": -1}, "latency", "-1"),
        ({"f1": "x", "at_least": 2}, "at_least", "2"),
    ],
    ids=str,
)
def test_names_the_field_of_a_wrong_option(entry: dict[str, Any], field: str, message: str) -> None:
    name = next(key for key in entry if key in CHECKS)
    with pytest.raises(ConfigError) as caught:
        make_check(name, json.dumps(entry))
    assert message in caught.value.message
    assert field in (caught.value.field or "")


def test_expected_number_that_is_none_is_the_fault_of_the_case() -> None:
    check = make_check("number", '{"number": true}')
    with pytest.raises(CaseError, match="expected one number"):
        check.measure(Case(input="?", expected="many"), Trace(output="3"))
