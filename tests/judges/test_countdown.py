"""`CountdownAnswerAsJudge`: an equation, parsed and never evaluated."""

import asyncio
import builtins
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.core import Case, CaseError, ConfigError, Rubric, Signal, Status, Trace, score
from fourscore.judges.agentjet import CountdownAnswerAsJudge
from fourscore.judges.countdown import CountdownJudge, NotAnEquationError, parse_equation
from fourscore.workflow import Task, WorkflowOutput, WorkflowTask

steady = settings(deadline=None)
NOTHING, FORMAT, CORRECT = (0.0, False), (0.1, False), (1.0, True)


def reward(
    answer: Any,
    target: Any = 24,
    nums: Any = (3, 8),
    config: dict[str, Any] | None = None,
) -> tuple[float, bool]:
    task = WorkflowTask(Task(metadata={"target": target, "nums": list(nums)}), task_id="t-1")
    output = WorkflowOutput(metadata={"final_answer": answer})
    return CountdownAnswerAsJudge(config).compute_reward(task, output)


def box(equation: str) -> str:
    return f"So \\boxed{{{equation}}}."


def signal_of(answer: str, target: Any = 24, nums: Any = (3, 8)) -> Signal:
    case = Case(input="q", metadata={"target": target, "nums": list(nums)})
    (signal,) = asyncio.run(CountdownJudge().judge(case, Trace(output=answer)))
    return signal


@pytest.mark.parametrize(
    ("equation", "target", "nums"),
    [
        ("3*8", 24, [3, 8]),
        ("8 * 3", 24, [3, 8]),
        ("(3)*(8)", 24, [3, 8]),
        ("((3*8))", 24, [3, 8]),
        ("3*8 = 24", 24, [3, 8]),
        ("3*8=48/2", 24, [3, 8]),
        (r"3/8 = \frac{3}{8}", 0.375, [3, 8]),
        ("3-8 = -5", -5, [3, 8]),
        ("-3*-8", 24, [3, 8]),
        ("--3*8", 24, [3, 8]),
        ("-(3-8)", 5, [3, 8]),
        ("8/(3-8/3)", 24, [3, 3, 8, 8]),
        ("1/3*3", 1, [1, 3, 3]),
        ("2-3-4", -5, [2, 3, 4]),
        ("8/4/2", 1, [2, 4, 8]),
        ("2+3*4", 14, [2, 3, 4]),
        ("0*5", 0, [0, 5]),
        ("7", 7, [7]),
        ("3*8", "24", [3, 8]),
        ("3*8", 24.0, [3, 8]),
        ("1/2", 0.5, [1, 2]),
        ("1/10+2/10", 0.3, [1, 2, 10, 10]),
    ],
)
def test_a_correct_equation_earns_the_full_score(
    equation: str, target: Any, nums: list[int]
) -> None:
    assert reward(box(equation), target, nums) == CORRECT


@pytest.mark.parametrize(
    "spelling",
    [
        "3×8",
        "3·8",
        r"3 \times 8",
        r"3 \cdot 8",
        r"3\times8",
        r"\left(3\right) \times 8",
        r"\frac{3*8}{1}",
        r"3 \div \frac{1}{8}",
        "3÷(1÷8)",
        "3*8÷1",
        "1×3×8 = 24",
        r"3 \times 8 \div 1 = \frac{48}{2}",
        "−(−3)*8*1",
        "3\n*\t8*1",
    ],
)
def test_accepts_latex_and_unicode_operators(spelling: str) -> None:
    nums = [1, 3, 8] if "1" in spelling else [3, 8]
    assert reward(box(spelling), 24, nums) == CORRECT


@pytest.mark.parametrize(
    ("equation", "reason"),
    [
        ("3+8", "its value is 11, the target 24"),
        ("3/8", "its value is 3/8, the target 24"),
        ("3*8*1", "1 was not given"),
        ("24", "24 was not given"),
        ("3", "8 is left out"),
        ("3*8*8", "8 is used 2 times, given 1"),
        ("3*8/(8-8)", "8 is used 3 times, given 1"),
        ("3*8 = 25", "it claims to be 25, its value is 24"),
        ("3*8 = -24", "it claims to be -24, its value is 24"),
        (r"3*8 = \frac{24}{2}", "it claims to be 12, its value is 24"),
    ],
)
def test_a_wrong_equation_earns_the_format_score(equation: str, reason: str) -> None:
    assert reward(box(equation)) == FORMAT
    assert signal_of(box(equation)).reason == reason


