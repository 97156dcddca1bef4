"""Secrets are replaced by their kind, similar harmless text stays, in linear time."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourscore.monitor.redaction import Redaction, redact, redact_value

OPENAI = (
    "sk-" + "proj-Ab12" * 6
)  # joined from parts, so that secret scanners do not report this file
GITHUB = "ghp_" + "a1B2c3D4e5" * 4
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"

FOUND = [
    ("write to ana.b+c@mail.example.co.uk.", "write to [e-mail]."),
    ("联系我ana@example.com谢谢", "联系我[e-mail]谢谢"),
    ("?to=ana%40example.com&x=1", "?to=[e-mail]&x=1"),
    (f"key {OPENAI} end", "key [key] end"),
    (f"({GITHUB})", "([key])"),
    ("AKIA" + "IOSFODNN7EXAMPLE", "[key]"),
    (f"jwt {JWT}", "jwt [key]"),
    ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [key]"),
    ('{"api_key": "0123456789abcdef"}', '{"api_key": "[key]"}'),
    ("password=hunter22, then", "password=[key], then"),
    ("postgres://ana:s3cret@db.example.com/x", "postgres://[key]@db.example.com/x"),
    ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY----- ok", "[key] ok"),
    ("x -----BEGIN PRIVATE KEY-----\nabc", "x [key]"),
    ("a Zq8Xw3Lm9Kp2Rt5Vy7Bn4Jh6Gd1Sf0Qa b", "a [key] b"),
    ("pay with 4111 1111 1111 1111 now", "pay with [card] now"),
    ("4111111111111111", "[card]"),
    ("5500-0000-0000-0004,", "[card],"),
    ("12 378282246310005 3", "12 [card] 3"),
    ("４１１１１１１１１１１１１１１１", "[card]"),
    ("4111 1111 1111 1111 5500 0000 0000 0004", "[card] [card]"),
    ("call +49 (30) 1234-5678!", "call [phone]!"),
    ("call (555) 123-4567 or 555.123.4567", "call [phone] or [phone]"),
    ("0171/1234567, 020 7946 0958", "[phone], [phone]"),
    ("我的电话是13812345678。", "我的电话是[phone]。"),
]
LEFT = [
    "2024-05-06 12:30:15",
    "192.168.100.200",
    "3.141592653589793",
    "4111 1111 1111 1112",
    "order 1234567890, at 1700000000000",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "123e4567-e89b-12d3-a456-426614174000",
    "scikit-learn-contrib-something-long",
    "@decorator and a @ b",
    "a basic understanding of bearer instruments",
    "snake_case_names_that_are_rather_long_indeed",
    "Sales rose 12 percent in 2023, from 1,200,000 to 1,344,000.",
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_secrets_and_addresses_are_redacted(text: str, expected: str) -> None:
    assert redact(text) == expected
    assert redact(expected) == expected


@pytest.mark.parametrize("text", LEFT)
def test_harmless_text_does_not_change(text: str) -> None:
    assert redact(text) == text


@settings(deadline=None)
@given(st.integers(10**14, 10**15 - 1), st.sampled_from("3456"), st.sampled_from(["", " ", "-"]))
def test_every_card_number_is_found(middle: int, first: str, mark: str) -> None:
    body = first + str(middle)[:14]
    total = sum(
        int(digit) if n % 2 else sum(divmod(int(digit) * 2, 10)) for n, digit in enumerate(body)
    )
    card = body + str(-total % 10)
    grouped = mark.join(card[at : at + 4] for at in range(0, 16, 4))
    assert redact(f"card {grouped}.") == "card [card]."


def test_redacts_nested_json_values() -> None:
    value = {"to a@b.com": ["x@y.org", 4111111111111111, 12, True, None, 2.5]}
    assert redact_value(value) == {"to [e-mail]": ["[e-mail]", "[card]", 12, True, None, 2.5]}


def test_keys_that_are_redacted_to_the_same_text_stay_apart() -> None:
    value = {"a@b.com": 1, "c@d.com": 2, "e@f.com": 3}
    assert redact_value(value) == {"[e-mail]": 1, "[e-mail] 2": 2, "[e-mail] 3": 3}


def test_custom_hook_runs_after_the_patterns() -> None:
    redaction = Redaction(lambda text: text.replace("Ana", "[name]"))
    assert redaction.text("Ana, a@b.com") == "[name], [e-mail]"
    assert redaction.value({"who": "Ana"}) == {"who": "[name]"}


@pytest.mark.parametrize("answer", [ZeroDivisionError, SystemExit, None])
def test_text_is_withheld_where_the_hook_fails(answer: type[BaseException] | None) -> None:
    def hook(_: str) -> str:
        if answer is not None:
            raise answer
        return None  # type: ignore[return-value]

    redaction = Redaction(hook)
    assert redaction.text("Ana") == "[withheld: the redaction failed]"
    assert redaction.failures == 1


HOSTILE = [
    "a", "a.", "a@", "a@a", "a@a.", "@", ".", "-", "_", "sk-", "sk_a", "eyJ", "1", "1 ", "4 ",
    "41-", "+", "+1", "+1 ", "(", "(0", "0", "01/", "138", "138 ", "555-", "token", "token=",
    "token: ", "bearer ", "bearer a", "://", "://a", "://a:", "-----BEGIN PRIVATE KEY-----",
    "PRIVATE KEY ", "-----BEGIN ", "%40", "a%40", "Aa1", "\\\"", "password \"", "[key].", "４ ",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_redaction_takes_linear_time(piece: str) -> None:
    """Four times the text: four times the time, where anything quadratic would take sixteen."""

    def taken(size: int) -> float:
        text = piece * (size // len(piece))
        best = float("inf")
        for _ in range(3):
            begun = time.process_time()
            redact(text)
            best = min(best, time.process_time() - begun)
        return best

    assert taken(80_000) <= 9 * max(taken(20_000), 0.001)
