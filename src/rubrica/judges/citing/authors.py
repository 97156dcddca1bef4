"""Authors with a year, as papers cite them: `(Smith & Lee, 2020)`, `张伟等（2021）`."""

import re

_PIECES = re.compile(r"[;；]")
_YEARED = re.compile(
    r"\s*(?:(?:see also|see|e\.g\.,?|cf\.|参见|见|如|据)\s*)?"
    r"(?P<authors>[^\d,，:：()]{1,60}(?:[,，][^\d,，:：()]{1,40}){0,6}?)"
    r"(?P<comma>\s?[,，]\s?|\s)(?P<year>(?:1[5-9]|20)\d\d[a-z]?|n\.d\.|in press)"
    r"(?:\s?[,，:：]\s?(?:pp?\.|第|ch\.|sec\.|§)?\s?[\d–—-]{1,11}\s?页?)?\s*\Z"
)
_LATIN = re.compile(r"[A-ZÀ-ÞŁŚŽČŠ][\w'’.-]*")
_JOINTS = frozenset([
    "and", "&", "et", "al", "al.", "et.", "of", "for", "the", "on", "in", "von", "van", "de",
    "der", "den", "del", "della", "di", "da", "la", "le", "du", "bin", "ibn", "al-", "und", "y",
    "e", "dos", "das", "ten", "ter", "'et", "with", "others", "colleagues",
])  # fmt: skip
_MONTHS = frozenset([
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep",
    "sept", "oct", "nov", "dec", "spring", "summer", "autumn", "fall", "winter", "since", "until",
    "before", "after", "in", "by", "from", "as", "circa", "ca", "about", "early", "late", "mid",
    "q1", "q2", "q3", "q4", "fy", "born", "died", "est", "founded", "updated", "published",
    "accessed", "retrieved", "season", "version", "edition",
])  # fmt: skip
_CJK = re.compile(r"[㐀-鿿]")
_CHINESE = re.compile(r"[㐀-鿿·]{2,20}(?:[、和与及，,]\s?[㐀-鿿·]{2,20}){0,4}(?:\s?等人?)?\Z")
_PLURAL = re.compile(r"\bet al\b|&|\band\b|等|、|和")
#: Words that tell that the name before a year did some work.
_REPORTS = re.compile(
    r"\s?(?:also |further |later |first |then |similarly |have |has )?"
    r"(?:found|finds?|show(?:s|ed|n)?|report(?:s|ed)?|argue[sd]?|note[sd]?|suggest(?:s|ed)?"
    r"|demonstrate[sd]?|conclude[sd]?|observe[sd]?|estimate[sd]?|propose[sd]?|stud(?:y|ied|ies)"
    r"|describe[sd]?|review(?:s|ed)?|claim(?:s|ed)?|state[sd]?|wr(?:ote|ites?)|pool(?:s|ed)?|add(?:s|ed)?"
    r"|analy[sz]e[sd]?|measure[sd]?|examine[sd]?|compare[sd]?|test(?:s|ed)?|confirm(?:s|ed)?|saw"
    r"|的?(?:研究|调查|认为|发现|指出|提出|报告|显示|表明|对|通过|基于|分析|估计|证实|进一步|也))"
)
_NAMES_BEFORE = re.compile(
    r"(?:[A-ZÀ-ÞŁŚŽČŠ][\w'’.-]{0,30}(?:,?\s(?:and|&|et|al\.?|von|van|de|der|of|the|for)){0,3},?\s){1,8}\Z"
)
_CHINESE_BEFORE = re.compile(
    r"(?:\A|[\s，。；：、,.;:（(）)“”])(?:而|据|根据|如|与|但|其中|同样|此外)?"
    r"([㐀-鿿·]{2,12}(?:[、和与][㐀-鿿·]{2,6}){0,2}?等?人?)\s?\Z"
)
_SURNAMES = frozenset(
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎"
    "余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文宁"
)
#: Characters looked at before a year in brackets.
_NEAR = 90


def cited_authors(inside: str) -> list[tuple[str, bool, int, int]]:
    """The authors with a year between two brackets: marker, whether it is plain, start and end.

    Not plain is what may as well be a place or a date: it cites only where a source is called so.
    """
    found: list[tuple[str, bool, int, int]] = []
    start = 0
    for piece in _PIECES.split(inside):
        end = start + len(piece)
        match = _YEARED.match(piece)
        if match and _is_author(match["authors"]):
            marker = f"{match['authors'].strip(' ,，')}, {match['year']}"
            comma = bool(match["comma"].strip()) or bool(_PLURAL.search(match["authors"]))
            found.append((marker, comma, start, end))
            found.extend(_more_years(piece, match, marker, start, end))
        start = end + 1
    return found


def _more_years(
    piece: str, match: re.Match[str], marker: str, start: int, end: int
) -> list[tuple[str, bool, int, int]]:
    """`(Smith, 2019, 2020)`: the authors are read up to the last year; the others count too."""
    authors = marker.rpartition(",")[0]
    years = re.findall(r"(?:1[5-9]|20)\d\d[a-z]?", piece[: match.start("year")])
    return [(f"{authors}, {year}", True, start, end) for year in years[:5]]


def _is_author(authors: str) -> bool:
    authors = authors.strip(" ,，")
    if _CJK.search(authors):
        return _CHINESE.match(authors) is not None and len(authors) <= 40
    words = authors.replace(",", " ").split()
    if not words or words[0].casefold().strip(".") in _MONTHS or len(words) > 14:
        return False
    return all(_LATIN.match(word) or word.casefold() in _JOINTS for word in words)


def authors_before(body: str, start: int, end: int) -> tuple[str, bool, int] | None:
    """The authors right before `(2020)`: marker, whether it is plain, and where they start."""
    near = body[max(0, start - _NEAR) : start]
    if "\n" in near:
        near = near[near.rindex("\n") + 1 :]
    reports = _REPORTS.match(body, end, end + 40) is not None
    if found := _NAMES_BEFORE.search(near if near.endswith(" ") else near + " "):
        names = found[0].strip()
        plain = re.search(r"\bet al\b", names) is not None or (
            reports and not names.casefold().startswith(("the ", "this "))
        )
        return names, plain, start - len(near) + found.start()
    if found := _CHINESE_BEFORE.search(near):
        names = found[1]
        short = names[:1] in _SURNAMES and len(names) <= 4
        plain = "等" in names[-2:] or (short and reports)
        return names, plain, start - len(near) + found.start(1)
    return None
