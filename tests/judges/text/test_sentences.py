"""Sentences: abbreviations, markdown, Chinese, and exact places whatever the text."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubrica.judges.text.passages import passages_of
from rubrica.judges.text.sentences import sentences


def texts(text: str) -> list[str]:
    return [one.text for one in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Smith et al. found 3.5 km. It held.", ["Dr. Smith et al. found 3.5 km.", "It held."]),
        (
            "J. K. Rowling wrote. John F. Kennedy spoke.",
            ["J. K. Rowling wrote.", "John F. Kennedy spoke."],
        ),
        ("They lack vitamin C. People bleed.", ["They lack vitamin C.", "People bleed."]),
        ("See https://a.b/c.html. Then go.", ["See https://a.b/c.html.", "Then go."]),
        ("Well... maybe not.", ["Well... maybe not."]),
        ("Really?! Yes...And no. So", ["Really?!", "Yes...And no.", "So"]),
        ("真的？！是的……好。对.。错", ["真的？！", "是的……", "好。", "对.。", "错"]),
        ("It is long.[1] It cost 5.[2][3] Ok.", ["It is long.[1]", "It cost 5.[2][3]", "Ok."]),
        ("全长5米。[1]耗资3元。【2】", ["全长5米。[1]", "耗资3元。【2】"]),
        ("It weighs approx. Nine.", ["It weighs approx. Nine."]),
        ("Miranda v. Arizona is U.S. law.", ["Miranda v. Arizona is U.S. law."]),
        ("No. 5 is alive.", ["No. 5 is alive."]),
        ('He said "no." Then he left.', ['He said "no."', "Then he left."]),
        ("约6.7公里。第二句！第三；第四？", ["约6.7公里。", "第二句！", "第三；", "第四？"]),
        ("# Head\n\ntext here\n- one\n* two", ["Head", "text here", "one", "two"]),
        ("1. 发送 SYN。\n2. 返回", ["1. 发送 SYN。", "2. 返回"]),
        ("| a | b |\n|---|---|\n| c | d |", ["| a | b |", "| c | d |"]),
        ("```py\nx = 1.\ny = 2\n```\nafter.", ["x = 1.\ny = 2", "after."]),
        ("```\nnever closed", ["never closed"]),
        ("", []),
        (" \n---\n***\n", []),
    ],
)
def test_pieces(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


@given(st.text(alphabet="ab. \n!?。；,A1#-|`*\"'()…", max_size=120))
def test_places_are_exact_and_in_order(text: str) -> None:
    last = 0
    for one in sentences(text):
        assert text[one.start : one.end] == one.text
        assert one.start >= last
        last = one.end


@pytest.mark.parametrize(
    "piece", [".", "a.", "A. ", "\n", "```\n", "|", "# ", "- ", "。", "e.g. ", '."']
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    start = time.process_time()
    sentences(text)
    assert time.process_time() - start < 10


def test_what_nobody_sees_parts_no_word_and_places_stay() -> None:
    text = "\u200bSales did n\u200bot\u00ad grow. ✔️ It rained."
    found = passages_of(text)
    assert [one.text for one in found] == ["Sales did not grow.", "✔ It rained."]
    assert [text[one.start : one.end] for one in found] == [
        "Sales did n\u200bot\u00ad grow.",
        "✔️ It rained.",
    ]


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- Sales grew by 12%. --> I have no idea.",
        "I have no idea. <!-- Sales\ngrew by 12%.",
        "~~Sales grew by 12%.~~ I have no idea.",
        "[//]: # (Sales grew by 12%.)\nI have no idea.",
    ],
)
def test_what_a_page_does_not_show_is_not_said(hidden: str) -> None:
    found = passages_of(hidden)
    assert [one.text for one in found] == ["I have no idea."]
    assert hidden[found[0].start : found[0].end] == "I have no idea."


def test_tildes_of_a_fence_and_signs_alone_hide_nothing() -> None:
    assert "grew" in str(passages_of("~~~\nSales grew\n~~~\nThe rest ~~ is here. Sales grew."))
