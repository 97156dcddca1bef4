"""Units of measurement: what each measures, and how much of the base unit it is."""

import re

#: dimension -> base unit and spellings, each with its size in the base unit.
_TABLE: dict[str, dict[float, str]] = {
    "length": {
        1.0: "m metre metres meter meters 米 公尺",
        1e3: "km kilometre kilometres kilometer kilometers kms 公里 千米",
        1e-2: "cm centimetre centimetres centimeter centimeters 厘米 公分",
        1e-3: "mm millimetre millimetres millimeter millimeters 毫米",
        1e-6: "µm μm um micrometre micrometres micrometer micrometers micron microns 微米",
        1e-9: "nm nanometre nanometres nanometer nanometers 纳米",
        1609.344: "mi mile miles 英里",
        1852.0: "nmi 海里",
        0.3048: "ft foot feet 英尺",
        0.0254: "inch inches 英寸",
        0.9144: "yd yard yards 码",
        500.0: "里路 华里",
        9.4607e15: "light-year light-years 光年",
        1.495978707e11: "au",
    },
    "mass": {
        1.0: "kg kgs kilo kilos kilogram kilograms kilogramme kilogrammes 公斤 千克",
        1e-3: "g gram grams gramme grammes 克",
        1e-6: "mg milligram milligrams 毫克",
        1e-9: "µg μg ug mcg microgram micrograms 微克",
        1e3: "t tonne tonnes ton tons 吨 公吨",
        0.45359237: "lb lbs pound pounds 磅",
        0.028349523: "oz ounce ounces 盎司",
        0.5: "斤 市斤",
        6.35029: "stone",
    },
    "time": {
        1.0: "s sec secs second seconds 秒 秒钟",
        1e-3: "ms millisecond milliseconds 毫秒",
        1e-6: "µs μs microsecond microseconds 微秒",
        1e-9: "ns nanosecond nanoseconds 纳秒",
        60.0: "min mins minute minutes 分钟",
        3600.0: "h hr hrs hour hours 小时 个小时 钟头 个钟头",
        86400.0: "day days 天 日",
        604800.0: "week weeks 周 星期 个星期 礼拜 个礼拜",
        1209600.0: "fortnight fortnights",
        2629800.0: "month months 个月 月",
        7889400.0: "quarters 季度 个季度",
        31557600.0: "yr yrs year years 年 周年 周岁 岁",
        315576000.0: "decade decades",
        3155760000.0: "century centuries 个世纪 世纪",
    },
    "area": {
        1.0: "m² m2 sqm 平方米 平米",
        1e6: "km² km2 平方公里 平方千米",
        1e-4: "cm² cm2 平方厘米",
        1e4: "ha hectare hectares 公顷",
        4046.856: "acre acres 英亩",
        666.667: "亩",
        2589988.11: "mi² 平方英里",
        0.09290304: "ft² 平方英尺",
    },
    "volume": {
        1.0: "l litre litres liter liters 升 公升",
        1e-3: "ml millilitre millilitres milliliter milliliters 毫升",
        1e3: "m³ m3 立方米",
        1e12: "km³ km3 立方千米 立方公里",
        3.785412: "gal gallon gallons 加仑",
        0.473176: "pint pints",
        0.24: "cup cups 杯",
        0.015: "tbsp tablespoon tablespoons 汤匙 大勺",
        0.005: "tsp teaspoon teaspoons 茶匙 小勺",
        158.987: "barrel barrels 桶",
        1e-6: "µl μl 微升",
    },
    "speed": {
        1.0: "m/s 米/秒",
        0.2777777778: "km/h kph kmh 公里/小时 千米/小时",
        0.44704: "mph",
        0.514444: "knot knots kn",
    },
    "temperature": {1.0: "°c ℃ celsius 摄氏度", 2.0: "°f ℉ fahrenheit 华氏度", 3.0: "k kelvin"},
    "pressure": {
        1.0: "pa pascal",
        1e3: "kpa",
        1e6: "mpa",
        133.322: "mmhg 毫米汞柱",
        1e5: "bar bars",
        101325.0: "atm atmosphere atmospheres 大气压 个大气压",
        6894.757: "psi",
    },
    "power": {
        1.0: "w watt watts 瓦 瓦特",
        1e3: "kw kilowatt kilowatts 千瓦",
        1e6: "mw megawatt megawatts 兆瓦",
        1e9: "gw gigawatt gigawatts 吉瓦",
        745.7: "hp horsepower 马力",
    },
    "energy": {
        1.0: "j joule joules 焦耳 焦",
        1e3: "kj 千焦",
        3.6e3: "wh watt-hour watt-hours 瓦时",
        3.6e6: "kwh kilowatt-hour kilowatt-hours 千瓦时 度电",
        3.6e9: "mwh megawatt-hour megawatt-hours 兆瓦时",
        3.6e12: "gwh gigawatt-hour gigawatt-hours 吉瓦时",
        3.6e15: "twh terawatt-hour terawatt-hours 太瓦时",
        4184.0: "kcal calories calorie 千卡 大卡",
    },
    "data": {
        1.0: "byte bytes 字节",
        1e3: "kb kib kilobyte kilobytes",
        1e6: "mb mib megabyte megabytes",
        1e9: "gb gib gigabyte gigabytes",
        1e12: "tb tib terabyte terabytes",
        0.125: "bit bits 比特 位",
    },
    "frequency": {1.0: "hz hertz 赫兹", 1e3: "khz 千赫", 1e6: "mhz 兆赫", 1e9: "ghz 吉赫"},
    "charge": {1.0: "ah 安时", 1e-3: "mah 毫安时"},
    "voltage": {1.0: "v volt volts 伏 伏特", 1e3: "kv 千伏", 1e-3: "mv 毫伏"},
    "current": {1.0: "amp amps ampere amperes 安培", 1e-3: "ma 毫安"},
    "angle": {1.0: "° degree degrees 度"},
    "amount": {1.0: "mol mole moles 摩尔", 1e-3: "mmol 毫摩尔"},
    "sound": {1.0: "db decibel decibels 分贝"},
}
_ASCII = re.compile(
    r"(?:(square|sq|cubic)[ .]{1,2})?"
    r"([a-zµμ°℃℉]{1,14}(?:-(?:years?|hours?))?[²³23]?(?:/[a-zµμ]{1,12}[²³23]?)?)(?![a-z])",
    re.IGNORECASE,
)
_DEGREES = re.compile(r"(?:degrees?|deg|°)[ ]?(c|f)(?:elsius|ahrenheit)?\b", re.IGNORECASE)
_PER = re.compile(
    r"(?:[ ]?/[ ]?|[ ](?:per|a|an)[ ])(?:(square|cubic)[ ])?([a-zµμ]{1,14}[²³23]?)(?![a-z])",
    re.IGNORECASE,
)
_DIVIDES = frozenset((" /", " p", " a"))
#: Words that are no unit alone, and signs by which one goes on.
_COMPOSED = frozenset(("", "deg", "degree", "degrees", "square", "sq", "cubic", *"%°℃℉µμ"))
_JOINTS = frozenset("-/²³23°℃℉µμ")
#: Letters that are units only in this case: `5 M` is a scale, `5 K` a thousand.
_CASED = frozenset(("s", "g", "t", "h", "j", "v", "w", "l", "m", "k", "pa", "au", "kn", "in", "mi"))
_LETTERS = re.compile("[a-z]+")
_UNITS = {
    name: (dimension, size)
    for dimension, sizes in _TABLE.items()
    for size, names in sizes.items()
    for name in names.split()
}
#: The Chinese units by their first character, the longest first.
_HAN: dict[str, list[str]] = {}
for _name in sorted(_UNITS, key=len, reverse=True):
    if _name[0] > "⺀":
        _HAN.setdefault(_name[0], []).append(_name)
