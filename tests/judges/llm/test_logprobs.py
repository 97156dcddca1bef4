"""How sure a model was, from the token that decided."""

from math import log

import msgspec
import pytest

from fourscore.judges.llm.logprobs import read_choice_probabilities, read_word_probabilities
from fourscore.models.messages import Response, Token

CHOICES = ("no", "yes")


def reply(*tokens: Token, choice: str = "yes") -> Response:
    text = "".join(token.text for token in tokens)
    return Response(text=text, value={"evidence": "", "verdict": choice}, logprobs=tokens)


def test_probabilities_of_the_deciding_token() -> None:
    top = (("yes", log(0.6)), ("no", log(0.2)), ("maybe", log(0.2)))
    found = read_choice_probabilities(
        reply(Token('{"verdict": "', 0.0), Token("yes", log(0.6), top), Token('"}', 0.0)),
        "verdict",
        CHOICES,
    )
    assert found is not None
    assert (found["no"], found["yes"]) == pytest.approx((0.25, 0.75))


def test_tokens_with_quotation_mark_or_half_a_word() -> None:
    top = ((' "y', log(0.5)), (' "n', log(0.3)), (' "', log(0.1)), ("y", log(0.1)))
    found = read_choice_probabilities(
        reply(Token('{"verdict":', 0.0), Token(' "y', log(0.5), top), Token('es"}', 0.0)),
        "verdict",
        CHOICES,
    )
    assert found is not None
    assert (found["no"], found["yes"]) == pytest.approx((0.375, 0.625))


def test_last_verdict_key_counts_not_a_quoted_one() -> None:
    quoted = Token('{"evidence": "\\"verdict\\": \\"no\\"", "verdict": "', 0.0)
    tokens = (
        quoted,
        Token("yes", log(0.9), (("yes", log(0.9)), ("no", log(0.1)))),
        Token('"}', 0.0),
    )
    found = read_choice_probabilities(reply(*tokens), "verdict", CHOICES)
    assert found is not None
    assert found["yes"] == pytest.approx(0.9)


def test_key_inside_an_ignored_value_gives_no_probabilities() -> None:
    top = (("yes", log(0.9)), ("no", log(0.1)))
    tokens = (Token('{"verdict": "yes", "x": {"verdict": "', 0.0), Token("yes", log(0.9), top))
    whole = msgspec.structs.replace(reply(*tokens, Token('"}}', 0.0)), extra_keys=1)
    assert read_choice_probabilities(whole, "verdict", CHOICES) is None
    plain = (Token('{"x": 1, "verdict": "', 0.0), Token("yes", log(0.9), top), Token('"}', 0.0))
    found = read_choice_probabilities(
        msgspec.structs.replace(reply(*plain), extra_keys=1), "verdict", CHOICES
    )
    assert found is not None
    assert found["yes"] == pytest.approx(0.9)


def test_none_without_usable_log_probabilities() -> None:
    assert (
        read_choice_probabilities(Response(text="{}", value={"verdict": "yes"}), "verdict", CHOICES)
        is None
    )
    assert read_choice_probabilities(reply(Token("{}", 0.0)), "verdict", CHOICES) is None
    odd = (Token('{"verdict": "', 0.0), Token("yes", 0.0), Token('"}', 0.0))
    assert (
        read_choice_probabilities(reply(*odd, choice="no"), "verdict", CHOICES) is None
    )  # not what was read
    unlike = reply(Token('{"verdict": "', 0.0), Token("maybe", 0.0), choice="maybe")
    assert read_choice_probabilities(unlike, "verdict", CHOICES) is None
    whole = Response(text="5", value=5, logprobs=(Token("5", 0.0),))
    assert read_choice_probabilities(whole, "verdict", CHOICES) is None


def one_word(*tokens: Token) -> Response:
    return Response(text="".join(token.text for token in tokens), logprobs=tokens)


def test_spellings_of_one_word_are_summed() -> None:
    top = (("Yes", log(0.3)), (" yes", log(0.2)), ("是", log(0.1)), ("NO", log(0.2)), ("N", -9.9))
    found = read_word_probabilities(one_word(Token("Yes", log(0.3), top), Token(".", 0.0)), CHOICES)
    assert found is not None
    assert found["yes"] == pytest.approx(0.75, abs=1e-3)


def test_other_first_tokens_are_ignored_unless_far_likelier() -> None:
    top = (("Based", log(0.5)), ("Yes", log(0.1)), ("No", log(0.3)))
    found = read_word_probabilities(one_word(Token("Based", log(0.5), top)), CHOICES)
    assert found is not None
    assert found["no"] == pytest.approx(0.75)
    far = (("Based", log(0.98)), ("No", log(0.01)))
    assert read_word_probabilities(one_word(Token("Based", log(0.98), far)), CHOICES) is None


def test_first_word_after_thinking_counts() -> None:
    thought = Token("<think>No.</think>", 0.0, (("No", log(0.9)),))
    decided = Token("Yes", log(0.8), (("Yes", log(0.8)), ("No", log(0.2))))
    found = read_word_probabilities(one_word(thought, Token("\n", 0.0), decided), CHOICES)
    assert found is not None
    assert found["yes"] == pytest.approx(0.8)
    assert read_word_probabilities(Response(text="Yes"), CHOICES) is None
