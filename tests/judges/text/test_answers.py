"""Claims against whole answers: what a question gives away, and what stands by its place."""

import pytest

from rubrica.judges.text.claimed import units
from rubrica.judges.text.lexicon import related
from rubrica.judges.text.reading import read, states
from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import verdicts
from rubrica.judges.text.told import told

FERRY = "How does the Norra ferry operate?"


def kinds(claims: list[str], text: str, question: str = FERRY) -> list[str]:
    return [one.kind for one in verdicts(claims, sentences(text), question)]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("It carries up to 40 cars.", "There is room on deck for forty vehicles."),
        ("It cost 2.4 million euros.", "The bill was €2.4m in the end."),
        ("座位共24个。", "| 席别 | 票价（元） | 座位数 |\n|---|---|---|\n| 商务座 | 845 | 24 |"),
        ("商务座票价为845元。", "| 席别 | 票价（元） |\n|---|---|\n| 商务座 | 845 |"),
    ],
)
def test_a_figure_that_agrees_states_it_in_an_answer(claim: str, text: str) -> None:
    assert kinds([claim], text) == ["supported"]


def test_without_a_question_more_is_asked() -> None:
    claim, text = "The museum owns 2,150 paintings.", "It rained on 2,150 days."
    assert kinds([claim], text, "") == ["absent"]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("It was built in 1847.", "The light dates from 1874."),
        ("The cells live for 120 days.", "Their span is about 12 days."),
        ("It lost 2.3 billion euros.", "It ended the year €2.3 million in the red."),
    ],
)
def test_a_figure_with_its_digits_moved_contradicts(claim: str, text: str) -> None:
    assert kinds([claim], text) == ["contradicted"]


def test_a_sentence_that_no_other_claim_accounts_for() -> None:
    claims = ["It carries 40 cars.", "Passengers on foot travel free of charge."]
    text = "Forty cars fit on deck. Whoever comes on foot pays nothing."
    found = verdicts(claims, sentences(text), FERRY)
    assert [one.kind for one in found] == ["supported", "supported"]
    assert (found[1].index, found[1].sure) == (1, "low")
    assert kinds(["It is set in Tunisia."], "The setting is Morocco.") == ["contradicted"]
    long = text + " Gulls cry overhead." * 9
    assert kinds(claims[:1], long) == ["supported"]


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("Viborg Lions beat Aster United.", "Aster United defeated Viborg Lions 3-1."),
        ("云杉资本向赤松制药投资3亿元。", "赤松制药拿出3亿元投资了云杉资本。"),
        ("地动仪由张衡发明。", "地动仪是沈括发明的。"),
        ("Owen Strand directed it.", "Owen Strand sang the part of Banquo."),
        ("编剧是贺知秋。", "贺知秋负责摄影，大量夜景都出自他之手。"),
    ],
)
def test_another_part_or_the_wrong_way_round_contradicts(claim: str, text: str) -> None:
    assert kinds([claim], text, "Who did what?" if claim.isascii() else "谁做了什么？") == [
        "contradicted"
    ]


def test_mutual_verbs_have_no_direction() -> None:
    assert kinds(["Anna Berg married Tom Reed."], "Tom Reed married Anna Berg.") == ["supported"]


def test_a_mark_of_a_source_is_no_figure() -> None:
    text = told(sentences("It is long.[1] It has decks.[2]\n[1] https://a.example/1"))
    assert not text.quantities
    assert not text.gists[-1]


def test_related_words() -> None:
    assert "babi" in related("infant")
    assert related("zzz") == ()
    (unit,) = units("infants")
    assert "babi" in unit.meaning.terms
    assert "babi" not in unit.meaning.options[0]


def test_readings_are_shared() -> None:
    assert read("It is long.") is read("It is long.")
    assert not states("Is it long?")


GROWTH = "How did the sales of the Harwick works develop over the whole of last year?"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Its sales grew by 10% in 2023. Its sales grew by 12% in 2023.", "contradicted"),
        (
            "Its sales grew by 12% in 2023. Rain fell. Its sales grew by 13% in 2023.",
            "contradicted",
        ),
        ("Its sales grew by 13% in 2023. Sorry. Its sales grew by 12% in 2023.", "supported"),
        ("Its sales grew by 10% in 2022. Its sales grew by 12% in 2023.", "supported"),
        ("Its sales grew by 12% in 2023. Its profit grew by 10% in 2023.", "supported"),
    ],
)
def test_a_figure_among_guesses_is_none(text: str, expected: str) -> None:
    assert kinds(["Its sales grew by 12% in 2023."], text, GROWTH) == [expected]


def test_what_stands_under_a_heading_is_no_guess() -> None:
    text = "## Basic\n\nThe price is $5 a month.\n\n## Pro\n\nThe price is $20 a month."
    assert kinds(["The Pro plan costs $20 a month."], text, "Prices?") == ["supported"]
    rooms = "Room 2 has 5 beds. Room 3 has 5 beds. Room 4 has 6 beds."
    assert kinds(["Room 3 has 5 beds."], rooms, "Beds?") == ["supported"]


def test_what_declined_to_a_figure_fell() -> None:
    text = "The rate declined to 3%."
    assert kinds(["The rate fell to 3%."], text, "How did the rate develop?") == ["supported"]
    assert kinds(["The rate rose to 3%."], text, "How did the rate develop?") == ["contradicted"]
    refused = "The board declined to raise the rate."
    assert kinds(["The board raised the rate."], refused, "What did it do?") == ["contradicted"]


@pytest.mark.parametrize("claim", ["than than than", "比比比", "9" * 310])
def test_a_claim_that_says_nothing_is_stated_by_nothing(claim: str) -> None:
    assert kinds([claim], "x", "What?") == ["absent"]
