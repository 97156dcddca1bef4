"""Periods: a month, per year, daily, /mo, 每月, 年薪."""

import re

#: Seconds, and what they are called.
PERIODS = {
    3600.0: "hour hr hourly 时 小时",
    86400.0: "day daily 日 天",
    604800.0: "week wk weekly 周 星期",
    2629800.0: "month mo monthly 月",
    7889400.0: "quarter quarterly 季度",
    31557600.0: "year yr annum annual annually yearly 年",
}
_BY_NAME = {name: size for size, names in PERIODS.items() for name in names.split()}
_NOUN = "(hour|hr|day|week|wk|month|mo|quarter|year|yr|annum)"
_ADVERB = "(hourly|daily|weekly|monthly|quarterly|annual|annually|yearly)"
_HAN = "(小时|星期|季度|[年月天日周])"
#: Words between a figure and `a day` that make it a span: 230 °C for an hour.
_SPAN = r"(?:times|twice|once|for|in|within|after|over|until|half|than|by|with|at|from|to|and|or)\b"
_BEHIND = re.compile(
    rf"(?:[ ]times|(?:[ ](?!{_SPAN})[a-z]+){{0,2}}?)"
    rf"(?:(?:[ ](?:an?|per|each|every)[ ]|[ ]?/[ ]?){_NOUN}|[ ]{_ADVERB})\b"
    r"(?![ ](?:ago|earlier|later|before|after|old|and a half))"
    rf"|[/每]个?{_HAN}",
)
_BEFORE = re.compile(
    rf"\b(?:{_ADVERB}(?![ ](?:report|meeting|survey))|(?:per|each|every)[ ]{_NOUN},?)"
    r"(?:[ ][a-z-]+){0,4}[ :=]{0,2}\Z"
    rf"|每个?{_HAN}[^,，.。;；\d]{{0,8}}\Z"
    r"|(?<![\d一二三四五六七八九十半])([年月日时周])(?:薪|租|费|均|收入|工资|产量|销量)[^,，.。;；\d]{0,6}\Z"
)
#: What joins a period behind a figure to it.
_JOINTS = frozenset(" /每")
_TIMES = re.compile(r"[ ]times\b|次")
#: Words and characters without one of which there is no period.
WORDS = frozenset(name for name in _BY_NAME if name.isascii())
HAN = frozenset("年月日时周天星季")


def period(before: str, behind: str) -> float:
    """The seconds of `a month` behind a figure, or of `monthly` before it; 0 where none is told."""
    found = _BEHIND.match(behind) if behind[:1] in _JOINTS else None
    if found is None and _may_tell(before):
        found = _BEFORE.search(before)
    return 0.0 if found is None else _BY_NAME[found[found.lastindex or 0]]


def _may_tell(before: str) -> bool:
    """Whether a period may stand before a figure: to look for the parts of its words is quick."""
    return (
        "ly" in before
        or "annual" in before
        or "per " in before
        or "each " in before
        or "every " in before
        or not before.isascii()
    )


def counts_times(behind: str) -> bool:
    """Whether a number says how often: three times a day, 两次."""
    return _TIMES.match(behind) is not None
