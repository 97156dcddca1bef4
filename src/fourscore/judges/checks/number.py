"""The check `number`: a number in the answer, within a tolerance."""

import re
from typing import ClassVar, Literal, NamedTuple

from fourscore.core import Case, CaseError, ConfigError, Evidence, Signal, Trace
from fourscore.core.numbers import check_finite, decimal_text
from fourscore.judges.answer_extraction import blank_thinking
from fourscore.judges.checks.check import Check, Texts, list_texts, read_texts, shorten

#: Most characters of an answer that are read, from its end.
_MAX_READ = 200_000
#: A number: `-1,234.5`, `1 234,5`, `.5`, `1e-3`, `5 %`, `−3`. Each part is bounded.
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-+\u2212\u2013]?)(?P<digits>\d{1,3}(?:,\d{3}){1,10}(?!\d)|"
    r"\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,10}(?!\d)|\d{1,40}|(?=\.\d))(?P<rest>\.\d{1,40})?"
    r"(?P<power>[eE][-+]?\d{1,3}(?![\w.]))?(?P<percent>[ \u00a0]?[%\uff05])?"
)
#: The unit after a number: a word, a degree or a currency.
_UNIT = re.compile(r"[ \u00a0]?((?:[^\W\d_]|[°€$£¥µ²³/]){1,20})")
_BEFORE = "€$£¥"
_WIDE = str.maketrans("０１２３４５６７８９．，－＋％", "0123456789.,-+%")


class Found(NamedTuple):
    """A number in a text: its value, whether it is a percentage, its unit and its place."""

    value: float
    percent: bool
    unit: str
    start: int
    end: int


class Number(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if a number in the answer equals the expected one.

    Reads `1,234.5`, `1 234`, `-3`, `1e-3`, `5%` (0.05) and full-width digits. A unit after the
    expected number ("5 km") has to follow the answer's number, if any unit does; `km` is not `m`.

    value: the right number, or a list of right numbers; without it, what the case expects
    tolerance: the largest absolute difference (0)
    relative: the largest difference as a share of the expected number (1e-9, for rounding)
    which: the `last` number of the answer (default), the `first`, the `only` one, or `any`
    percent: `strict` (default) reads 5% as 0.05; `either` as 5, too

    Example: {number: 42, tolerance: 0.5}
    """

    name: ClassVar[str] = "number"
    main: ClassVar[str] = "value"
    value: Texts = None
    tolerance: float = 0.0
    relative: float = 1e-9
    which: Literal["last", "first", "only", "any"] = "last"
    percent: Literal["strict", "either"] = "strict"

    def __post_init__(self) -> None:
        check_finite("tolerance", self.tolerance, low=0)
        check_finite("relative", self.relative, low=0)
        for text in list_texts(self.value):
            if len(find_numbers(text)) != 1:
                raise ConfigError(f"expected one number, got {shorten(text)}", field="value")

    def measure(self, case: Case, trace: Trace) -> Signal:
        expected = [self._read_expected(text, case) for text in read_texts(self.value, case)]
        answer = trace.answer
        skipped = max(0, len(answer) - _MAX_READ)
        given = find_numbers(blank_thinking(answer)[skipped:])
        if not given:
            return self.decide(False, "the answer has no number")
        if self.which == "only" and len({one.value for one in given}) > 1:
            return self.decide(False, f"the answer has {len(given)} numbers, expected one")
        chosen = given if self.which == "any" else [given[0 if self.which == "first" else -1]]
        wanted = " or ".join(decimal_text(one.value) for one in expected[:3])
        for one in chosen:
            if any(self._is_equal(one, other) for other in expected):
                shown = answer[skipped + one.start : skipped + one.end]
                start, end = skipped + one.start, skipped + one.end
                evidence = Evidence(text=shown, start=start, end=end)
                return self.decide(True, f"{shown} is the expected number", [evidence])
        shown = decimal_text(chosen[-1].value) + (f" {chosen[-1].unit}" if chosen[-1].unit else "")
        return self.decide(False, f"the answer has {shown}, expected {wanted}")

    def _read_expected(self, text: str, case: Case) -> Found:
        found = find_numbers(text)
        if len(found) != 1:
            raise CaseError(case.id, "expected", f"expected one number, got {shorten(text)}")
        return found[0]

    def _is_equal(self, given: Found, expected: Found) -> bool:
        if expected.unit and given.unit and not _is_same_unit(given.unit, expected.unit):
            return False
        allowed = self.tolerance + 1e-12 + self.relative * abs(expected.value)
        values = [given.value]
        if self.percent == "either" and given.percent != expected.percent:
            values.append(given.value * 100 if given.percent else given.value / 100)
        return any(abs(value - expected.value) <= allowed for value in values)


def _is_same_unit(one: str, other: str) -> bool:
    """Whether two units are the same; an English plural is the same unit."""
    first, second = one.casefold(), other.casefold()
    same = first == second or (
        min(len(first), len(second)) > 2 and first.rstrip("s") == second.rstrip("s")
    )
    # Of short units case matters: `mW` is not `MW`.
    return same if max(len(one), len(other)) > 2 else one == other


def find_numbers(text: str) -> list[Found]:
    """Return the numbers of a text with their places, in order."""
    plain = text.translate(_WIDE)
    return [one for one in (_read_number(plain, match) for match in _NUMBER.finditer(plain)) if one]


def _read_number(text: str, match: re.Match[str]) -> Found | None:
    digits = re.sub(r"[, \u00a0\u202f]", "", match["digits"])
    if not digits and not match["rest"]:
        return None
    start, end = match.span()
    # A sign after a digit or a word is a dash: `3-5`, `COVID-19`.
    sign = match["sign"] if start == 0 or not text[start - 1].isalnum() else ""
    value = float(f"{digits or 0}{match['rest'] or ''}{match['power'] or ''}")
    if value in (float("inf"), float("-inf")):
        return None
    if sign in ("-", "\u2212", "\u2013"):
        value = -value
    percent = bool(match["percent"])
    unit = ""
    if not percent:
        follows = _UNIT.match(text, end)
        unit = follows[1] if follows else ""
        before = text[start - 1 : start]
        if before and before in _BEFORE:
            unit = before
    return Found(value / 100 if percent else value, percent, unit, start, end)
