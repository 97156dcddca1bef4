"""Money around a number: the names and codes of currencies, and the words that tell a price."""

import re

from rubrica.judges.text import numerals
from rubrica.judges.text.amount import Quantity

#: By the sign that the name of a currency begins with.
MONEY = {
    sign: tuple((re.compile(pattern, re.IGNORECASE), unit) for pattern, unit in names)
    for sign, names in {
        "u": ((r"usd|u\.?s\.?[ ](?:dollars?|usd)", "USD"),),
        "a": ((r"american[ ](?:dollars?|usd)", "USD"), (r"australian[ ]dollars?", "AUD")),
        "d": ((r"dollars?", "USD"),),
        "e": ((r"(?:euros?|eur)\b", "EUR"),),
        "p": ((r"pounds?[ ]sterling", "GBP"),),
        "g": ((r"gbp", "GBP"),),
        "y": ((r"yuan", "CNY"), (r"yen", "JPY")),
        "r": ((r"rmb|renminbi", "CNY"), (r"rupees?", "INR")),
        "c": ((r"cny", "CNY"), (r"canadian[ ]dollars?", "CAD"), (r"chf", "CHF")),
        "j": ((r"jpy", "JPY"),),
        "i": ((r"inr", "INR"),),
        "f": ((r"francs?", "CHF"),),
        "元": ((r"元", "CNY"),),
        "美": ((r"美[元金]", "USD"),),
        "欧": ((r"欧元", "EUR"),),
        "英": ((r"英镑", "GBP"),),
        "日": ((r"日元", "JPY"),),
        "人": ((r"人民币", "CNY"),),
        "块": ((r"块钱", "CNY"),),
        "港": ((r"港[元币]", "HKD"),),
        "€": ((r"€(?![ ]?\d)", "EUR"),),
        "$": ((r"\$(?![ ]?\d)", "USD"),),
        "£": ((r"£(?![ ]?\d)", "GBP"),),
        "¥": ((r"¥(?![ ]?\d)", "¥"),),
    }.items()
}
_PRICED = re.compile(
    r"\b(?:cost|price|pay|paid|fee|fare|ticket|salary|wage|worth|fine|bill|spen[dt]|charge"
    r"|budget|money|loss|profit|revenue|debt|loan|fund|tax|damages|overspen|income|grant|invest"
    r"|award|compensat|settle|donat|rent|deposit|prize|bonus|cash|saving)",
    re.IGNORECASE,
)
_CODE_BEFORE = re.compile(
    r"\b(USD|EUR|GBP|CNY|RMB|JPY|CHF|INR|AUD|CAD|HKD|SEK|NOK|DKK|KRW|US\$)[ ]?\Z"
)
_CODES = {"RMB": "CNY", "US$": "USD"}
#: 块 is money behind these, else a count of pieces.
_PRICED_HAN = re.compile("[价钱费付罚买卖贵薪花收]|门票|便宜")
#: 两块八: what stands behind is tenths.
_COINS = re.compile(r"块([1-9一二三四五六七八九])(?![\d一二三四五六七八九十百千万亿个])")


def money_at(text: str, place: int) -> tuple[str, int] | None:
    """The currency whose name begins here, and where it ends."""
    for pattern, currency in MONEY.get(text[place].lower(), ()):
        found = pattern.match(text, place)
        if found is not None:
            return currency, found.end()
    return None


def priced(text: str, start: int, end: int) -> bool:
    """Whether the words around speak of money: pounds are no weight there."""
    return _PRICED.search(text, max(0, start - 80), end + 80) is not None


def coins(text: str, start: int, end: int, value: float, slack: float) -> Quantity | None:
    """两块八, and 两块 where a price is told."""
    tail = _COINS.match(text, end)
    if tail is not None:
        tenths = float(tail[1]) if tail[1].isdecimal() else (numerals.chinese(tail[1]) or 0.0)
        value, last, slack = value + tenths / 10, tail.end(), 0.05
    elif _PRICED_HAN.search(text[max(0, start - 12) : start]):
        last = end + 1
    else:
        return None
    return Quantity("money", value, value, "CNY", start, last, slack=slack, written=value)


def coded(before: str) -> str:
    """The currency whose code stands at the end of what is before a number."""
    sign = before[-1:]
    if sign == " ":
        sign = before[-2:-1]
    if not sign.isupper() and sign != "$":
        return ""
    found = _CODE_BEFORE.search(before[-5:])
    return "" if found is None else _CODES.get(found[1], found[1])