@pytest.mark.parametrize("equation", ["5/(3-3)", r"\frac{5}{3-3}", "3/(3/(5-5))", "(5/0)*0"])
def test_a_division_by_zero_earns_the_format_score(equation: str) -> None:
    nums = [int(digit) for digit in equation if digit.isdigit()]
    assert reward(box(equation), 0, nums) == FORMAT
    assert signal_of(box(equation), 0, nums).reason == "it divides by zero"


def test_a_value_close_to_the_target_is_wrong() -> None:
    assert reward(box("1/3"), 0.333333333333333, [1, 3]) == FORMAT
    assert reward(box("10000000000000001*1"), 1e16, [1, 10**16 + 1]) == FORMAT


@pytest.mark.parametrize(
    "equation",
    [
        "",
        " ",
        "x",
        "three times eight",
        "3 times 8",
        "3*8 is 24",
        "3**8",
        "3//8",
        "3^8",
        "3%8",
        "3.0*8",
        "3*8.",
        "3e1",
        "3,8",
        "3 8",
        "3*",
        "*3",
        "3*(8",
        "3*8)",
        "()",
        "-",
        "3*8=",
        "=24",
        "3*8=24=24",
        "3*8=24.0",
        "3*8=2*12",
        "3*8=x",
        "3*8==24",
        "3_8",
        "0x18",
        "３*８",
        "٣*8",
        "3*8²",
        "3*8\x00",
        "3*8\ud800",
        r"\frac38",
        r"\frac{3}",
        r"\sqrt{9}*8",
        r"\timesx",
        "[3*8]",
        "__import__('os').system('true')",
        "3*8;3",
        "lambda: 24",
        "sum([3*8])",
        "3!*4",
    ],
)
def test_text_that_is_no_equation_earns_nothing(equation: str) -> None:
    assert reward(box(equation)) == NOTHING


@pytest.mark.parametrize("answer", ["", "3*8", "24", r"\boxed{3*8", "<answer>3*8", None, 24])
def test_an_answer_without_box_or_tag_earns_nothing(answer: Any) -> None:
    assert reward(answer) == NOTHING


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (r"\boxed{3+8} \boxed{3*8}", CORRECT),
        (r"\boxed{3*8} \boxed{3+8}", FORMAT),
        ("<answer>3*8</answer>", CORRECT),
        ("<answer>3+8</answer> <answer> 3*8 </answer>", CORRECT),
        (r"<answer>3+8</answer> \boxed{3*8}", CORRECT),
        (r"\boxed{3*8} <answer>3+8</answer>", CORRECT),
        (r"<think>\boxed{3*8}</think>", NOTHING),
        (r"<think>\boxed{3+8}</think><answer>3*8</answer>", CORRECT),
        (r"<think><answer>3*8</answer>", NOTHING),
        (r"\fbox{3*8}", CORRECT),
        (r"\boxed{\boxed{3*8}}", CORRECT),
    ],
)
def test_the_equation_is_in_the_last_box_else_in_the_last_tag(
    answer: str, verdict: tuple[float, bool]
) -> None:
    assert reward(answer) == verdict


@pytest.mark.parametrize(
    ("option", "answer"),
    [
        ({"box": "first"}, r"\boxed{3*8} \boxed{1}"),
        ({"box_forms": "braces"}, r"\boxed{3*8} \fbox{1}"),
        ({"think": "keep"}, r"<think>\boxed{3*8}</think>"),
    ],
)
def test_options_restore_the_original_agentjet_rules(option: dict[str, Any], answer: str) -> None:
    assert reward(answer) != CORRECT
    assert reward(answer, config=option) == CORRECT


def test_scores_are_options_and_only_the_correct_score_is_success() -> None:
    config = {"format_score": 0.2, "correct_score": 2}
    verdicts = [reward(answer, config=config) for answer in (box("3*8"), box("3+8"), "none")]
    assert verdicts == [(2.0, True), (0.2, False), (0.0, False)]
    assert reward(box("3+8"), config={"format_score": 1.0}) == (1.0, False)
    (signal,) = asyncio.run(
        CountdownJudge(correct_score=2).judge(
            Case(metadata={"target": 24, "nums": [3, 8]}), Trace(output=box("3*8"))
        )
    )
    assert (signal.value, signal.reward) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"fromat_score": 0.2}, r"fromat_score: unknown key; did you mean format_score\?"),
        ({"format_score": "much"}, "format_score: "),
        ({"think": "maybe"}, "think: "),
    ],
)
def test_the_error_for_a_wrong_option_names_it(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=rf"^judge_options\.{message}"):
        CountdownAnswerAsJudge(config)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_score_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(ConfigError, match=r"format_score: .* is not a finite number"):
        CountdownAnswerAsJudge({"format_score": number})


