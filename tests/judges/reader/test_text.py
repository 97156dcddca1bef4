"""Sentences, words and stems, and what of a text states something."""

import pytest

from fourscore.judges.reader.text import (
    MAX_READ,
    Text,
    is_chinese,
    read_text,
    split_words,
    stem_word,
)


def sentences_of(raw: str) -> list[str]:
    return [one.text for one in Text(raw).sentences]


@pytest.mark.parametrize(
    ("raw", "sentences"),
    [
        ("It rained. We left!", ["It rained.", "We left!"]),
        ("Dr. Hall paid 3.5 million. It was late.", ["Dr. Hall paid 3.5 million.", "It was late."]),
        ("See example.com for more. Bye.", ["See example.com for more.", "Bye."]),
        ("- first item\n- second item", ["- first item", "- second item"]),
        ("a line that is\nwrapped softly", ["a line that is\nwrapped softly"]),
        ("桥通车了。很长！对吗？", ["桥通车了。", "很长！", "对吗？"]),
        ("", []),
        (" \n\n ", []),
    ],
)
def test_splits_sentences(raw: str, sentences: list[str]) -> None:
    assert sentences_of(raw) == sentences


def test_gives_the_place_of_each_sentence() -> None:
    raw = "  First one.  \n\n Second <!-- hidden --> one."
    text = Text(raw)
    assert raw[text.sentences[0].start : text.sentences[0].end] == "First one."
    assert raw[text.sentences[1].start : text.sentences[1].end] == "Second <!-- hidden --> one."


def test_cuts_a_sentence_that_is_too_long() -> None:
    assert all(len(one.text) <= 400 for one in Text("word " * 1000).sentences)


def test_splits_words_and_numbers() -> None:
    assert split_words("The 1,200 users' servers don’t serve 3.5%") == [
        "the", "1,200", "users", "servers", "don't", "serve", "3.5%",
    ]  # fmt: skip
    assert split_words("大桥1932年开放") == ["大", "桥", "1932", "年", "开", "放"]


def test_reads_words_through_invisible_characters() -> None:
    assert split_words("can\u200bber\u00adra") == ["canberra"]


def test_stems_forms_of_a_word_alike() -> None:
    assert stem_word("serves") == stem_word("served") == stem_word("serving")
    assert stem_word("bridge's") == stem_word("bridges")


def test_recognises_chinese() -> None:
    assert is_chinese("a 桥")
    assert not is_chinese("Brücke")


def test_drops_thinking_unless_it_is_kept() -> None:
    raw = "<think>Maybe it is Lyon.</think>\nIt is Paris."
    assert sentences_of(raw) == ["It is Paris."]
    assert len(Text(raw, keep_thinking=True).sentences) == 2


def test_drops_hidden_markdown() -> None:
    assert sentences_of("<!-- It is Lyon. -->It is Paris.") == ["It is Paris."]


def test_reads_only_the_beginning_of_a_huge_text() -> None:
    text = Text("Filler here. " * 800_000 + "It is Paris.")
    assert "pari" not in text.places
    assert text.sentences[-1].end <= MAX_READ


def test_reads_a_text_once() -> None:
    assert read_text("It is Paris.") is read_text("It is Paris.")
    assert read_text("It is Paris.") is not read_text("It is Paris.", keep_thinking=True)


def test_questions_and_keywords_are_no_statements() -> None:
    raw = "Is it Paris?\n\nparis capital france city europe seine\n\nIt is on the Seine."
    assert Text(raw).statements == (2,)


def test_a_list_of_names_is_a_statement() -> None:
    raw = "Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune"
    assert Text(raw).statements == (0,)


def test_a_long_list_of_keywords_is_no_statement() -> None:
    words = "apple pear plum fig date lime kiwi melon grape peach mango olive lemon quince papaya"
    assert Text(words.replace(" ", ", ")).statements == ()


@pytest.mark.parametrize(
    "raw",
    [
        "None of the following is true:\n- It is Paris.\n- It is large.",
        "The claims below are all false:\n- It is Paris.\n- It is large.",
        "以下说法都是错误的：\n- 首都是巴黎。\n- 它很大。",
    ],
)
def test_finds_what_is_listed_as_false(raw: str) -> None:
    assert Text(raw).listed_as_false == {0, 1, 2}


def test_ends_a_list_of_falsehoods_at_the_next_heading() -> None:
    raw = "None of the following is true:\n- It is Lyon.\n# Answer\nIt is Paris."
    assert Text(raw).listed_as_false == {0, 1}


def test_finds_sentences_that_call_something_false() -> None:
    assert Text("It is Paris. That it is Lyon is a myth.").denials == {1}


def test_finds_sentences_that_repeat_the_question() -> None:
    asked = frozenset(map(stem_word, split_words("What is the capital of France?")))
    text = Text("The capital of France is what. The capital of France is Paris.")
    assert text.repeats(asked) == {0}


def test_finds_values_however_they_are_written() -> None:
    numbers = Text("It has eight parts. It cost 1,200 euros.").numbers
    assert numbers == {8.0: [0], 1200.0: [1]}
