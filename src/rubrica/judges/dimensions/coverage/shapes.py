"""Forms that speak of a concept without a word for it: a sum of money, a date, steps, a name."""

import re
from collections.abc import Callable, Mapping

_DIGIT = r"[0-9０-９]"
_HAN_NUMBER = "一二两三四五六七八九十百千万亿半几"
#: Words of months and seasons; `may` is one only beside a word or figure that makes it a month.
_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?|spring|summer|autumn|winter|may \d)\b"
    r"|(?:early|late|mid|in|of|until|from|through|by) may\b"
)
_HAN_MONTHS = rf"[\d{_HAN_NUMBER}]月|[春夏秋冬]"
_YEARS = (
    r"(?:1[0-9]|20)\d\ds?\b|years ago\b|\d{1,2}(?:st|nd|rd|th) century"
    r"|\d{2,4} (?:bc|ad|bce|ce)\b"
)
_HAN_YEARS = (
    r"年前|\d{3}年|公元前|世纪|[唐宋元明清汉秦隋晋周商]代|[唐宋元明清汉秦隋晋]朝"
    rf"|[{_HAN_NUMBER}]年代"
)
#: What plain English text may have, and what only other text has.
_PATTERNS = {
    "money": (
        r"[$€£¥￥₹]\s?\d|\d\s?(?:[$€£¥]|usd|eur|gbp|rmb|dollars?|euros?|pounds?|yuan|yen|cents?)\b",
        rf"[0-9０-９{_HAN_NUMBER}]\s?[多余]?[万亿千百]?(?:元|块|美元|欧元|日元|泰铢|港币)|免费",
    ),
    "percent": (
        r"\d\s?(?:%|percent\b|per cent\b)",
        rf"百分之|{_DIGIT}％|[{_HAN_NUMBER}]成(?!为|了|本)",
    ),
    "date": (
        (
            rf"\b(?:{_YEARS}|{_MONTHS}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b"
            r"|\d{1,2}(?::\d\d)? ?(?:am|pm|a\.m|p\.m)\b)"
        ),
        rf"{_HAN_YEARS}|{_HAN_MONTHS}|\d[日号点时]|周[一二三四五六日末]|星期",
    ),
    "month": (rf"\b(?:{_MONTHS})", _HAN_MONTHS),
    "year": (rf"\b(?:{_YEARS})", _HAN_YEARS),
    "duration": (
        (
            r"\b(?:\d+|one|two|three|four|five|six|seven|eight|ten|twelve|several|a few|half an?"
            r"|an?)[ -](?:to \w+ )?(?:\w+ )?(?:second|minute|hour|day|week|month|year|quarter)s?\b"
        ),
        rf"[0-9０-９{_HAN_NUMBER}]\s?个?[多半]?(?:秒|分钟|小时|天|日|周|星期|月|年|季度|工作日)",
    ),
    "temperature": (
        r"\d\s?(?:°|degrees|celsius|fahrenheit)",
        rf"[0-9０-９{_HAN_NUMBER}]\s?(?:度|℃|摄氏度)",
    ),
    "number": (
        (
            r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|hundred|thousand|million"
            r"|half)\b"
        ),
        rf"[{_HAN_NUMBER}][个种次克勺杯人倍层座只台位成千万百条根张本片颗头家间]",
    ),
    "negation": (
        r"\b(?:not|no|cannot|never|neither|nor|without)\b|n['’]t\b",
        "无法|不能|没有|不支持|不会|不足|未能",
    ),
    "answer": (
        (
            r"^\W*(?:(?:yes|no|not|never|only|in most cases|it depends|absolutely|of course|yep"
            r"|nope|yeah|definitely|certainly|(?:unfortunately|sadly),? not?)(?![a-z])"
            r"|(?:it|they|he|she|we|you|i|that|there) (?:do|does|did|is|are|was|were|can|could|will"
            r"|wo|would|should|has|have|must|may)(?: not|not|n['’]t|['’]t)?\W*$)"
        ),
        (
            r"^\W*(?:是的?|不是|可以|不可以|不能|能|不行|会|不会|有|没有|需要|不需要|不用|不必|还在|不在|当然"
            r"|对|不对|否|行(?=[，。！,.!]|$)|未必|不一定)(?![a-z])"
        ),
    ),
    "title": (r"[\"“][^\"”]{2,60}[\"”]|\*[^*\n]{2,60}\*", "《[^》]{1,40}》"),
    "cause": (
        r"\bbecause\b|\bdue to\b|^\W*(?:as|since) |, (?:so|which) ",
        "因为|由于|导致|所以|因而",
    ),
    "contact": (
        (
            r"\S@\S+\.\w|\b\d{3}[- ]\d{3,4}[- ]?\d{0,4}\b|https?://|400-\d|\d{3,4}-\d{7,8}"
            r"|\b1[3-9]\d{9}\b"
        ),
        "",
    ),
    "example": (
        r"\bfor (?:example|instance)\b|\be\.g\b|\bsuch as\b|```",
        "例如|比如|譬如|举例|为例|案例",
    ),
    "definition": (
        r"\b(?:is|are|was|were|means?|refers? to|stands for|describes|denotes|called)\b|=",
        "[是指即]|叫做|称为|意思|意为",
    ),
}
#: These are seen in the text as it is written.
_CASED = {
    "name": (
        (
            r"[A-Z][\w'’-]{1,40} (?:of |the |de |von |van |da |al |bin )?[A-Z]\w"
            r"|(?<=[a-z,] )[A-Z][a-z]+"
        ),
        r"[\u4e00-\u9fff][·•][\u4e00-\u9fff]|(?:由|是|叫|作者|名叫)[\u4e00-\u9fff]{2,4}",
    ),
    "code": (
        (
            r"`[^`\n]+`|^\s*(?:\$|>>>|#!)|\b(?:pip3?|npm|yarn|apt(?:-get)?|brew|docker|kubectl"
            r"|cargo|go|make|git|curl|helm|conda|yum|dnf) "
            r"(?:install|add|run|build|test|get|clone|up|compose|apply|pull|create|-)"
        ),
        "",
    ),
    "steps": (
        r"^\s*(?:step )?\d{1,2}[.)、：:]\s*\S|^\s*[-*]\s|\b[Ss]tep \d",
        "第[一二三四五六七八九]步|[①②③④]",
    ),
}


