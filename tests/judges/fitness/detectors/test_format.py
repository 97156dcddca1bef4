"""The form that a request asks for, kept and broken; None where it asks for none."""

import pytest

from rubrica import follows_format
from rubrica.judges.fitness.detectors.format import form

TABLE = "| a | b |\n|---|---|\n| 1 | 2 |"
ASKED = [
    ("Reply with JSON only.", '{"a": 1}', True),
    ("Reply with JSON only.", 'Sure! {"a": 1}', False),
    ("Reply with JSON only.", '```json\n{"a": 1}\n```', False),
    ("Reply in JSON.", 'Here:\n```json\n{"a": 1}\n```', True),
    ("Reply in JSON.", "Paris", False),
    ("只输出 JSON。", '{"a":1}', True),
    ("How do I return JSON in Flask?", "Use jsonify", None),
    ("Write a function that returns JSON.", "def f(): pass", None),
    ("Compare them in a table.", TABLE, True),
    ("Compare them in a table.", "One is faster.", False),
    ("用表格列出。", "无", False),
    ("What is the table of contents?", "Chapters.", None),
    ("Give exactly 2 bullet points.", "- a\n- b", True),
    ("Give exactly 2 bullet points.", "- a\n- b\n- c", False),
    ("Give me a numbered list of 3 cities.", "1. a\n2. b\n3. c", True),
    ("Give me a numbered list of 3 cities.", "1. a\n2. b", False),
    ("Give me a numbered list of 3 cities.", "- a\n- b\n- c", False),
    ("List five rivers.", "Rhine, Aare, Po, Inn, Rhone", True),
    ("List five rivers.", "- Rhine\n- Aare", False),
    ("列出三个优点，用项目符号。", "- a\n- b", False),
    ("Answer in one word: capital of Peru?", "Lima", True),
    ("Answer in one word: capital of Peru?", "It is Lima", False),
    ("Explain it in at most 5 words.", "It is very big.", True),
    ("Explain it in at most 5 words.", "It is very big and quite old.", False),
    ("Write about 4 words.", "a b c d e", True),
    ("Write at least two sentences.", "One. Two. Three.", True),
    ("Write at least two sentences.", "One.", False),
    ("Give a two-sentence summary.", "One. Two. Three.", False),
    ("Write 2 to 3 paragraphs.", "a\n\nb\n\nc\n\nd", False),
    ("用三句话介绍杭州。", "一。二。三。", True),
    ("用三句话介绍杭州。", "一。二。", False),
    ("50字以内介绍杭州。", "杭州是浙江省会。", True),
    ("10字以内介绍杭州。", "杭州是浙江省的省会城市之一。", False),
    ("这三行代码有什么问题？", "x", None),
    ("Put the command in a code block.", "```bash\nls\n```", True),
    ("Put the command in a code block.", "Use `ls`.", False),
    ("Only the code: gcd", "```py\nmath.gcd(a, b)\n```", True),
    ("Only the code: gcd", "Here you go:\n```py\nmath.gcd(a, b)\n```", False),
    ("Answer yes or no: is 7 prime?", "Yes, it is.", True),
    ("Answer only yes or no: is 7 prime?", "Yes, it is.", False),
    ("Answer only yes or no: is 7 prime?", "Yes.", True),
    ("Answer yes or no: is 7 prime?", "It is.", False),
    ("请用中文回答。", "Hello there friend", False),
    ("请用英文回答。", "你好", False),
    ("Answer in Chinese.", "可以。", True),
    ("Reply in English: 你好吗", "Fine, thanks.", True),
    ("Why is the sky blue?", "Scattering.", None),
    ('Translate "in one word"', "en un mot", None),
]


@pytest.mark.parametrize(("request_", "output", "kept"), ASKED)
def test_the_form_that_was_asked_for(request_: str, output: str, kept: bool | None) -> None:
    assert form(output, request_).kept is kept


def test_the_reason_names_the_demand() -> None:
    assert form("- a", "Give exactly 2 bullet points.").reason == "asked for: exactly 2 bullet"
    assert form("x").reason == "the request names no form"


@pytest.mark.parametrize("output", ["", "   ", "First, second,", "and then...", "```py\nx = 1\n"])
def test_what_breaks_off_is_not_followed(output: str) -> None:
    assert not follows_format(output)
