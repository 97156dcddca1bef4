"""Numbers written in other ways: 1/2, 10^6, 1.299,00; and digits that name something: 10.0.0.1."""

import re

from rubrica.judges.text.amount import PART, Quantity
from rubrica.judges.text.lists import words_of
from rubrica.judges.text.measuring import measured

#: A whole number may stand before it; 7/10 and 90/100 are mostly marks that were given.
_FRACTION = re.compile(r"(?:(\d{1,3})[ ])?([1-9]\d?)/([2-9]|1[1-6]|32|64)(?![\d/]|[.,]\d)")
_OF = re.compile(r"[ ]of\b|的")
_POWER = re.compile(
    r"(\d+(?:\.\d+)?)(?:e([+-]?\d{1,3})(?!\w|\.\d)"
    r"|(?:[ ]?[x×*·][ ]?(10))?(?:\^[({]?([+-]?\d{1,3})[)}]?|(?<=10)([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})))",
    re.IGNORECASE,
)
_RAISED = str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹", "-+0123456789")
_CONTINENTAL = re.compile(
    r"\d{1,3}(?:(?:\.\d{3}){1,4},(\d{1,2})|(?:\.\d{3}){2,4})(?!\d|[.,]\d)"
    r"|\d{1,3},(\d\d)(?=[ ]?€)"
)
_ADDRESS = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?![.]?\d)")
_TELEPHONE = re.compile(r"\d{1,5}(?:-\d{1,8}){2,5}(?![\d-])")
_TELEPHONE_DIGITS = range(7, 16)
_VERSION = re.compile(r"(\d{1,5})\.(\d{1,5})(?:\.(\d{1,5}))?")
_LAST_WORD = re.compile(r"([A-Za-z]+)\.?[ ]?\Z")


def fraction(text: str, at: int) -> Quantity | None:
    """1/2, 3 1/2 cups, 2/3 of them."""
    found = _FRACTION.match(text, at)
    if found is None or (at and text[at - 1] in "/.["):
        return None
    above, below = float(found[2]), float(found[3])
    if above == below or (found[1] and above > below) or found[2] + found[3] == "247":
        return None
    value, end = float(found[1] or 0) + above / below, found.end()
    if not found[1] and _OF.match(text, end):
        return Quantity("percent", 100 * value, 100 * value, "%", at, end, True, 0.5)
    quantity = measured(text, at, end, value, 0.005)
    # 90/60 mmHg are two figures.
    return None if quantity.unit == "pressure" else quantity


def power(text: str, at: int) -> Quantity | None:
    """1e6, 10^6, 1.5 × 10⁶; behind another number than 10 a small figure is a note."""
    found = _POWER.match(text, at)
    if found is None or text[at - 1 : at].isalnum():
        return None
    number, exponent, ten, raised, small = found.groups()
    size = int(exponent or raised or small.translate(_RAISED))
    base = float(number) if not (exponent or ten) else 10.0
    if not base or abs(size) * len(number) > 300:
        return None
    place = 0.5 * 10.0 ** -len(number.partition(".")[2]) if exponent or ten else 0.0
    factor = base**size
    value = factor * float(number) if exponent or ten else factor
    return measured(text, at, found.end(), value, place * factor)


def continental(text: str, at: int) -> Quantity | None:
    """1.299,00 and 1.299.000 with the signs of the Continent; 12,50 only before €."""
    found = _CONTINENTAL.match(text, at)
    if found is None:
        return None
    places = found[1] or found[2] or ""
    whole = found[0][: len(found[0]) - len(places) - 1] if places else found[0]
    value = float(f"{whole.replace('.', '')}.{places or 0}")
    return measured(text, at, found.end(), value, 0.5 * 10.0 ** -len(places))


def address(text: str, at: int) -> Quantity | None:
    """10.0.0.1, which is no size."""
    found = _ADDRESS.match(text, at)
    if found is None:
        return None
    value = float("".join(part.zfill(3) for part in found.groups()))
    return _named("address", value, value, at, found.end())


def version_after(text: str, at: int) -> Quantity | None:
    """The version whose number begins here behind a word that tells one: Python 3.10."""
    before = text[max(0, at - 14) : at]
    word = _LAST_WORD.search(before)
    if word is None:
        named = before.rstrip().endswith(("版本", "版"))
    else:
        named = word[1].lower() in words_of("versioned.txt")
    return version(text, at) if named else None


def version(text: str, at: int) -> Quantity | None:
    found = _VERSION.match(text, at)
    if found is None:
        return None
    value = (float(found[1]) * PART + float(found[2])) * PART + float(found[3] or 0)
    high = value if found[3] else value + PART - 1
    slack = 0.0 if found[3] else 0.5 * 10.0 ** -len(found[2])
    return _named("version", value, high, at, found.end(), slack)


def telephone(text: str, at: int) -> Quantity | None:
    """400-123-4567, and what else is numbered so."""
    found = _TELEPHONE.match(text, at)
    digits = "" if found is None else found[0].replace("-", "")
    if found is None or len(digits) not in _TELEPHONE_DIGITS:
        return None
    return _named("telephone", float(digits), float(digits), at, found.end())


def _named(
    unit: str, value: float, high: float, start: int, end: int, slack: float = 0.0
) -> Quantity:
    return Quantity("name", value, high, unit, start, end, False, slack)