# The puzzle.


@pytest.mark.parametrize(
    ("task", "output"),
    [
        ({"target": 24, "nums": [3, 8]}, {}),
        ({"target": 24, "numbers": [3, 8]}, {}),
        ({}, {"target": 24, "nums": [3, 8]}),
        ({}, {"target": 24, "numbers": [3, 8]}),
        ({"target": 24}, {"nums": [3, 8]}),
        ({"target": 24, "nums": [3, 8]}, {"target": 1, "nums": [1]}),
        ({"target": 24, "numbers": [3, 8]}, {"nums": [1]}),
        ({"target": None, "nums": None}, {"target": 24, "nums": [3, 8]}),
        ({"target": 24, "nums": (8, 3)}, {}),
    ],
)
def test_reads_the_puzzle_from_the_task_else_from_the_output(
    task: dict[str, Any], output: dict[str, Any]
) -> None:
    verdict = CountdownAnswerAsJudge(None).compute_reward(
        WorkflowTask(Task(metadata=task)),
        WorkflowOutput(metadata={"final_answer": box("3*8"), **output}),
    )
    assert verdict == CORRECT


@pytest.mark.parametrize(
    ("metadata", "key"),
    [
        ({"nums": [3, 8]}, "metadata.target"),
        ({"target": "two dozen", "nums": [3, 8]}, "metadata.target"),
        ({"target": "1e999999999", "nums": [3, 8]}, "metadata.target"),
        ({"target": True, "nums": [3, 8]}, "metadata.target"),
        ({"target": [24], "nums": [3, 8]}, "metadata.target"),
        ({"target": float("nan"), "nums": [3, 8]}, "metadata.target"),
        ({"target": 24}, "metadata.nums"),
        ({"target": 24, "nums": []}, "metadata.nums"),
        ({"target": 24, "nums": "3 8"}, "metadata.nums"),
        ({"target": 24, "nums": ["three", 8]}, "metadata.nums"),
        ({"target": 24, "nums": [3.5, 8]}, "metadata.nums"),
        ({"target": 24, "nums": [True, 8]}, "metadata.nums"),
    ],
)
def test_a_task_without_puzzle_is_a_case_error_that_names_the_task(
    metadata: dict[str, Any], key: str
) -> None:
    task = WorkflowTask(Task(metadata=metadata), task_id="t-9")
    output = WorkflowOutput(metadata={"final_answer": box("3*8")})
    with pytest.raises(CaseError) as caught:
        CountdownAnswerAsJudge(None).compute_reward(task, output)
    assert (caught.value.case_id, caught.value.key) == ("t-9", key)
    assert CountdownAnswerAsJudge({"on_error": "zero"}).compute_reward(task, output) == NOTHING


def test_a_missing_puzzle_is_a_judge_error_not_a_zero() -> None:
    case = Case(id="t", input="q")
    (one,) = asyncio.run(score(Rubric.from_judge(CountdownJudge()), case, [Trace(output=box("1"))]))
    assert (one.status, one.reward) == (Status.JUDGE_ERROR, None)
    assert (
        one.reason == "countdown: task 't': metadata.target: missing in the task and in the output"
    )


# Limits.


def test_refuses_more_than_200_characters() -> None:
    longest = "(" * 99 + "24" + ")" * 99
    assert len(longest) == 200
    assert reward(box(longest), 24, [24]) == CORRECT
    assert reward(box(f"-{longest}"), -24, [24]) == NOTHING
    assert "200" in signal_of(box(f"-{longest}"), -24, [24]).reason


def test_refuses_more_than_64_numbers_and_operators() -> None:
    ones = "+".join("1" * 32)  # 32 numbers and 31 signs
    assert reward(box(f"-{ones}"), 30, [1] * 32) == CORRECT
    assert reward(box(f"--{ones}"), 32, [1] * 32) == NOTHING
    assert "64" in signal_of(box(f"--{ones}"), 32, [1] * 32).reason


# Against another arithmetic.

Tree = tuple[str, list[int], Fraction | None]


@st.composite
def combine_trees(draw: st.DrawFn, inner: st.SearchStrategy[Tree]) -> Tree:
    left, left_numbers, left_value = draw(inner)
    kind = draw(st.sampled_from(["+", "-", "−", "*", "×", r"\times ", "/", "÷", "frac", "neg"]))
    if kind == "neg":
        return f"(-{left})", left_numbers, None if left_value is None else -left_value
    right, right_numbers, right_value = draw(inner)
    text = f"\\frac{{{left}}}{{{right}}}" if kind == "frac" else f"({left} {kind}{right})"
    value = None
    if left_value is not None and right_value is not None:
        match kind:
            case "+":
                value = left_value + right_value
            case "-" | "−":
                value = left_value - right_value
            case "*" | "×" | r"\times ":
                value = left_value * right_value
            case _:
                value = left_value / right_value if right_value else None
    return text, left_numbers + right_numbers, value


