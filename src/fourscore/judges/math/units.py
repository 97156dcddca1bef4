"""Read units: what may follow a number without changing its value.

A unit that the reference does not have is ignored, as is one that the answer leaves out. Two
units must agree: the same word, or a known conversion. Words that change the value are either
applied (`million`) or make the text prose (`or`, `not`, `six`), never ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from fourscore.judges.math.limits import MAX_UNIT_WORDS, ProseError


@dataclass(frozen=True, slots=True)
class Unit:
    name: str
    dimension: str | None = None  # None: a word, such as "apples"
    factor: Fraction = Fraction(1)


_TABLE = """
length m 1: m meter metre
length cm 1/100: cm centimeter centimetre
length mm 1/1000: mm millimeter millimetre
length dm 1/10: dm
length km 1000: km kilometer kilometre
length in 0.0254: in inch inches
length ft 0.3048: ft foot feet
length yd 0.9144: yd yard
length mi 1609.344: mi mile
mass kg 1: kg kilogram
mass g 1/1000: g gm gram
mass mg 1/1000000: mg milligram
mass lb 0.45359237: lb lbs pound
mass oz 0.028349523125: oz ounce
time s 1: s sec second
time min 60: min minute
time h 3600: h hr hour
time day 86400: day
time week 604800: week
time month 1: month mo
money dollar 1: dollar usd $
money cent 1/100: cent ¢
volume l 1: l L liter litre
volume ml 1/1000: ml mL milliliter millilitre
angle degree 1: degree deg
"""


def _read_table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for line in _TABLE.strip().splitlines():
        head, names = line.split(": ")
        dimension, name, factor = head.split()
        # Months have no fixed length: a dimension of their own.
        kind = name if name == "month" else dimension
        for word in names.split():
            units[word] = Unit(name, kind, Fraction(factor))
    return units


_UNITS = _read_table()
_SCALES = {
    "hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "dozen": 12, "dozens": 12, "millions": 10**6, "thousands": 10**3, "billions": 10**9,
    "hundreds": 10**2,
}  # fmt: skip
# Words after a number that are never units. An answer may hedge in words ("5 or six", "5 to be
# exact not"), and an unknown unit is ignored, so these must not count as one.
_NOT_UNITS = frozenset(
    str.split(
        """or and not no nor to than minus plus times over divided by less more least most fewer
    negative squared cubed factorial half halves third thirds quarter quarters fourth fourths
    fifth fifths sixth sixths seventh eighth eighths ninth tenth tenths hundredth hundredths
    thousandth thousandths zero one two three four five six seven eight nine ten eleven twelve
    thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty
    seventy eighty ninety pi percent percentage sqrt root power mod modulo base remainder if unless
    either between through until up except but approximately about around roughly maybe perhaps is
    are was equals equal where when for any all some otherwise point points' prime"""
    )
) | frozenset(_SCALES)
_SHORT = frozenset(
    str.split(
        "cm mm km dm kg mg gm lb lbs oz ft in yd mi hr hrs sec min ml mL mph kph rpm usd USD deg"
        " sq cu gal pts Rs INR EUR GBP am pm AM PM units"
    )
)
_SPEEDS = {"mph": "mi/h", "kph": "km/h", "kmph": "km/h"}
# A lone letter after a number may be a unit or a variable; both readings are tried.
_SET_LETTERS = frozenset("mgshlLVWJNKCF")
LETTERS = frozenset("mgshL")
CURRENCIES = frozenset({"$", "€", "£", "¥", "₹", "Rs", "rs", "USD", "usd", "EUR", "INR", "GBP"})


def is_unit_letter(letter: str) -> bool:
    """Whether a letter inside \\text{} is a unit; any other is a variable or a choice."""
    return letter in _SET_LETTERS


def is_unit_word(word: str) -> bool:
    """Whether a short run of letters is a unit rather than a product of variables."""
    return word in _SHORT or (len(word) > 2 and _find_singular(word) in _UNITS)


def _find_singular(word: str) -> str:
    lowered = word if word in _UNITS else word.lower()
    if lowered in _UNITS:
        return lowered
    for ending in ("es", "s"):
        if lowered.endswith(ending) and lowered[: -len(ending)] in _UNITS:
            return lowered[: -len(ending)]
    return lowered


def get_scale(word: str) -> int | None:
    """Return the factor of a word such as `million`, or None."""
    return _SCALES.get(word.lower())


def read_unit(tokens: list[str]) -> Unit:
    """Return the unit that the trailing tokens name; raise ProseError if they name none."""
    words: list[str] = []
    rest = [t for t in tokens if t not in ("{", "}", ".")]
    for index, token in enumerate(rest):
        before = rest[index - 1] if index else ""
        if token.startswith('"') or token in _SET_LETTERS or (token == "a" and index):
            word = token.lstrip('"')
            if word.lower() in _NOT_UNITS and not (words and word in ("squared", "cubed")):
                raise ProseError("words that are no unit")
            words.append(word)
        elif (token in "23" and before in ("^", "-")) or (index and token in "^/*-"):
            words.append(token)
        else:
            raise ProseError("words that are no unit")
    if not words or len(words) > 2 * MAX_UNIT_WORDS or words[-1] in "^/*-":
        raise ProseError("words that are no unit")
    if len(words) == 1:
        if words[0].lower() in _SPEEDS:
            return Unit(_SPEEDS[words[0].lower()])
        known = _UNITS.get(_find_singular(words[0]))
        return known or Unit(words[0].lower().removesuffix("s"))
    return _read_compound(words)


def _read_compound(words: list[str]) -> Unit:
    """Bring squares, cubes and quotients to one spelling: sq. ft, ft^2, feet squared."""
    power = {"square": "2", "sq": "2", "cubic": "3", "cu": "3"}
    spelled: list[str] = []
    pending = ""
    for word in words:
        if word.lower() in power:
            pending = power[word.lower()]
            continue
        if word in ("squared", "cubed"):
            spelled += ["^", "2" if word == "squared" else "3"]
            continue
        known = _UNITS.get(_find_singular(word))
        name = known.name if known else word.lower().removesuffix("s")
        spelled.append("/" if name == "per" else name)
        if pending and word.isalpha():
            spelled += ["^", pending]
            pending = ""
    if len(spelled) == 3 and spelled[1] == "^" and spelled[0] in _UNITS:
        base = _UNITS[spelled[0]]
        if base.dimension == "length":
            exponent = int(spelled[2]) if spelled[2].isdigit() else 1
            return Unit(f"{base.name}^{exponent}", f"length{exponent}", base.factor**exponent)
    return Unit("".join(spelled))
