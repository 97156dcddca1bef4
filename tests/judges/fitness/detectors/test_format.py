"""The form that a request asks for, kept and broken."""

import pytest

from fourscore import follows_format
from fourscore.judges.fitness.detectors.format import find_broken_form

TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"
ASKED = [
    ("Reply with JSON only.", '{"a": 1}', True),
    ("Reply with JSON only.", 'Sure! {"a": 1}', False),
    ("Reply with JSON only.", '```json\n{"a": 1}\n```', False),
    ("Reply in JSON.", 'Here:\n```json\n{"a": 1}\n```', True),
    ("Reply in JSON.", "Paris", False),
    ("只输出 JSON。", '{"a":1}', True),
    ("How do I return JSON in Flask?", "Use jsonify", True),
    ("Write a function that returns JSON.", "def f(): pass", True),
    ("Compare them in a table.", TABLE, True),
    ("Compare them in a table.", "One is faster.", False),
    ("用表格列出。", "无", False),
    ("What is the table of contents?", "Chapters.", True),
    ("Give exactly 2 bullet points.", "- a\n- b", True),
    ("Give exactly 2 bullet points.", "- a\n- b\n- c", False),
    ("Give me a numbered list of 3 cities.", "1. a\n2. b\n3. c", True),
    ("Give me a numbered list of 3 cities.", "- a\n- b\n- c", False),
    ("Answer in one word: capital of Peru?", "Lima", True),
    ("Answer in one word: capital of Peru?", "It is Lima", False),
    ("Explain it in 20 words.", "It is " + "very " * 15 + "big.", True),
    ("Explain it in at most 5 words.", "It is very big.", True),
    ("Explain it in at most 5 words.", "It is very big and quite old.", False),
    ("Write at least two sentences.", "One. Two. Three.", True),
    ("Write at least two sentences.", "One.", False),
    ("Write no less than two sentences.", "One. Two. Three.", True),
    ("Discover two sentences in it.", "One. Two. Three.", True),
    ("Answer in ٣ words.", "It is very big.", True),
    ("用三句话介绍杭州。", "一。二。三。", True),
    ("用三句话介绍杭州。", "一。二。", False),
    ("50字以内介绍杭州。", "杭州是浙江省会。", True),
    ("10字以内介绍杭州。", "杭州是浙江省的省会城市之一。", False),
    ("这三行代码有什么问题？", "x", True),
    ("Put the command in a code block.", "```bash\nls\n```", True),
    ("Put the command in a code block.", "Use `ls`.", False),
    ("Why is the sky blue?", "Scattering.", True),
    ('Translate "in one word"', "en un mot", True),
]


@pytest.mark.parametrize(("request_", "output", "kept"), ASKED)
def test_checks_requested_format(request_: str, output: str, kept: bool) -> None:
    assert follows_format(output, request_) is kept


def test_reason_names_broken_demand() -> None:
    reason = find_broken_form("- a", "Give exactly 2 bullet points.")
    assert reason == "asked for: exactly 2 bullet"
    assert find_broken_form("x") is None


def test_too_long_json_is_not_called_broken() -> None:
    assert follows_format("[" + "1, " * 90_000 + "1]", "Reply with JSON only.")
    assert follows_format("[" * 9_000, "Reply with JSON only.") is False


@pytest.mark.parametrize("output", ["", "   ", "First, second,", "and then...", "```py\nx = 1\n"])
def test_truncated_output_breaks_format(output: str) -> None:
    assert not follows_format(output)
