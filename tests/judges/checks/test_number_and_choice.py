"""Numbers and letters as models write them: none is taken for another, few are missed."""

import json
from typing import Any

import pytest
from tests.linear import assert_linear

from fourscore import Case, Trace
from fourscore.core import CaseError
from fourscore.judges.checks.case_checks import make_check
from fourscore.judges.checks.choice import find_choice
from fourscore.judges.checks.number import find_numbers

#: entry of a case, answers that pass, answers that fail
NUMBERS: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (
        {"number": 42},
        [
            *(
                "答案是42",
                "共42个苹果",
                "价格为42元",
                "第42页",
                "答えは42です",
                "답은 42입니다",
                "답은42",
            ),
            *("答案是４２。", "答案是**42**。", "答案：42", "6×7=42", "42千米", "42.", "40，42"),
            *("_42_", "__42__", "*42*", "`42`", r"$42$", r"\boxed{42}", r"\(42\)"),
            *("42 [1]", "42.[^1]", "**42** [1][2]", "42 left", "[42]"),
        ],
        [
            *("x等于-42", "-**42**", "-$42$", "$-42$", "42 billion", "42M", "42K", "42k", "42万"),
            *("42亿", "**42** million", "**42**万", "42百万", "42 hundred thousand", "42-thousand"),
            *("42, not 1e400", "1e400", "4" * 500, "42²", "√42", r"\sqrt{42}", "42π", "1/42"),
            *(
                "1,42",
                "40,42",
                "1.42.42",
                "10:42",
                "42-42-42",
                "42/3/42",
                "百分之42",
                r"\frac{x}{42}",
            ),
            *("x_42", "42/0", "42^99999", "https://a.b/42", "-€42", "42 ‰", "1 42/50"),
        ],
    ),
    (
        {"number": 1000000},
        ["$1 million", "1 million dollars", "100万", "1M", "1百万", "10^6", "1,000,000"],
        ["1", "100", "1 thousand"],
    ),
    (
        {"number": 0.42},
        [
            *(r"42\%", r"$42\%$", "42 percent", "42 per cent", "42\u202f%", "42 %", "**42** %"),
            *("百分之42", "42％", "420‰", "42 percentage points", "42 percent以上"),
        ],
        ["42", "42‰", "4.2%"],
    ),
    ({"number": 0.042}, ["42‰", "42 per mille"], ["42%"]),
    (
        {"number": "5 km"},
        [
            *(r"$5\,\text{km}$", r"$5~\mathrm{km}$", "$5$ km", "5 KM", "5 kilometers", "5-km"),
            *("5 of them", "5 left", "5 and more", "5 in total", "5000 m", "**5** km", "5km左右"),
        ],
        [
            *("It is **5** miles away", "5 **miles**", "5 (miles)", "5-mile", r"5\,\text{m}"),
            *("$5", "5 km/h", "5 km²", "5 kg", "5 euros", "5 s"),
        ],
    ),
    (
        {"number": "$5"},
        ["$5", "5 dollars", "5 USD", "USD 5", "USD5", r"\$5", "500 cents"],
        ["€ 5", "€5"],
    ),
    ({"number": "$5"}, ["5", "**$5**", "$5.00"], ["5 euros", "EUR 5", "5 €", "-$5", "$5 million"]),
    ({"number": "5 m^2"}, ["5 m²", r"$5\,\mathrm{m}^{2}$", "5"], ["5 m", "5 cm²"]),
    ({"number": "5公里"}, ["5公里左右", "5"], ["5米"]),
    (
        {"number": 0.5},
        ["1/2", r"\frac{1}{2}", r"$\dfrac12$", "½", "1 / 2"],
        ["2", "1", "...5", "3\u00a01/2", "3 1/2", "3½"],
    ),
    ({"number": 3.5}, ["3 1/2", "3½", r"3\frac{1}{2}"], ["31/2"]),
    ({"number": 420}, ["4.2 × 10^2", r"$4.2 \times 10^{2}$", "4.2x10²", "4.2e2."], ["4.2", "10"]),
    ({"number": 0.001}, [r"$1 \times 10^{-3}$", "10⁻³", "1e-3"], ["1000"]),
    (
        {"number": 1234},
        ["$1{,}234$", r"1\,234", "1,234", "1_234", "1'234", "１，２３４"],
        ["1 23 4"],
    ),
    ({"number": -5}, ["-$5", "$-5", "−5", "-$5$", r"$-5$"], ["($5)", "5"]),
    ({"number": 10}, ["10"], ["10²", "10^2", "10**2"]),
    ({"number": 23}, ["23"], ["1,23", "1,23,234"]),
    ({"number": 23234}, ["23,234"], ["1,23,234"]),
    ({"number": 1.5}, ["1.5"], ["version 1.5.2", "v1.5.2", "1,5"]),
    ({"number": 2000}, ["2千"], ["4万2千"]),
    ({"number": 3456}, ["3456"], ["12万3456"]),
    ({"number": 0.42}, [".42"], ["No.42"]),
    (
        {"number": 5},
        ["5", "5日", "第5月"],
        ["2024年3月5日", "3月5日", "2024-03-05", "05/03/5", "version 1.5.2", "2024-03-05T05"],
    ),
]

