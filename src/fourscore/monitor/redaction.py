"""Removes keys, e-mail addresses, card and phone numbers from text before it is stored.

They become `[key]`, `[e-mail]`, `[card]` and `[phone]`. The text is untrusted, so each pattern
takes time linear in its length: it starts only where a run of its characters starts, does not
backtrack, or is bounded. In doubt a word is removed. A digest, a date and a number that does not
look like a phone number stay.
"""

import re
from collections.abc import Callable
from typing import Any

from fourscore.core.secrets import hide_keys, hide_known

#: The user's own function, applied after the patterns.
Hook = Callable[[str], str]

#: Longer texts are cut to this many characters.
MAX_TEXT = 200_000
#: Replaces a text for which the hook failed.
WITHHELD = "[withheld: the redaction failed]"

PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----")
PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----")
EMAIL = re.compile(
    r"(?<![A-Za-z0-9._+'-])[A-Za-z0-9._+'-]++(?:@|%40)[A-Za-z0-9-]++(?:\.[A-Za-z0-9-]++)++"
)
#: A run of digits and separators, in which `DIGITS` and `PHONES` search.
NUMBER = re.compile("[+＋(]?\\d[\\d ().\u00a0/-]{5,}+")
DIGITS = re.compile("(?<!\\d)\\d(?:[ \u00a0-]?\\d){12,}+")
PHONES = (
    re.compile("(?<![\\w+])[+＋]\\d(?:[ ().\u00a0-]{0,2}\\d){7,14}(?!\\d)"),
    re.compile(r"(?<![\d.-])(?:1[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?!\d)"),
    re.compile(r"(?<![\d.,-])\(?0\d{1,4}\)?[ /-]\d{3,4}[ -]?\d{3,5}(?!\d)"),
    re.compile(r"(?<!\d)1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?!\d)"),
)


def redact(text: str) -> str:
    """Return the text with each secret, address and number replaced, as in `[key]`."""
    if "PRIVATE KEY" in text:
        text = _remove_pem(text)
    text = hide_keys(hide_known(text))
    if "@" in text or "%40" in text:
        text = EMAIL.sub("[e-mail]", text)
    return NUMBER.sub(_redact_number, text)


def _redact_number(found: re.Match[str]) -> str:
    """Redact card and phone numbers in a run; the patterns also look at the character before it."""
    before = found.string[found.start() - 1 : found.start()]
    run = DIGITS.sub(_redact_cards, before + found[0])
    for pattern in PHONES:
        run = pattern.sub("[phone]", run)
    return run[len(before) :]


def _remove_pem(text: str) -> str:
    """Replace PEM private keys, from BEGIN to END, or to the end of the text without an END."""
    parts, at = [], 0
    while begin := PEM.search(text, at):
        parts += [text[at : begin.start()], "[key]"]
        end = PEM_END.search(text, begin.end())
        at = end.end() if end else len(text)
    return "".join([*parts, text[at:]])


def _redact_cards(found: re.Match[str]) -> str:
    """Redact card numbers in a run of digits: whole groups, 13 to 19 digits, valid by Luhn."""
    run = found[0]
    places = [at for at, letter in enumerate(run) if letter.isdigit()]
    values = [int(run[at]) for at in places]
    sums = _luhn_sums(values)
    starts = [at == 0 or not run[at - 1].isdigit() for at in places]
    parts, copied, n = [], 0, 0
    while n < len(values):
        size = _find_card_length(n, values, sums, starts) if starts[n] else 0
        if not size:
            n += 1
            continue
        parts += [run[copied : places[n]], "[card]"]
        n += size
        copied = places[n - 1] + 1
    return "".join([*parts, run[copied:]])


def _find_card_length(n: int, values: list[int], sums: list[list[int]], starts: list[bool]) -> int:
    """Return the number of digits of the card number that begins at `n`; 0 if there is none."""
    if not 2 <= values[n] <= 6:
        return 0
    for size in range(min(19, len(values) - n), 12, -1):
        end = n + size
        if end == len(values) or starts[end]:
            total = sums[(end - 1) % 2][end] - sums[(end - 1) % 2][n]
            if total % 10 == 0:
                return size
    return 0


def _luhn_sums(values: list[int]) -> list[list[int]]:
    """Return the Luhn sums of all digits before each place, for both parities of the last place.

    Counted from the last digit, every second digit is doubled and replaced by its digit sum.
    """
    sums = []
    for parity in (0, 1):
        so_far = [0]
        for at, value in enumerate(values):
            counted = value if at % 2 == parity else value * 2 - 9 * (value > 4)
            so_far.append(so_far[-1] + counted)
        sums.append(so_far)
    return sums


def redact_value(value: Any, text: Callable[[str], str] = redact) -> Any:
    """Return a JSON value with all texts, keys and numbers redacted (a number may be a card's)."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, dict):
        named: dict[str, Any] = {}
        for key, item in value.items():
            name = redacted = text(key)
            while name in named:  # for example two keys that were e-mail addresses
                name = f"{redacted} {len(named) + 1}"
            named[name] = redact_value(item, text)
        return named
    if isinstance(value, list | tuple):
        return [redact_value(item, text) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        written = str(value)
        found = text(written)
        return value if found == written else found
    return value


def cut(text: str, most: int) -> str:
    """Cut a text to at most `most` characters between words: half an address is not recognized."""
    if len(text) <= most:
        return text
    at = max(text.rfind(space, most - 300, most) for space in " \n\t")
    return text[: at if at > 0 else most - 300]


class Redaction:
    """Cuts a text, applies the patterns, then the user's hook.

    If the hook fails, `WITHHELD` replaces the text.
    """

    def __init__(self, hook: Hook | None = None) -> None:
        self.hook = hook
        self.failures = 0

    def text(self, text: str) -> str:
        found = redact(cut(text, MAX_TEXT))
        if self.hook is None or not found:
            return found
        try:
            redacted: object = self.hook(found)
        except (Exception, SystemExit):
            redacted = None
        if isinstance(redacted, str):
            return redacted
        self.failures += 1
        return WITHHELD

    def value(self, value: Any) -> Any:
        return redact_value(value, self.text)
