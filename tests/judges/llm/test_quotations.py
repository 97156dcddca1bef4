"""Quotations are found in the text, or are no evidence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.judges.llm.quotations import find_quotation

TEXT = "The sky  is\nblue — “very” blue. 天空 是蓝色的，因为散射。"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("sky is blue", "sky  is\nblue"),
        ("THE SKY", "The sky"),
        ('"The sky is blue - "very" blue."', "The sky  is\nblue — “very” blue"),
        ("The sky ... very", "The sky  is\nblue — “very"),
        ("sky […] 因为散射", TEXT[4:-1]),
        ("蓝色的,因为", "蓝色的，因为"),
        ("**blue**", "blue"),
    ],
)
def test_finds_quotation(words: str, found: str) -> None:
    evidence = find_quotation(words, TEXT)
    assert evidence is not None
    assert evidence.start is not None
    assert evidence.text == found == TEXT[evidence.start : evidence.end]


@pytest.mark.parametrize(
    "words", ["", " ", "...", "b", "is", "green", "blue sky", "very ... sky", '"."']
)
def test_does_not_find_quotation(words: str) -> None:
    assert find_quotation(words, TEXT) is None


def test_a_short_text_may_be_quoted_whole() -> None:
    assert find_quotation("4", "4.") is not None
    assert find_quotation("No", " No. ") is not None
    assert find_quotation("42", "it is 42") is not None
    assert find_quotation("2", "it is 42") is None


def test_invisible_characters_do_not_hide_a_quotation() -> None:
    evidence = find_quotation("blue", "bl\u200bue")
    assert evidence is not None
    assert evidence.text == "bl\u200bue"


@given(st.text(max_size=80), st.integers(0, 80), st.integers(2, 40))
def test_found_quotation_is_a_piece_of_the_text(text: str, start: int, size: int) -> None:
    evidence = find_quotation(text[start : start + size], text)
    if evidence is not None:
        assert evidence.text == text[evidence.start : evidence.end]


def test_finds_quotation_in_another_spelling_at_the_end_of_a_long_text() -> None:
    text = "a " * 200_000 + TEXT
    evidence = find_quotation("THE SKY IS", text)
    assert evidence is not None
    assert evidence.start is not None
    assert evidence.text == "The sky  is" == text[evidence.start : evidence.end]
