"""The check `number`: a number in the answer, within a tolerance."""

import re
from math import inf, isfinite, nan, prod
from typing import ClassVar, Literal, NamedTuple

from fourscore.core import Case, CaseError, ConfigError, Evidence, Signal, Trace
from fourscore.core.numbers import check_finite, decimal_text
from fourscore.judges.answer_extraction import blank_thinking
from fourscore.judges.checks.check import Check, Texts, list_texts, read_texts, shorten
from fourscore.judges.checks.plain_numbers import GAP, LATIN, LETTER, MARK, Plain, remove_markup
from fourscore.judges.math.limits import ProseError
from fourscore.judges.math.units import (
    CURRENCIES,
    Unit,
    get_scale,
    is_unit_letter,
    is_unit_word,
    read_unit,
)

#: Most characters of an answer that are read, from its end.
_MAX_READ = 200_000
#: Most characters of a number; a longer one is not equal to anything.
_MAX_DIGITS = 400
_MINUS = "-\u2212\u2013"
_SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_RAISED = r"[⁺⁻]?[⁰¹²³⁴-⁹]{1,4}"
_POWER = rf"(?:{MARK}{{0,2}}\^{MARK}{{0,2}}(?:[-+\u2212]?{MARK}{{0,2}}\d{{1,6}})|{_RAISED})"
#: A number with all that is joined to it, else what has digits and is no number: a footnote mark,
#: an exponent, a word. Every part is optional but the digits: nothing is read twice.
_TOKEN = re.compile(
    rf"(?:\[\^[^\]\s]{{1,20}}\]|(?<=[\d.)%\]]){GAP}{{0,3}}\[\d{{1,3}}\])"
    rf"|(?P<of>百分之)?(?P<part>[/√]{MARK}{{0,3}})?(?P<sign>[-+\u2212\u2013]?){MARK}{{0,3}}"
    rf"(?P<before>(?:USD|EUR|GBP|INR|Rs|[€$£¥₹]){GAP}{{0,2}})?(?P<inner>[-\u2212]?)"
    rf"(?:(?P<whole>\d{{1,9}}){GAP}{{1,3}}(?=\d{{1,9}}{GAP}?/{GAP}?\d))?"
    r"(?P<run>\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,10}(?!\d)(?:[.,:_'’]\d+)*"
    rf"|\d+(?:[.,:_'’]\d+)*|(?<![.])(?<!{LATIN})\.\d+)"
    r"(?P<date>(?:[-/]\d+){2,}|(?:[年月点時时百千万萬亿億兆천만억]\d+)+)?"
    rf"(?P<exp>[eE][-+]?\d{{1,9}}(?!{LATIN})(?!\.\d))?"
    rf"(?:{GAP}{{0,2}}[×x*·]{GAP}{{0,2}}10(?P<ten>{_POWER}))?(?P<power>{_POWER})?"
    rf"(?:{GAP}?/{GAP}?(?P<below>\d{{1,40}}(?:\.\d{{1,40}})?)(?![.,/]?\d))?"
    rf"(?P<irrational>{MARK}{{0,3}}[π√])?"
    rf"|\^{MARK}{{0,2}}[-+\u2212]?{MARK}{{0,2}}\d+"
    rf"|{LETTER}{LATIN}*(?:(?<=\d)\.\d+)*"
)
_READABLE = re.compile(
    r"(?:\d+|\d{1,3}(?:[,_'’]\d{3})+|\d{1,3}(?:[ \u00a0\u202f]\d{3})+)?(?:\.\d+)?"
)
_PERCENT = re.compile(
    rf"{GAP}{{0,3}}(?:%|(?P<mille>‰|per mille(?!{LATIN}))"
    rf"|(?:percent(?:age)?|per cent|pct)(?!{LATIN}))",
    re.IGNORECASE,
)
_SCALE_WORD = re.compile(rf"{GAP}{{0,3}}-?([A-Za-z]{{3,9}})(?!{LATIN})")
#: After digits, `M` is a million and `K` a thousand; `千米` and `千克` are units.
_SCALE_SIGN = re.compile(
    rf"(?:([KkMBT]|bn|mn|tn)(?!{LATIN})|{GAP}{{0,3}}([百千万萬亿億兆천만억]{{1,3}})(?![米克瓦卡]))"
)
_SIGN_SCALES = {"百": 100} | dict.fromkeys("Kk千천", 10**3) | dict.fromkeys("万萬만", 10**4)
_SIGN_SCALES |= dict.fromkeys(("M", "mn"), 10**6) | dict.fromkeys("亿億억", 10**8)
_SIGN_SCALES |= dict.fromkeys(("B", "bn"), 10**9) | dict.fromkeys(("T", "tn", "兆"), 10**12)
#: What stands after a number: a word with its powers and its quotient, a currency, a degree.
_UNIT = re.compile(
    rf"(?P<gap>{GAP}{{0,3}}[-(]?{GAP}{{0,2}})(?P<unit>(?:[€$£¥₹¢]|[°µ]?{LETTER}{{1,20}}|°)"
    rf"(?:{MARK}?\^{MARK}?[23]|[²³])?(?:/{LETTER}{{1,10}}(?:\^{MARK}?[23]|[²³])?)?"
    rf"|(?:(?!{LETTER})[^\W\d_]){{1,20}})"
)
_UNIT_PART = re.compile(r"[^\W\d_]+|[€$£¥₹¢°/^23²³]")
_ALIASES = {"€": "eur", "euro": "eur", "euros": "eur", "£": "gbp", "₹": "inr", "rs": "inr"}
_ALIASES |= {"eur": "eur", "gbp": "gbp", "inr": "inr", "°": "degree", "¢": "cent"}


