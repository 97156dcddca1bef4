"""Words: folding, stems, terms in two languages."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rubrica.judges.text import quantities, tokens, words
from rubrica.judges.text.stems import stem
from rubrica.judges.text.word import word_of
from rubrica.judges.text.words import fold, fold_to_words, language, normal, overlap, terms

_PRINTED = st.text(st.sampled_from(string.ascii_letters[:3] + string.digits[:3] + " '.,:-+/()_\n"))


@given(_PRINTED)
def test_the_fast_forms_for_plain_english_find_the_same(text: str) -> None:
    found = [words._chunk(word) for word in words._WORD.findall(text)]
    assert terms(text) == frozenset().union(*found)
    assert tokens._ASCII_PIECE.findall(text) == tokens._PIECE.findall(text)


@given(st.lists(st.sampled_from(("the", "It's", "e.g", "of", "A1b", "1a", "x-y", "a_b,", "(c"))))
def test_grammar_at_a_glance_is_never_more_than_there_is(parts: list[str]) -> None:
    text = " ".join(parts)
    known = [word for word in tokens.words_in(tokens.tokens_of(text)[0], True) if word is not None]
    small = [word.stop for word in known if not word.capital]
    if tokens._is_grammatical(text):
        assert sum(small) >= tokens._SMALL * len(small)
        assert sum([word.stop for word in known]) >= tokens._ALL * len(known)
    assert all(word_of(word).stop for word in words.words_of("stop.txt"))


@given(st.text(st.sampled_from("a12.,$€五百第 ")))
def test_a_quantity_begins_at_each_sign_but_inside_a_number(text: str) -> None:
    found = [match.start() for match in quantities._SIGN.finditer(text)]
    inside = [
        at
        for at, sign in enumerate(text)
        if sign.isdigit()
        and (
            text[at - 1 : at].isdigit()
            or (text[max(0, at - 1) : at] in (".", ",") and text[max(0, at - 2) : at - 1].isdigit())
        )
    ]
    signs = [at for at, sign in enumerate(text) if sign in "12$€五百第"]
    assert found == [at for at in signs if at not in inside]


def test_words_with_a_prefix_are_stemmed_as_without() -> None:
    assert stem("undertook") == stem("undertake")
    assert stem("1100") == "110"  # a number is no word, and is only tidied


@pytest.mark.parametrize(
    "words",
    [
        ("increase", "increases", "increased", "increasing"),
        ("study", "studies", "studied"),
        ("discover", "discovered", "discovers"),
        ("organise", "organised", "organisation", "organization"),
        ("write", "wrote", "written"),
        ("rise", "rose", "risen"),
        ("create", "created", "creation", "creator"),
        ("announce", "announced", "announcement"),
        ("exceed", "exceeded"),
        ("investigate", "investigation", "investigator"),
    ],
)
def test_forms_of_a_word_meet(words: tuple[str, ...]) -> None:
    assert len(set(map(stem, words))) == 1


@pytest.mark.parametrize(("one", "other"), [("universe", "university"), ("news", "new")])
def test_other_words_do_not(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_terms_leave_out_grammar_and_numbers() -> None:
    assert terms("The capital of Australia is Canberra, since 1927.") == {
        "capital",
        "australia",
        "canberra",
    }
    assert {"大桥", "全长"} <= terms("大桥的全长约55公里")
    assert "的" not in terms("大桥的")


def test_folding_keeps_places() -> None:
    text = "“Ａ７”—１２％、’"
    assert len(fold(text)) == len(text)
    assert fold(text) == '"A7"-12%,\''
    assert normal("ﬁ") == "fi"


def test_language() -> None:
    assert language("The quick fox") == "en"
    assert language("A7卖3299元") == "zh"
    assert language("") == "en"


def test_fold_to_words() -> None:
    assert fold_to_words("It’s “12.5%” 大桥") == ["it", "12.5", "大", "桥"]


def test_overlap_is_the_share_of_the_claim() -> None:
    assert overlap({"canberra", "capital"}, {"canberra", "capital", "x"}) == 1.0
    assert overlap({"canberra", "capital"}, {"x"}) == 0.0
    assert overlap(set(), {"x"}) == 0.0
    assert 0 < overlap({"canberra", "of"}, {"of"}) < 0.5