#: What units begin with: the first letters up to another sign, or one Chinese character.
LEADS = frozenset(_HAN).union(*(_LETTERS.findall(name)[:1] for name in _UNITS))


def _han_at(text: str, place: int) -> str:
    for name in _HAN.get(text[place : place + 1], ()):
        if text.startswith(name, place):
            return name
    return ""


def unit_at(text: str, place: int, word: str = "") -> tuple[str, float, int] | None:
    """The unit that begins here, maybe with this word: its dimension, its size, and its end."""
    if text[place : place + 1] > "⺀":
        return _han_unit(text, place)
    end = place + len(word)
    if word.lower() not in _COMPOSED and text[end : end + 1] not in _JOINTS:
        known = _known(word, None)
        return None if known is None else _per(text, end, known)
    found = _ASCII.match(text, place)
    if found is None:
        return None
    power, name = found[1], found[2]
    degrees = _DEGREES.match(text, place) if text[place] in "dD°" else None
    if degrees is not None:
        return "temperature", 1.0 if degrees[1] in "cC" else 2.0, degrees.end()
    simple = name.split("/")[0] if name.lower() not in _UNITS else name
    known = _known(simple, power)
    if known is None:
        return None
    return _per(text, found.start(2) + len(simple), known)


def _per(text: str, end: int, known: tuple[str, float]) -> tuple[str, float, int]:
    """A unit that ends here, with the one that divides it if there is one."""
    behind = text[end : end + 2]
    per = _PER.match(text, end) if behind[:1] == "/" or behind.lower() in _DIVIDES else None
    below = _known(per[2], per[1]) if per is not None else None
    if per is None or below is None or below[0] in ("temperature", "angle"):
        return *known, end
    if known[0] == "length" and below[0] == "time":
        return "speed", known[1] / below[1], per.end()
    return f"{known[0]}/{below[0]}", known[1] / below[1], per.end()


def _known(name: str, power: str | None) -> tuple[str, float] | None:
    known = _UNITS.get(name)
    if known is not None and power is None:
        return known
    lower = name.lower()
    if lower in _CASED and name.isupper() and name not in ("J", "V", "W", "L", "K"):
        return None
    if name in ("MW", "mW"):
        return ("power", 1e6 if name == "MW" else 1e-3)
    known = _UNITS.get(lower)
    if known is None or power is None:
        return known
    if known[0] != "length":
        return None
    if power.lower() == "cubic":
        return "volume", known[1] ** 3 * 1e3
    return "area", known[1] ** 2


def _han_unit(text: str, place: int) -> tuple[str, float, int] | None:
    name = _han_at(text, place)
    if not name:
        return None
    dimension, size = _UNITS[name]
    end = place + len(name)
    if text[end : end + 1] in ("/", "每"):
        below = _han_at(text, end + 1)
        if below:
            other = _UNITS[below]
            end += 1 + len(below)
            if dimension == "length" and other[0] == "time":
                return "speed", size / other[1], end
            return f"{dimension}/{other[0]}", size / other[1], end
    return dimension, size, end


def per_before(text: str, place: int) -> tuple[str, float, int] | None:
    """The unit of `每立方米` before a quantity, which divides it, and where that begins."""
    at = text.rfind("每", place - 12 if place > 12 else 0, place)
    if at < 0:
        return None
    name = _han_at(text, at + 1)
    if not name or not _FILLER.issuperset(text[at + 1 + len(name) : place]):
        return None
    return *_UNITS[name], at


_FILLER = frozenset(" 体重约不超过高于低至少大有能跑可以行驶达最多")
