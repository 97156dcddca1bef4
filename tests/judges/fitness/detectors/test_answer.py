"""Answers, explanations and next steps: what counts, what only looks like it."""

import pytest

from fourscore import has_direct_answer, has_explanation, has_next_steps

PORT = "What is the default port of PostgreSQL?"


@pytest.mark.parametrize(
    ("request_", "output"),
    [
        (PORT, "5432."),
        (PORT, "It listens on 5432 unless you change it."),
        (PORT, "I'm happy to help! The default port is 5432."),
        ("Fix the bug.", "Fixed: the loop now stops at n."),
        ("Did it work?", "No, the build still fails."),
        ("Write a function that adds.", "```python\ndef add(a, b):\n    return a + b\n```"),
        ("Who wrote Dune?", "Frank Herbert."),
        ("谁写了《三体》？", "刘慈欣。"),
        ("Is it legal to record a call?", "It is illegal without consent in California."),
        ("Where do vampires live?", "You can't find vampires anywhere."),
        ("Who said it?", 'Washington said "I cannot tell a lie".'),
        ("What happened?", "I apologize for the confusion: the port is 5432."),
        ("Who won?", "As an AI, I may be out of date, but it was Norway."),
        ("", "Paris."),
    ],
)
def test_finds_direct_answers(request_: str, output: str) -> None:
    assert has_direct_answer(output, request_)


@pytest.mark.parametrize(
    "output",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, but I can’t assist you.",
        "I cannot fulfill your request. I'm just an AI.",
        "As a responsible AI language model, I must inform you that this is dangerous.",
        "I will not be able to provide that information.",
        "I don't have access to your employees' data.",
        "It is not appropriate to ask for another person's password.",
        "Selling it is highly dangerous and illegal. Please seek help.",
        "抱歉，这个问题不便回答。",
        "我无法提供这方面的信息。",
    ],
)
def test_refusals_are_no_answers(output: str) -> None:
    assert not has_direct_answer(output, "How do I get into my neighbour's account?")
    assert not has_direct_answer(output)


@pytest.mark.parametrize(
    "output",
    [
        "",
        " \n",
        "...",
        "Let me think.",
        "Sure! Let me check the documentation for you.",
        "I'll look it up and get back to you shortly.",
        "Great question! I will explain it.",
        "Which version do you use?",
        "It depends on your setup.",
        "好的，我马上为您查询，请稍候。",
    ],
)
def test_announcements_are_no_answers(output: str) -> None:
    assert not has_direct_answer(output, PORT)


def test_finds_refusal_with_invisible_characters() -> None:
    assert not has_direct_answer("\u200b" * 900 + "I'm sor\u200bry, but I can\u200b't help.", PORT)


def test_late_refusal_does_not_undo_answer() -> None:
    answer = "Use pg_dump for that. It writes plain SQL. " * 10
    assert has_direct_answer(answer + "I cannot help with the restore.", "How do I back it up?")


@pytest.mark.parametrize(
    ("request_", "output", "explains"),
    [
        ("", "Use a set, because a list has to be scanned.", True),
        ("", "The cache is cold, so the first call is slow.", True),
        ("", "用集合，因为列表要逐个查找。", True),
        (
            "",
            "```python\nx[-1]\n```\n\nA negative index counts from the end of the list of items.",
            True,
        ),
        (
            "How does Raft work?",
            "Each node has a copy of the log; the leader appends, others confirm.",
            True,
        ),
        ("Name the parts.", "Each node keeps a copy of the log; the leader appends.", False),
        ("", "It has been in use since 1995.", False),
        ("", "Paris.", False),
        ("", "Paris. " + "because therefore " * 99, False),
        ("", "```python\nx = 1  # because\n```", False),
        ("Why?", "", False),
    ],
)  # fmt: skip
def test_finds_explanations(request_: str, output: str, explains: bool) -> None:
    assert has_explanation(output, request_) is explains


@pytest.mark.parametrize(
    ("output", "offers"),
    [
        ("Done.\n\n## Next steps\n- Add a test\n- Update the docs", True),
        ("Fixed the loop. Run `make test` to see it pass.", True),
        ("It is 42. You can verify this with a calculator.", True),
        ("答案是 42。建议再检查一次。", True),
        ("The next station is Bern. Trains run every hour.", False),
        ("Paris. Hope that helps! Let me know.", False),
        ("```bash\nls\n# next steps\n```", False),
        ("", False),
    ],
)
def test_finds_next_steps(output: str, offers: bool) -> None:
    assert has_next_steps(output) is offers
