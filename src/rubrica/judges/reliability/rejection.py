"""Links that an answer shows only to say that it does not rest on them."""

import re

#: Said of a source by whoever sets it aside, whatever it is.
_SET_ASIDE = re.compile(
    r"\b(?:(?:did|do|have|has|was|were|is|are|been) not (?:be )?"
    r"(?:used?|rel(?:y|ied) (?:up)?on|cited?|counted?|included?|considered|consulted)"
    r"|(?:did|do|have|was|is|wo)n't (?:used?|rel(?:y|ied)|cited?|counted?|included?)"
    r"|not (?:used|relied (?:up)?on|cited|counted|included) (?:here|in this|as a source|above)"
    r"|set (?:it |this |that )?aside|left out|leave out|disregard(?:ed)?|discarded|rejected"
    r"|excluded|ignored?|not an? (?:reliable|credible|trustworthy|valid|usable) source)\b"
    r"|[未没不](?:有|予)?(?:采用|引用|采信|纳入)|不能?作为?依据|未作为依据|不足为据|已排除|予以排除"
    r"|不算来源|不作为来源|弃用",
    re.IGNORECASE,
)
#: Said of a source and its worth; near a primary one it may be said about the matter.
_DOUBTED = re.compile(
    r"\b(?:site|page|post|blog|source|thread|article|video|answer|tweet|link|claim|story|myth"
    r"|rumou?r)s?\b[^.!?。\n]{0,200}?\b(?:unreliable|not (?:be )?(?:reliable|trusted|credible)"
    r"|cannot be trusted|debunked|has been retracted"
    r"|is (?:false|wrong|mistaken|fabricated|nonsense|misinformation|a hoax))\b"
    r"|\b(?:beware of|do not trust|don't trust|contrary to|unlike what"
    r"|wrongly (?:says?|claims?|states?))\b"
    r"|(?:链接|网站|文章|帖子|回答|视频|来源|说法|传言|网文|推文|公众号)[^。！？\n]{0,80}?"
    r"(?:不可信|不可靠|不靠谱|[是系]谣言|不属实|有误|是错的|错误的|不准确|没有依据|缺乏依据)"
    r"|(?:请勿|不要)(?:相信|轻信|采信)",
    re.IGNORECASE,
)
_HEAD = re.compile(
    r"\b(?:not used|unused|rejected|excluded|discarded|not relied (?:up)?on|unreliable|avoid(?:ed)?"
    r"|ignored|set aside|debunked)\b|未采用|未引用|不采用|排除|不可靠|不可信|未采信|弃用",
    re.IGNORECASE,
)
#: What the patterns cannot do without, in English and in Chinese: looking for it first is faster.
_NOT = (
    ("not ", "n't", "aside", " out", "isregard", "iscard", "eject", "xclud", "gnor"),
    ("采用", "引用", "采信", "纳入", "据", "排除", "来源", "弃用"),
)
_DOUBT = (
    ("reliab", "trust", "credib", "debunk", "retract", "false", "wrong", "mistaken", "fabricat",
     "nonsense", "misinform", "hoax", "eware", "ontrary", "nlike"),
    ("可信", "可靠", "靠谱", "谣言", "属实", "误", "错", "准确", "依据", "信"),
)  # fmt: skip
_STOP = re.compile(r"[。！？\n]|[.!?](?=\s)")
#: What is left of an entry of a list without its address.
_ENTRY = " []0123456789.-*"
#: What a line of a list begins with, if not with a number.
_LISTED = frozenset("-*+•[")
#: Characters looked at on either side.
_NEAR = 400


def is_rejected(text: str, start: int, end: int, primary: bool) -> bool:
    """Whether the sentence around a link, or the heading of its list, sets it aside.

    `text` is without its addresses: their words are not the answer's.
    """
    begin, close = text.rfind("\n", 0, start) + 1, text.find("\n", end, end + _NEAR)
    line = text[max(begin, start - _NEAR) : close if close >= 0 else end + _NEAR]
    if line.strip(_ENTRY):  # no mere entry of a list
        sentence = _around(text, start, end)
        if _hints(sentence, _NOT) and _SET_ASIDE.search(sentence):
            return True
        if not primary and _hints(sentence, _DOUBT) and _DOUBTED.search(sentence):
            return True
    heading = _heading(text, begin - 1)
    return heading != "" and _HEAD.search(heading) is not None


def _hints(sentence: str, words: tuple[tuple[str, ...], tuple[str, ...]]) -> bool:
    has, (english, chinese) = sentence.__contains__, words
    return any(map(has, english)) or (not sentence.isascii() and any(map(has, chinese)))


def _around(text: str, start: int, end: int) -> str:
    low = max(0, start - _NEAR)
    for sign in "\n。！？":  # each leaves less to look through
        low = max(low, text.rfind(sign, low, start) + 1)
    for stop in _STOP.finditer(text, low, start):
        low = stop.end()
    after = _STOP.search(text, end, min(len(text), end + _NEAR))
    return text[low : after.start() if after else end + _NEAR]


def _heading(text: str, at: int) -> str:
    """The line above a list of links, if the link stands in one, whose line begins behind here."""
    for _ in range(30):
        if at < 0:
            return ""
        above = text.rfind("\n", 0, at)
        line = text[above + 1 : at].strip()
        if line and line[0] not in _LISTED and not line[0].isdigit():
            return line[-120:] if line.endswith((":", "：")) or line.startswith("#") else ""
        at = above
    return ""