REFUSED = [
    *("B is incorrect.", "Option B is wrong.", "It cannot be B.", "B is not the answer"),
    *(
        "I don't think it is B",
        "I don't think it is B.",
        "Answer: None. B is wrong",
        "不选B",
        "不能选B",
    ),
    *("The answer is B. Actually, no. It's D.", "The answer is B. Actually, no.", "**B** is wrong"),
    *("(B) is clearly incorrect", "B isn't right.", "I don't think the answer is B.", "答案不是B"),
    *(
        "The wrong answer is B.",
        "不选A和B",
        "选项B错误",
        "B不对",
        "B选项是错的",
        "排除B",
        "not A, B or C",
    ),
    *(
        "C rather than B",
        "I doubt it is B.",
        "There is no way it's B.",
        "If B is correct, so is C.",
    ),
    *(
        "答案不是B，而是C",
        "The answer is not B but C",
        "选C不选B",
        "I'd rule out A, B.",
        "It's B or C.",
    ),
    *("The answer B is wrong", "Answer: B is wrong", "B can't be right", "A, C, D leave nothing"),
    *("The answer is B. No, wait.", "Neither A nor B", "B and C", "A\nB\nC\nD", "A: yes\nB: no"),
]
CHOSEN = {
    "B": [
        *(
            "选项B正确",
            "B是正确的",
            "正确的是B",
            "我认为是B",
            "应该选择B选项",
            "The answer is 'B'",
            "选B不选A",
        ),
        *("B\n\nA: London is in the UK\nC: no", "Eliminating A, C, and D leaves B.", "B\n\nC. no"),
        *("I'd go with B, though A is tempting.", "B is correct.", "I have no doubt it's B."),
        *(
            "A is not correct, so the answer is B.",
            "The answer is not A but B.",
            "B选项正确。",
            "选“B”",
        ),
        *("A is wrong, B is right", "The answer is B, A is wrong", "不难看出选B", "“B”", "'B'"),
        *(
            "The answer is A. Actually, no. It's B.",
            "A isn't it. B is.",
            "**B** is correct",
            "答案是B选项",
        ),
        *(
            "The answer is B. It is A that is wrong.",
            "B: No",
            "It's B.",
            "B is right, others are wrong",
            "**Answer: B**\n\nNo, A is not.",
            "答えはBです",
            "(b)\n\nA. no\nC. no",
        ),
    ],
    "C": [
        "答案不是B，而是C",
        "The answer is C rather than B",
        "选C不选B",
        "B is wrong and C is right",
    ],
}


def test_chooses_the_letter_that_an_answer_says() -> None:
    chosen = {answer: find_choice(answer) for answers in CHOSEN.values() for answer in answers}
    wanted = {answer: {letter} for letter, answers in CHOSEN.items() for answer in answers}
    assert {one: chosen[one] for one in chosen if chosen[one] != wanted[one]} == {}


def test_never_chooses_a_letter_that_an_answer_refuses() -> None:
    chosen = {answer: find_choice(answer) for answer in REFUSED}
    assert {answer: one for answer, one in chosen.items() if one == {"B"}} == {}


@pytest.mark.parametrize(
    "run",
    ["B", "B ", "not A, ", "answer is B ", "it's B. ", "B\n", "no. ", "选", "不", "B is ", "*"],
)
def test_time_to_find_a_choice_is_linear(run: str) -> None:
    assert_linear(find_choice, run)


def _check(entry: dict[str, Any], answer: str) -> tuple[bool | None, str]:
    signal = make_check(next(iter(entry)), json.dumps(entry)).measure(
        Case(input="?"), Trace(output=answer)
    )
    return signal.passed, signal.reason


@pytest.mark.parametrize(("entry", "right", "wrong"), NUMBERS, ids=str)
def test_reads_numbers_as_models_write_them(
    entry: dict[str, Any], right: list[str], wrong: list[str]
) -> None:
    passing = {answer: _check(entry, answer) for answer in (*right, *wrong)}
    missed = {answer: passing[answer] for answer in right if not passing[answer][0]}
    mistaken = {answer: passing[answer] for answer in wrong if passing[answer][0] is not False}
    assert (missed, mistaken) == ({}, {})


@pytest.mark.parametrize(
    ("entry", "answer", "said"),
    [
        ({"number": "5 km"}, "5 miles", "has 5 miles, expected 5 km"),
        ({"number": 42}, "1,42", "'1,42' cannot be read as one number, expected 42"),
        ({"number": 42}, "42, not 1e400", "'1e400' is too large"),
    ],
)
def test_reason_names_unit_and_what_cannot_be_read(
    entry: dict[str, Any], answer: str, said: str
) -> None:
    assert said in _check(entry, answer)[1]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("so **42** km", "42"),
        (r"so $\frac{1}{2}$.", r"\frac{1}{2}"),
        (r"$42\%$", r"42\%"),
        ("共４２个", "４２"),
        (r"a \text{b} $1{,}234$ c", "1{,}234"),
    ],
)
def test_place_of_a_number_is_that_in_the_answer(text: str, shown: str) -> None:
    (found,) = find_numbers(text)
    assert text[found.start : found.end] == shown


@pytest.mark.parametrize("expected", ["1,5", "2024-03-05", "1e400"])
def test_expected_number_has_to_be_readable(expected: str) -> None:
    check = make_check("number", '{"number": true}')
    with pytest.raises(CaseError, match="expected one number"):
        check.measure(Case(input="?", expected=expected), Trace(output="3"))


@pytest.mark.parametrize(
    "run",
    ["1", "1,", "1-", "1 111 ", "$1", "$", "{", "*", "\\frac{1}{", "_", "a1.", "[1]", "1/", "42万"],
)
def test_time_to_find_numbers_is_linear(run: str) -> None:
    assert_linear(find_numbers, run)


def test_a_letter_in_long_thinking_is_not_chosen() -> None:
    thought = "<think>" + "hm " * 20_000 + "maybe the answer is B"
    assert find_choice(thought) == set()
    assert find_choice(f"{thought}</think>The answer is C.") == {"C"}
