"""Extract the answer: outside the thinking, inside the last box or tag."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.judges.answer_extraction import find_boxed, find_tagged, remove_thinking

steady = settings(deadline=None)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"so \boxed{42}.", "42"),
        (r"\boxed{  42 }", "42"),
        (r"\boxed{1} and then \boxed{2}", "2"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\frac{1}{\sqrt{2}}} is near", r"\frac{1}{\sqrt{2}}"),
        (r"\boxed{{{5}}}", "{{5}}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed{\left\{ x \right.}", r"\left\{ x \right."),
        (r"\fbox{7}", "7"),
        (r"\boxed{1} \fbox{2}", "2"),
        (r"\fbox{1} \boxed{2}", "2"),
        (r"\boxed 5", "5"),
        (r"\boxed 5 apples", "5"),
        (r"\fbox 5", "5"),
        (r"\boxed{4} or \boxed 5", "5"),
        (r"\boxed 4 or \boxed{5}", "5"),
        (r"\boxed x", "x"),
        (r"\boxed\pi", r"\pi"),
        ("\\boxed {5}", "5"),
        ("\\boxed{a\nb}", "a\nb"),
        (r"outer \boxed{a \boxed{5} b}", "5"),
        (r"\boxed{}", ""),
        (r"\boxed{5} then \boxed{ }", ""),
        (r"{ { \boxed{5}", "5"),
        (r"\boxed{5} } } {", "5"),
        (r"\boxed{分数}", "分数"),
        ("\\boxed{\x00}", "\x00"),
    ],
)
def test_finds_the_last_box(text: str, content: str) -> None:
    assert find_boxed(text) == content


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "boxed{42}",
        r"\boxed",
        r"\boxed{42",
        r"\boxed{\frac{1}{2}",
        r"\boxed{5\}",
        r"\boxedtext{42}",
        r"\unboxed{42}",
        r"\box{42}",
        "\\boxed   ",
    ],
)
def test_returns_none_without_a_box(text: str) -> None:
    assert find_boxed(text) is None


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{1} and \boxed{2", "1"),
        (r"\boxed{1} and \boxed{\frac{2}{3}", "1"),
        (r"\boxed{ {1} and \boxed{2}", "2"),
        (r"\boxed{1} and \boxed", "1"),
    ],
)
def test_a_box_without_closing_brace_is_ignored(text: str, content: str) -> None:
    assert find_boxed(text) == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{1} \boxed{2}", "1"),
        (r"\boxed{1 \boxed{2}", "2"),
        (r"\boxed{a \boxed{5} b}", r"a \boxed{5} b"),
        (r"\boxed{} \boxed{2}", ""),
        (r"\boxed 1 \boxed{2}", "1"),
        ("none", None),
    ],
)
def test_finds_the_first_box(text: str, content: str | None) -> None:
    assert find_boxed(text, "first") == content


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (r"\boxed{1} \fbox{2}", "1"),
        (r"\boxed{1} \boxed 2", "1"),
        (r"\fbox{2}", None),
        (r"\boxed 2", None),
        (r"\fbox{ \boxed{3} }", "3"),
    ],
)
def test_forms_braces_accepts_only_boxed_with_braces(text: str, content: str | None) -> None:
    assert find_boxed(text, forms="braces") == content


plain = st.text(st.characters(exclude_characters="\\{}", exclude_categories=["Cs"]), max_size=20)
balanced = st.recursive(
    plain, lambda inner: st.lists(inner | inner.map("{{{}}}".format), max_size=3).map("".join)
)


@steady
@given(plain, st.lists(balanced, min_size=1, max_size=4), plain)
def test_finds_any_content_with_balanced_braces(
    before: str, contents: list[str], after: str
) -> None:
    text = before + " and ".join(f"\\boxed{{{content}}}" for content in contents) + after
    assert find_boxed(text) == contents[-1].strip()
    assert find_boxed(text, "first") == contents[0].strip()


@steady
@given(st.lists(st.sampled_from(["\\", "{", "}", "\\boxed", "\\fbox", " ", "5", "a"]), max_size=12))
def test_the_content_is_a_stripped_piece_of_the_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = [find_boxed(text), find_boxed(text, "first"), find_boxed(text, forms="braces")]
    for content in found:
        assert content is None or (content in text and content == content.strip())
    assert (found[0] is None) == (found[1] is None)
    assert found[0] is not None or found[2] is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("no thinking", "no thinking"),
        ("<think>hm</think>answer", "answer"),
        ("before<think>hm</think>after", "beforeafter"),
        ("<think>a</think>b<think>c</think>d", "bd"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("<think></think>", ""),
        ("the template wrote the tag</think>answer", "answer"),
        ("<think>cut off in the middle of", ""),
        ("answer<think>and cut off", "answer"),
        ("<thinking>kept</thinking>", "<thinking>kept</thinking>"),
        ("", ""),
    ],
)
def test_removes_thinking(text: str, kept: str) -> None:
    assert remove_thinking(text) == kept


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("<answer> 1 + 2 </answer>", "1 + 2"),
        ("<answer>1</answer><answer>2</answer>", "2"),
        ("<answer>1</answer> <answer>2", "1"),
        ("<answer><answer>1</answer>", "1"),
        ("<answer></answer>", ""),
        ("<answer>1", None),
        ("1</answer>", None),
        ("</answer><answer>", None),
        ("", None),
    ],
)
def test_finds_the_last_complete_tag(text: str, content: str | None) -> None:
    assert find_tagged(text) == content


def test_finds_a_tag_of_another_name() -> None:
    assert find_tagged("<equation>1</equation><answer>2</answer>", "equation") == "1"


MANY = 100_000


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("\\boxed{" * MANY, None),
        ("\\boxed" + "{" * MANY, None),
        ("\\boxed" + "{" * MANY + "7" + "}" * MANY, "{" * (MANY - 1) + "7" + "}" * (MANY - 1)),
        ("\\boxed{" * MANY + "7" + "}" * MANY, "7"),
        ("\\boxed{" * MANY + "}", ""),
        ("\\boxed " * MANY + "7", "7"),
        ("\\" * MANY + "{" * MANY, None),
        ("\\boxed{7}" + "}" * MANY, "7"),
        ("\\boxed{7}" + " x" * 5_000_000, "7"),  # 10 MB
        (" x" * 1_000_000 + "\\boxed{7}" + "{" * 1_000_000, "7"),
        ("\\boxed\\frac" + "{1}" * MANY, "\\frac" + "{1}" * MANY),
    ],
    ids=range(11),
)
def test_finds_boxes_in_huge_hostile_texts(text: str, content: str | None) -> None:
    assert find_boxed(text) == content


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>" * MANY, ""),
        ("</think>" * MANY + "a", "a"),
        ("<think>" * MANY + "</think>" * MANY + "a", "a"),
        ("<think></think>a" * 60_000, "a" * 60_000),
        ("<think></think>a" * MANY, "a" * 62_500),  # of the last million characters
        ("<think>" + "x" * 2_000_000 + "</think>7", "7"),
        ("<think>" + "x" * 2_000_000, ""),
        ("<" * MANY, "<" * MANY),
    ],
    ids=range(8),
)
def test_removes_thinking_from_huge_hostile_texts(text: str, kept: str) -> None:
    assert remove_thinking(text) == kept
