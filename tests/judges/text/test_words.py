"""Words: folding, stems, terms in two languages."""

import pytest

from rubrica.judges.text.stems import stem
from rubrica.judges.text.words import fold, fold_to_words, language, normal, overlap, terms


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