#: Without one of these no pattern of the shape can match. It is many times faster to see that.
_NEEDS = {
    "date": "jan feb mar apr may jun jul aug sep oct nov dec spring summer autumn winter century"
    " day years 年 月 春 夏 秋 冬 世纪 公元 代 朝 日 号 点 时 周 星期",
    "year": "century years 年 世纪 公元 代 朝",
    "month": "jan feb mar apr may jun jul aug sep oct nov dec spring summer autumn winter 月 春 夏"
    " 秋 冬",
    "contact": "@ http",
    "example": "example instance e.g such ``` 例如 比如 譬如 举例 为例 案例",
    "cause": "because due as since so which 因 由于 导致 所以",
    "title": '《 " “ *',
    "steps": "- * 第 ① ② ③ ④",
    "code": "` $ > # pip npm yarn apt brew docker kubectl cargo go make git curl helm conda yum"
    " dnf",
}
_DIGITS = frozenset("0123456789０１２３４５６７８９")
_ON_DIGITS = ("date", "year", "month", "contact", "steps")
#: Of these nothing is left in plain English without a digit.
_OF_DIGITS = ("money", "percent", "temperature")
_FIGURES = frozenset("0123456789")


def _shape(name: str, plain: str, other: str, cased: bool) -> Callable[[str, str], bool]:
    in_ascii = re.compile(plain, re.MULTILINE).search
    in_all = re.compile(f"{plain}|{other}" if other else plain, re.MULTILINE).search
    needs = tuple(_NEEDS.get(name, "").split())
    plain_needs = tuple([need for need in needs if need.isascii()])
    digits, figures = name in _ON_DIGITS, name in _OF_DIGITS

    def has(text: str, lower: str) -> bool:
        is_ascii = lower.isascii()
        if figures and is_ascii and _FIGURES.isdisjoint(lower):
            return False
        if needs and not (digits and not _DIGITS.isdisjoint(lower)):
            for need in plain_needs if is_ascii else needs:
                if need in lower:
                    break
            else:
                return False
        return (in_ascii if is_ascii else in_all)(text if cased else lower) is not None

    return has


def _is_list(text: str, lower: str) -> bool:
    """Whether at least three things stand in a row."""
    del text
    return lower.count("、") > 1 or lower.count(", ") > 1 or (", " in lower and " and " in lower)


#: Whether a piece of text has the form, given the text and the same in lower case.
SHAPES: Mapping[str, Callable[[str, str], bool]] = {
    "list": _is_list,
    **{name: _shape(name, *pair, False) for name, pair in _PATTERNS.items()},
    **{name: _shape(name, *pair, True) for name, pair in _CASED.items()},
}
