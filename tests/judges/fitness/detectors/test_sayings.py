"""Answers, explanations and steps: what counts, what only looks like it."""

import pytest

from rubrica.judges.fitness.detectors import (
    has_code_block,
    has_direct_answer,
    has_explanation,
    has_next_steps,
)

PORT = "What is the default port of PostgreSQL?"


@pytest.mark.parametrize(
    ("request_", "output"),
    [
        (PORT, "5432."),
        (PORT, "5432. Is yours behind a proxy?"),
        (PORT, "It listens on 5432 unless you change it."),
        ("Fix the bug.", "Fixed: the loop now stops at n."),
        ("Did it work?", "No, the build still fails."),
        ("Write a function that adds.", "```python\ndef add(a, b):\n    return a + b\n```"),
        ("Who wrote Dune?", "Frank Herbert."),
        ("谁写了《三体》？", "刘慈欣。"),
        ("默认端口是多少？", "5432。"),
        ("Ai viết Truyện Kiều?", "Nguyễn Du."),
        ("", "Paris."),
    ],
)
def test_it_answers(request_: str, output: str) -> None:
    assert has_direct_answer(output, request_)


@pytest.mark.parametrize(
    ("request_", "output"),
    [
        (PORT, ""),
        (PORT, "Great question! Databases are a fascinating topic."),
        (PORT, "Let me check the documentation for you."),
        (PORT, "I'll look it up and get back to you shortly."),
        (PORT, "PostgreSQL is a relational database with a long history."),
        (PORT, "It depends on your setup."),
        (PORT, "I'm sorry, but I can't help with that."),
        (PORT, "You are asking for the default port of PostgreSQL."),
        (PORT, "Which version do you use?"),
        (PORT, "unknown"),
        ("Write a function that adds.", "Adding is a basic operation with many uses."),
        ("Drop the table.", "It has 3 million rows. Are you sure you want to continue?"),
        ("Send the report.", "Please find the report attached."),
        ("哪个语言最好？", "各有优缺点，要看具体情况。"),
        ("查一下天气。", "好的，我马上为您查询，请稍候。"),
        ("Ngôn ngữ nào tốt nhất?", "Tuỳ vào từng trường hợp."),
        ("Tra giá vàng.", "Để tôi xem đã nhé."),
    ],
)
def test_it_does_not_answer(request_: str, output: str) -> None:
    assert not has_direct_answer(output, request_)


@pytest.mark.parametrize(
    "output",
    [
        "Use a set, because a list has to be scanned.",
        "The cache is cold, so the first call is slow.",
        "```python\nx = xs[-1]\n```\n\nA negative index counts from the end of the list.",
        "I can't share that. Passwords are kept in the vault, and a chat is read by many people.",
        "用集合，因为列表要逐个查找。",
        "缓存是冷的，所以第一次慢。",
        "Dùng set, vì list phải duyệt từ đầu.",
    ],
)
def test_it_explains(output: str) -> None:
    assert has_explanation(output)


@pytest.mark.parametrize(
    "output",
    [
        "So, that would be 42.",
        "42, since you asked.",
        "It has been in use since 1995.",
        "Paris.",
        "```python\nx = 1\n```",
        "I'll explain it because it matters. Let me begin.",
        "北京。",
        "Hà Nội.",
    ],
)
def test_it_does_not_explain(output: str) -> None:
    assert not has_explanation(output)


def test_how_it_works_needs_no_connective_where_the_request_asks_how() -> None:
    output = "Each node keeps a copy of the log; the leader appends and the others confirm."
    assert has_explanation(output, "How does Raft replicate a log?")
    assert not has_explanation(output, "Name the parts of Raft.")


def test_a_reason_in_a_translation_explains_nothing() -> None:
    assert not has_explanation("Tôi ở nhà vì trời mưa.", "Dịch sang tiếng Việt: I stayed home.")


def test_a_list_of_steps_that_is_the_answer_offers_nothing_more() -> None:
    assert not has_next_steps("1. Open the file.\n2. Run the script.\n3. Check the result.")
    assert has_next_steps("Done.\n\n## Next steps\n- Add a test\n- Update the docs")


@pytest.mark.parametrize(
    ("output", "fenced"),
    [
        ("```\nx\n```", True),
        ("~~~\nx\n~~~", True),
        ("   ```py\nx", True),
        ("> ```\n> x\n> ```", True),
        ("1. a\n\n   ```\n   x\n   ```", True),
        ("    ```\n    x", False),
        ("``\nx\n``", False),
        ("```x```", False),
        ("a ``` b", False),
        ("<pre>x</pre>", False),
        ("# x", False),
        ("", False),
    ],
)
def test_a_block_is_what_commonmark_calls_one(output: str, fenced: bool) -> None:
    assert has_code_block(output) is fenced


@pytest.mark.parametrize(
    "text",
    [
        "> " * 50_000,
        "- " * 50_000,
        "`" * 100_000,
        "```\nx\n```\n" * 9_000,
        "a! " * 33_000,
        "|" * 9**5,
    ],
)
def test_hostile_texts_are_read(text: str) -> None:
    has_code_block(text)
    has_direct_answer(text, "How many? Write a function.")
    has_explanation(text, "How does it work?")
    has_next_steps(text)