class Found(NamedTuple):
    """A number in a text: its value, whether it is a percentage, its unit and its place.

    What has the look of a number and cannot be read as one, such as a date, is not a number (nan).
    """

    value: float
    percent: bool
    unit: str
    start: int
    end: int


class Number(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if a number in the answer equals the expected one.

    Reads `1,234.5`, `1 234`, `-3`, `1e-3`, `4.2 × 10^2`, `1/2`, `3 million`, `42万`, `5%` (0.05),
    also in LaTeX and full-width digits. Dates, versions and `1,23` are numbers that equal nothing.
    A known unit after the answer's number has to agree with the expected one ("5 km").

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
            if _read_only_number(text) is None:
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
        wanted = " or ".join(_describe(one) for one in expected[:3])
        for one in chosen:
            if any(self._is_equal(one, other) for other in expected):
                start, end = skipped + one.start, skipped + one.end
                shown = answer[start:end]
                evidence = Evidence(text=shown, start=start, end=end)
                return self.decide(True, f"{shown} is the expected number", [evidence])
        last = chosen[-1]
        if not isfinite(last.value):
            shown = shorten(answer[skipped + last.start : skipped + last.end])
            why = "is too large" if last.value in (inf, -inf) else "cannot be read as one number"
            return self.decide(False, f"{shown} {why}, expected {wanted}")
        return self.decide(False, f"the answer has {_describe(last)}, expected {wanted}")

    def _read_expected(self, text: str, case: Case) -> Found:
        found = _read_only_number(text)
        if found is None:
            raise CaseError(case.id, "expected", f"expected one number, got {shorten(text)}")
        return found

    def _is_equal(self, given: Found, expected: Found) -> bool:
        factor = _convert(given.unit, expected.unit)
        if factor is None:
            return False
        allowed = self.tolerance + 1e-12 + self.relative * abs(expected.value)
        values = [given.value * factor]
        if self.percent == "either" and given.percent != expected.percent:
            values.append(given.value * 100 if given.percent else given.value / 100)
        return any(abs(value - expected.value) <= allowed for value in values)


def _describe(one: Found) -> str:
    return decimal_text(one.value) + (f" {one.unit}" if one.unit else "")


def _read_only_number(text: str) -> Found | None:
    found = find_numbers(text)
    return found[0] if len(found) == 1 and isfinite(found[0].value) else None


def _convert(given: str, expected: str) -> float | None:
    """Return the factor from one unit to the other, or None if they do not agree.

    What the case expects is a unit, whatever it is; a word of the answer only if it is known.
    """
    if not given or not expected:
        return 1.0
    mine, theirs = _read_known(given), _read_known(expected)
    if theirs is None:
        return 1.0 if _is_same_word(given, expected) else None
    if mine is None or mine.name == theirs.name:
        return 1.0
    if mine.dimension is None or mine.dimension != theirs.dimension:
        return None
    return float(mine.factor / theirs.factor)


def _read_known(text: str) -> Unit | None:
    """Return a known unit or currency; None for any other word."""
    parts = _UNIT_PART.findall(text.replace("²", "^2").replace("³", "^3"))
    first = parts[0]
    known = first in CURRENCIES or is_unit_letter(first)
    if first.lower() in _ALIASES:
        first = _ALIASES[first.lower()]
    elif not known and (len(first) < 2 or not any(map(is_unit_word, (first, first.lower())))):
        return None
    try:
        return read_unit([part if part in "/^23" else f'"{part}' for part in (first, *parts[1:])])
    except ProseError:
        return None


def _is_same_word(one: str, other: str) -> bool:
    """Whether two words are the same; an English plural is the same, and Chinese has no spaces."""
    first, second = one.casefold(), other.casefold()
    same = first == second or (
        min(len(first), len(second)) > 2 and first.rstrip("s") == second.rstrip("s")
    )
    if not re.match(LATIN, other):
        return first.startswith(second)
    # Of short units case matters: `mW` is not `MW`.
    return same if max(len(one), len(other)) > 2 else one == other


def find_numbers(text: str) -> list[Found]:
    """Return the numbers of a text with their places, in order."""
    plain = remove_markup(text)
    return [_read_number(plain, match) for match in _TOKEN.finditer(plain.text) if match["run"]]


def _read_number(plain: Plain, match: re.Match[str]) -> Found:
    text = plain.text
    start, end = match.span()
    start += len(match[0]) - len(match[0].lstrip(MARK))
    value = _read_value(match) * _read_sign(text, match)
    scale, end = _read_scale(text, end)
    percent = _PERCENT.match(text, end)
    if percent:
        end = percent.end()
    share = 1000 if percent and percent["mille"] else 100 if percent or match["of"] else 1
    unit = (match["before"] or "").strip(f" \u00a0\u202f\u2009{MARK}")
    if share == 1 and not unit:
        unit = _find_unit(text, end)
    return Found(
        value * scale / share, share > 1, unit, plain.find_place(start), plain.find_place(end)
    )


def _read_sign(text: str, match: re.Match[str]) -> int:
    """Return -1 after a minus. After a digit or a word it is a dash: `3-5`, `COVID-19`."""
    start = match.start("sign")
    dash = start > 0 and re.match(LATIN, text[start - 1])
    return -1 if match["inner"] or (match["sign"] and match["sign"] in _MINUS and not dash) else 1


def _read_value(match: re.Match[str]) -> float:
    run = match["run"]
    if not _READABLE.fullmatch(run) or match["date"] or match["part"] or match["irrational"]:
        return nan
    if len(run) > _MAX_DIGITS:
        return inf
    digits = re.sub(r"[,_'’ \u00a0\u202f]", "", run)
    ten = _read_power(match["ten"])
    try:
        value = float(f"{digits}{match['exp'] or ''}") if ten is None else float(f"{digits}e{ten}")
        if (power := _read_power(match["power"])) is not None:
            value = value**power
        if match["below"]:
            value /= float(match["below"])
    except OverflowError:
        return inf
    except (ZeroDivisionError, ValueError):
        return nan
    if match["whole"]:  # 3 1/2
        return float(match["whole"]) + value if value < 1 else nan
    return value


def _read_power(text: str | None) -> int | None:
    return int(text.replace(MARK, "").lstrip("^").translate(_SUPER)) if text else None


def _read_scale(text: str, end: int) -> tuple[int, int]:
    """Return what the words after a number multiply it with, and where they end."""
    scale = 1
    for _ in range(2):  # hundred thousand
        if sign := _SCALE_SIGN.match(text, end):
            marks = [sign[1]] if sign[1] else list(sign[2])
            scale, end = scale * prod(_SIGN_SCALES[mark] for mark in marks), sign.end()
        elif (word := _SCALE_WORD.match(text, end)) and (factor := get_scale(word[1])):
            scale, end = scale * factor, word.end()
    return scale, end


def _find_unit(text: str, end: int) -> str:
    match = _UNIT.match(text, end)
    if match is None:
        return ""
    unit = match["unit"].replace(MARK, "")
    if unit == "in" and re.match(r" [a-z]", text[match.end() : match.end() + 2]):
        return ""  # "5 in total"
    # After a dash or a bracket only a known word is a unit: `5-mile`, `5 (miles)`.
    joined = match["gap"].strip(f" \u00a0\u202f\u2009{MARK}")
    return unit if not joined or _read_known(unit) else ""
