"""Each of the features by itself."""

import pytest

from fourscore.judges.reader import features
from fourscore.judges.reader.features import DIRECTION, FEATURES, Match, find_names, measure
from fourscore.judges.reader.support import read_claims, stem_question
from fourscore.judges.reader.text import Text
from fourscore.judges.reader.weights import shipped_weights


def match(claim: str, text: str, question: str = "") -> Match:
    return Match(read_claims([claim], stem_question(question))[0], Text(text))


def test_words_in_text_counts_words_of_all_sentences() -> None:
    one = match("Harwick bridge opened", "Harwick is old. The bridge has opened.")
    assert features.words_in_text(one) == 1.0
    assert features.words_in_text(match("Harwick bridge", "Nothing of it.")) == 0.0


def test_words_in_sentence_counts_words_of_the_best_one() -> None:
    one = match("Harwick bridge opened", "Harwick is old. The bridge has opened.")
    assert 0.5 < features.words_in_sentence(one) < 1.0
    assert one.best.text == "The bridge has opened."


def test_words_in_window_adds_the_better_neighbour() -> None:
    one = match("Harwick bridge opened", "Harwick is old. The bridge has opened. Birds sang.")
    assert features.words_in_window(one) == pytest.approx(1.0)
    far = match("Harwick bridge opened", "Harwick is old. Birds sang. The bridge has opened.")
    assert features.words_in_window(far) == features.words_in_sentence(far)


def test_all_words_found_needs_every_word() -> None:
    assert features.all_words_found(match("Harwick bridge", "The bridge at Harwick.")) == 1.0
    assert features.all_words_found(match("Harwick bridge", "The bridge.")) == 0.0


def test_sentence_is_about_claim_falls_with_other_words() -> None:
    short = match("Paris", "It is Paris.")
    long = match("Paris", "Paris hosted painters, bakers, generals and poets.")
    assert features.sentence_is_about_claim(short) == 1.0
    assert features.sentence_is_about_claim(long) < 0.5


def test_pairs_in_sentence_wants_neighbours() -> None:
    kept = match("dog bites man", "A dog bites man after man.")
    turned = match("dog bites man", "A man bites dog after dog.")
    assert features.pairs_in_sentence(kept) == 1.0
    assert features.pairs_in_sentence(turned) == 0.0


def test_verbatim_feature_needs_all_words_in_order() -> None:
    assert features.stands_verbatim(match("dog bites man", "The dog bites man.")) == 1.0
    assert features.stands_verbatim(match("dog bites man", "The man bites dog.")) == 0.0


def test_numbers_agree_in_any_notation() -> None:
    assert features.numbers_agree(match("It cost 1,200 euros", "Twelve hundred euros.")) == 1.0
    assert features.numbers_agree(match("It cost much", "1,200 euros.")) == 0.0


def test_numbers_missing_counts_those_that_the_text_lacks() -> None:
    assert features.numbers_missing(match("5 of 10 left", "5 have left.")) == 0.5
    assert features.numbers_missing(match("5 of 10 left", "Did 10 leave? 5 have.")) == 0.5


def test_numbers_missing_leaves_out_those_of_the_question() -> None:
    one = match("In 1998 it had 5 parts", "It had 5 parts.", "How many parts were there in 1998?")
    assert features.numbers_missing(one) == 0.0


def test_another_number_in_the_same_place_is_a_conflict() -> None:
    assert features.numbers_conflict(match("It has 12 piers", "It has 14 piers.")) == 1.0
    assert features.numbers_conflict(match("It has 12 piers", "It has piers.")) == 0.0


def test_names_missing_counts_names_that_the_text_lacks() -> None:
    assert features.names_missing(match("He met Voss and Hart", "He met Voss.")) == 0.5
    assert features.names_missing(match("He met people", "He met Voss.")) == 0.0


def test_another_name_in_the_same_place_is_a_conflict() -> None:
    assert features.names_conflict(match("The mayor is Voss", "The mayor is Hart.")) == 1.0
    assert features.names_conflict(match("The mayor is Voss", "The mayor is old.")) == 0.0


def test_one_side_denies_is_above_zero_for_one_negation() -> None:
    assert features.one_side_denies(match("It is safe", "It is not safe.")) == 1.0
    assert features.one_side_denies(match("It isn't safe", "It is not safe.")) == 0.0


def test_both_deny_is_above_zero_for_two_negations() -> None:
    assert features.both_deny(match("It isn't safe", "It is not safe.")) == 1.0
    assert features.both_deny(match("It is safe", "It is safe.")) == 0.0


def test_a_denial_in_a_long_sentence_counts_less() -> None:
    long = "It is safe, and as the mayor of the town said to us, nobody has to wait for the rain."
    assert 0 < features.one_side_denies(match("It is safe", long)) < 1


def test_has_opposite_finds_antonyms() -> None:
    assert features.has_opposite(match("Prices increased", "Prices decreased.")) == 1.0
    assert features.has_opposite(match("价格升了", "价格降了。")) == 1.0
    assert features.has_opposite(match("Prices increased", "Prices increase.")) == 0.0


def test_opens_with_other_word() -> None:
    assert features.opens_with_other_word(match("No, it is old", "Yes, it is.")) == 1.0
    assert features.opens_with_other_word(match("No, it is old", "Is it? Yes, it is.")) == 1.0
    assert features.opens_with_other_word(match("It is old", "Yes, it is.")) == 0.0


def test_opens_with_same_word() -> None:
    assert features.opens_with_same_word(match("Yes, it is old", "Yes.")) == 1.0
    assert features.opens_with_same_word(match("Yes, it is old", "No.")) == 0.0


def test_answers_question() -> None:
    assert features.answers_question(match("Paris", "Paris.", "What is the capital?")) == 1.0
    assert features.answers_question(match("Paris", "Paris.")) == 0.0


def test_words_of_the_question_do_not_count() -> None:
    question = "Who built the bridge at Harwick?"
    one = match(
        "Voss built the bridge at Harwick", "The bridge at Harwick was built well.", question
    )
    assert features.words_in_text(one) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "None of the following is true:\n- Voss has 12 boats.",
        "Birds sang. Voss has 12 boats?",
        "That Voss has 12 boats is a myth.",
    ],
)
def test_denied_and_asked_sentences_do_not_count(text: str) -> None:
    one = match("Voss has 12 boats", text)
    found = dict(zip(DIRECTION, measure(one), strict=True))
    assert not any(found[name] for name in DIRECTION if DIRECTION[name] > 0), found
    assert found["numbers_missing"] == found["names_missing"] == 1.0


def test_finds_names() -> None:
    assert find_names("The mayor Voss met Hart") == ["voss", "hart"]
    assert find_names("the mayor") == []


def test_every_feature_has_a_direction_a_weight_and_stays_within_its_range() -> None:
    names = [feature.__name__ for feature in FEATURES]
    assert names == list(DIRECTION) == list(shipped_weights().support.coefficients)
    pairs = [
        ("", ""),
        ("Voss", "Voss. " * 50),
        ("5 of 10", "不 no 5"),
        ("a the", "a the"),
        ("?", "!"),
    ]
    for claim, text in pairs:
        if Text(text).sentences:
            assert all(0 <= value <= 1 + 1e-9 for value in measure(match(claim, text)))


def test_learned_weights_keep_to_the_directions() -> None:
    coefficients = shipped_weights().support.coefficients
    assert all(coefficients[name] * way >= 0 for name, way in DIRECTION.items())