leaves: st.SearchStrategy[Tree] = st.integers(0, 12).map(lambda n: (str(n), [n], Fraction(n)))
trees = st.recursive(leaves, combine_trees, max_leaves=7).filter(lambda tree: len(tree[0]) <= 150)


@steady
@given(trees, st.randoms())
def test_random_equations_agree_with_fraction_arithmetic(tree: Tree, random: Any) -> None:
    text, numbers, value = tree
    equation = parse_equation(text)
    assert equation.value == value
    assert list(equation.numbers) == numbers
    nums = list(numbers)
    random.shuffle(nums)
    if value is None:
        assert reward(box(text), 0, nums) == FORMAT
    elif value.denominator == 1:
        assert reward(box(text), int(value), nums) == CORRECT
        assert reward(box(f"{text} = {value}"), int(value), nums) == CORRECT
        assert reward(box(f"{text} = {value + 1}"), int(value), nums) == FORMAT
        assert reward(box(text), int(value) + 1, nums) == FORMAT
        assert reward(box(text), int(value), [*nums, 1]) == FORMAT


flat = st.lists(st.tuples(st.sampled_from("+-*/"), st.integers(1, 9)), min_size=1, max_size=8).map(
    lambda pairs: "".join(f"{sign}{number}" for sign, number in pairs)[1:]
)


@steady
@given(flat)
def test_precedence_and_brackets_agree_with_python(text: str) -> None:
    numbers = [number for number in text if number.isdigit()]
    exact = text
    for number in set(numbers):
        exact = exact.replace(number, f"Fraction({number})")
    assert parse_equation(text).value == eval(exact)  # ours, written above


@steady
@given(st.text(st.sampled_from("0123456789+-*/()=. \\{}×"), max_size=40))
def test_any_text_gets_one_of_three_scores(text: str) -> None:
    assert reward(f"<answer>{text}</answer>") in (NOTHING, FORMAT, CORRECT)


def refuse(*_: object, **__: object) -> None:
    raise AssertionError("something was evaluated")


@pytest.mark.parametrize(
    "hostile",
    [
        box("9**9**9**9**9"),
        box("((9^9)^9)^9"),
        box("__import__('pathlib').Path('ran').touch()"),
        box("().__class__.__base__.__subclasses__()"),
        box("exec(\"open('ran', 'w')\")"),
        "\\boxed{" * 100_000,
        "\\boxed" + "{" * 100_000,
        box("(" * 100_000),
        box("-" * 100_000 + "3"),
        box("\\frac{" * 30_000),
        box("9" * 10_000_000),
        box("3*8" + " " * 10_000_000 + "+"),
        "x" * 10_000_000,
        "<answer>" * 100_000,
        box("３×８"),
        box("3*8\x00"),
        box("3*\ud8008"),
        box("3\u200b*8"),
        box("3\u00a0*8"),
    ],
    ids=range(19),
)
def test_hostile_answers_get_a_verdict_and_run_nothing(
    hostile: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for word in ("eval", "exec", "compile", "__import__"):
        monkeypatch.setattr(builtins, word, refuse)
    verdict = reward(hostile)
    monkeypatch.undo()
    assert verdict == NOTHING
    assert list(tmp_path.iterdir()) == []


def test_the_judge_compares_and_pickles_by_value() -> None:
    judge = CountdownJudge(format_score=0.2)
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert judge.names == ("countdown",)
    assert judge.runs == "inline"


@pytest.mark.parametrize(
    "equation",
    ["$25-1$", r"\(25-1\)", r"\[25-1\]", "$$25-1$$", "25–1", "+25-1", "25-(+1)", "$25-1=24$"],
)
def test_reads_equations_as_models_write_them(equation: str) -> None:
    assert parse_equation(equation).value == 24


@pytest.mark.parametrize("equation", ["4(6)", "(4)(6)", "(2)(3)(4)", "4*(6)"])
def test_a_number_before_a_bracket_is_multiplied(equation: str) -> None:
    assert parse_equation(equation).value == 24


def test_a_number_after_a_bracket_is_no_equation() -> None:
    with pytest.raises(NotAnEquationError):
        parse_equation("(2+2)6")
