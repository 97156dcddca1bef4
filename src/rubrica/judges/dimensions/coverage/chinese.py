"""The parts of a question in Chinese: its clauses that ask, what it lists behind 介绍 or 比较."""

import re

_ASKS = re.compile(
    "怎么|如何|怎样|什么|哪|谁|为何|多少|多久|多长|多大|几[个年种次时天岁]|吗|呢|是否|能否|何时"
    "|有没有|是不是|可不可以"
)
_CUT = re.compile("[，,；;、]|以及|并且|(?<=[么样些吗])[和与]")
_TELL = re.compile(
    "介绍|说明|比较|对比|分析|列出|阐述|描述|解释|讲讲|说说|谈谈|总结|评估|概述|讲解|告诉我|了解"
    "|梳理|讨论|简述|论述|列举|评价|说一下|讲一下|写"
)
_WITH = re.compile("包括|涵盖|内容有|[：:]|内容包含|重点(?:讲|说|谈)")
_FROM = re.compile(
    "[从在就]([^从在。]{2,60}?)(?:等|这)?(?:几|两|三|四|五|多)?个?(?:方面|角度|维度|层面"
    "|上的?(?:区别|差异|差别|不同|优劣|表现|优缺点))"
)
_NAMED = re.compile(
    "(?:影响|原因|意义|作用|区别|方法|办法|好处|危害|措施|过程|特点|历史|用途|风险|建议|事项)$"
)
_AND = re.compile("、|以及|[，,；;]|和|与|及(?!格|时)|并(?=且)")
_TAIL = re.compile(
    "(?:等)?(?:几个|这几个|三个|四个|五个|多个)?(?:方面|角度|维度|层面|上)?(?:进行|的).{0,4}$"
    "|等.{0,4}$|(?:几个|这几个|三个|四个|多个)?(?:方面|角度|维度|层面)$"
)
_LEAD = re.compile(
    "^(?:并|再|同时|另外|请|还有)?(?:列出|说明|介绍|分析|给出|解释|比较|指出|讲讲|说说)?(?:其|它的"
    "|一下)?"
)


def is_asking(piece: str) -> bool:
    """Whether a sentence asks for something."""
    return bool(_ASKS.search(piece) or _TELL.search(piece))


def cut(piece: str) -> list[str]:
    """Cut where a clause that asks follows; a clause that does not joins the next one that does."""
    found: list[str] = []
    waiting = ""
    for clause in _CUT.split(piece):
        waiting = f"{waiting}，{clause}" if waiting else clause
        if _ASKS.search(clause):
            found.append(waiting)
            waiting = ""
    if waiting and found and _NAMED.search(waiting):
        found.append(waiting)
    elif waiting and found:
        found[-1] = f"{found[-1]}，{waiting}"
    return found or [piece]


def listed(piece: str) -> list[str]:
    """The items of `从甲、乙两方面介绍`, `介绍它的甲和乙`."""
    if from_ := _FROM.search(piece):
        return _items(from_[1])
    tell = _TELL.search(piece) or re.search("有哪些|有什么", piece)
    if tell is None:
        return []
    thing = re.sub("^(?:一下|下|我|给我|并|和|一篇|一份)+", "", piece[tell.end() :])
    if with_ := _WITH.search(thing):
        return _items(thing[with_.end() :])
    at = thing.find("的")
    if at >= 0 and _AND.search(thing, at):
        return _items(thing[at + 1 :])
    plain = "、" in thing and at < 0
    return _items(thing) if plain or tell[0] in ("比较", "对比", "有哪些", "有什么") else []


def _items(text: str) -> list[str]:
    text = _TAIL.sub("", text)
    items = (_LEAD.sub("", item.strip(" 的")) for item in _AND.split(text))
    kept = [item for item in items if item]
    return kept if all(len(item) <= 16 for item in kept) else []
