"""Write numbers in Markdown, LaTeX and full-width digits plainly, and keep their places."""

import re
import unicodedata
from bisect import bisect_right
from typing import NamedTuple

#: Stands where a mark was that changes nothing, such as `**` or `\text{`.
MARK = "\u2060"
GAP = rf"[ \u00a0\u202f\u2009{MARK}]"
_CJK = r"\u2e80-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
#: Characters of a word. Chinese, Japanese and Korean have no spaces: their letters end no number.
LATIN = rf"[^\W{_CJK}]"
LETTER = rf"[^\W\d_{_CJK}]"
_WIDE = str.maketrans("０１２３４５６７８９．－＋％＄￥", "0123456789.-+%$¥")
#: Math between dollars: no space inside its ends, and no digit after it.
_MATH = re.compile(r"(?<!\\)\$(?![\s$])(?:[^$\\\n]|\\.){1,400}(?<!\s)\$(?!\d)")
_MARKUP = re.compile(
    r"\\[dtc]?frac\s{0,3}(?:(?P<above>\d)(?P<below>\d)"
    r"|\{(?P<over>[^{}]{1,40})\}\s{0,3}\{(?P<under>[^{}]{1,40})\})"
    r"|(?P<vulgar>[¼-¾⅐-⅞])|\\(?P<name>times|cdot|pi|sqrt)(?![A-Za-z])"
    r"|(?P<degree>\^?\{?\\circ(?![A-Za-z])\}?)|\\(?P<escaped>[%$])"
    r"|(?P<comma>\{,\}|，(?=\d{3}(?!\d)))|(?P<space>\\q?quad(?![A-Za-z])|\\[,;:! ]|~)"
    r"|\\(?:text|math)[a-z]{0,6}\s{0,3}\{|\\(?:operatorname|boxed)\s{0,3}\{"
    r"|\\(?:left|right)(?![A-Za-z])|\\[()\[\]]|\$\$|[{}]"
    rf"|\*\*(?!\d)|(?<!\d)\*\*|(?P<power>\*\*)"
    rf"|(?<!{LATIN})[*_`]{{1,3}}|[*_`]{{1,3}}(?!{LATIN})|(?P<dollar>\$)"
)
_NAMES = {"times": "×", "cdot": "×", "pi": "π", "sqrt": "√"}


class Plain(NamedTuple):
    """A text without marks; after `marks[i]` its places are `shifts[i]` earlier than they were."""

    text: str
    marks: list[int]
    shifts: list[int]

    def find_place(self, place: int) -> int:
        return place + self.shifts[bisect_right(self.marks, place) - 1]


def remove_markup(text: str) -> Plain:
    """Return a text with its Markdown and LaTeX replaced by plain signs."""
    text = text.translate(_WIDE)
    math = {place for one in _MATH.finditer(text) for place in (one.start(), one.end() - 1)}
    pieces, marks, shifts = [""], [0], [0]
    begin = length = 0
    for match in _MARKUP.finditer(text):
        new = "$" if match["dollar"] and match.start() not in math else _replace(match)
        pieces += (text[begin : match.start()], new)
        length += match.start() - begin + len(new)
        if len(new) > 1 and new[0] == MARK:  # what follows the mark begins where the markup did
            marks.append(length - len(new) + 1)
            shifts.append(match.start() - marks[-1])
        begin = match.end()
        marks.append(length)
        shifts.append(begin - length)
    return Plain("".join((*pieces, text[begin:])), marks, shifts)


def _replace(match: re.Match[str]) -> str:
    above, below = match["above"] or match["over"], match["below"] or match["under"]
    if above:
        return f"{MARK}{above.strip()}/{below.strip()}"
    if vulgar := match["vulgar"]:
        return MARK + unicodedata.normalize("NFKC", vulgar).replace("\u2044", "/")
    if match["name"]:
        return _NAMES[match["name"]]
    signs = {"degree": "°", "comma": ",", "space": " ", "power": "^"}
    return match["escaped"] or signs.get(match.lastgroup or "", MARK)
