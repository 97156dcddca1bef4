"""Removes keys, e-mail addresses, card and phone numbers from text before it is stored.

They become `[key]`, `[e-mail]`, `[card]` and `[phone]`. The text is untrusted, so each pattern
takes time linear in its length: it starts only where a run of its characters starts, does not
backtrack, or is bounded. In doubt a word is removed. A digest, a date and a number that does not
look like a phone number stay.
"""

import re
from collections.abc import Callable
from typing import Any

#: The user's own function, applied after the patterns.
Hook = Callable[[str], str]

#: Longer texts are cut to this many characters.
MAX_TEXT = 200_000
#: Replaces a text for which the hook failed.
WITHHELD = "[withheld: the redaction failed]"

PEM = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----")
PEM_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----")
#: Searched in the lower-case text: ignoring case would take five times as long.
NAMED = re.compile(
    r"(?:api|access|private|signing|secret)[_ -]?key|token|secret|password|passwd|pwd|authorization"
)
VALUE = re.compile(
    r"\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:(?i:bearer|basic|token) )?+(?!\[)([^\s\"',;&\\]{6,}+)"
)
BEARER = re.compile(r"(?i)\b(bearer|basic)(\s{1,3})(?=[a-z._~+/=-]{0,200}\d)[\w.~+/=-]{8,}+")
LOGIN = re.compile(r"://[^\s/@:]{0,100}:[^\s/@]{1,200}@")
TOKEN = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{16,}+")
PREFIX = re.compile(
    r"(?:^|[_-])(?:(?:sk|pk|rk|ak|whsec|key)[_-]|gh[pousr]_|github_pat_|glpat-|xox[a-z]-|xapp-|"
    r"AKIA|ASIA|AIza|ya29|eyJ|hf_|npm_|pypi-|dop_v1_|shpat_|SG)"
)
CHAINED = re.compile(r"\[key\](?:\.\[key\])+")
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
#: Only ASCII letters: some other letters become longer in lower case, which shifts positions.
LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def redact(text: str) -> str:
    """Return the text with each secret, address and number replaced, as in `[key]`."""
    if "PRIVATE KEY" in text:
        text = _remove_pem(text)
    lower = text.lower() if text.isascii() else text.translate(LOWER)
    text = _remove_named(text, lower)
    if "bearer" in lower or "basic" in lower:
        text = BEARER.sub(r"\1\2[key]", text)
    text = LOGIN.sub("://[key]@", text)
    text = TOKEN.sub(_redact_token, text)
    if "[key].[key]" in text:
        text = CHAINED.sub("[key]", text)
    if "@" in text or "%40" in text:
        text = EMAIL.sub("[e-mail]", text)
    return NUMBER.sub(_redact_number, text)


def _remove_named(text: str, lower: str) -> str:
    """Replace the value after a word like `password` and `:` or `=`."""
    parts, at = [], 0
    for name in NAMED.finditer(lower):
        if name.start() >= at and (value := VALUE.match(text, name.end())):
            parts += [text[at : value.start(1)], "[key]"]
            at = value.end(1)
    return "".join([*parts, text[at:]])


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


def _redact_token(found: re.Match[str]) -> str:
    """Replace a token that has the prefix of a known kind of key, or that looks random."""
    token = found[0]
    digits = sum(map(token.count, "0123456789"))
    prefix = PREFIX.search(token)
    if prefix and digits and len(token) - prefix.end() >= 12:
        return f"{token[: prefix.start()]}[key]"
    if len(token) >= 32 and digits >= 3:
        upper = sum(letter.isupper() for letter in token)
        lower = sum(letter.islower() for letter in token)
        if upper >= 3 and lower >= 3:
            return "[key]"
    return token


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
