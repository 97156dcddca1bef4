"""Which language a text is written in, as far as a request can ask for one."""

import re

_SIGN = re.compile(r"[\u3400-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_HANGUL = re.compile(r"[\uac00-\ud7af]")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_VIET = re.compile(r"[ăâđêôơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ]", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_COMMON = {
    name: frozenset(words.split())
    for name, words in {
        "english": "the a an is are of to and in that it for with on as by this be not or from you",
        "french": "le la les un une des est et de du que qui dans pour pas sur avec ce au il sont",
        "german": "der die das ein eine ist und von zu den mit nicht auf für als dem sich auch es",
        "spanish": "el la los las un una es y de que en por con para no del se su al como más son",
        "italian": "il la lo gli un una è e di che in per con non del della sono si da al come",
        "portuguese": "o a os as um uma é e de que em por com para não do da se no na são como",
    }.items()
}
NAMES = {
    "english": r"english|英文|英语|tiếng anh",
    "chinese": r"chinese|mandarin|中文|汉语|普通话|tiếng trung|tiếng hoa",
    "vietnamese": r"vietnamese|越南语|越南文|越语|tiếng việt",
    "japanese": r"japanese|日语|日文|tiếng nhật",
    "korean": r"korean|韩语|韩文|tiếng hàn",
    "russian": r"russian|俄语|俄文|tiếng nga",
    "french": r"french|法语|法文|tiếng pháp",
    "german": r"german|德语|德文|tiếng đức",
    "spanish": r"spanish|西班牙语|西班牙文|tiếng tây ban nha",
    "italian": r"italian|意大利语|tiếng ý",
    "portuguese": r"portuguese|葡萄牙语|tiếng bồ đào nha",
}
_ANY = "|".join(f"(?P<{name}>{words})" for name, words in NAMES.items())
ASKED = re.compile(
    r"(?:\b(?:answer|reply|respond|write|explain|describe|summari[sz]e|translate|say|give|output|"
    r"response)\b[^?!\n]{0,80}\b(?:in|into|to)\s+|\bin (?=\w+ only)|^in (?=\w+[,:])"
    r"|(?:请?用|以|翻译成|译成|译为|翻译为|改用|使用)\s*(?:简体|繁体|流利的?)?|\b(?:bằng|sang|ra) )"
    rf"(?:{_ANY})",
    re.IGNORECASE,
)


def wanted(request: str) -> str | None:
    """The language that a request asks for."""
    hit = ASKED.search(request)
    if hit is None:
        return None
    return next(name for name in NAMES if hit.group(name))


def written_in(text: str, tongue: str) -> bool:
    """Whether a text may be in a language; short names fit every Latin one."""
    letters = len(_LETTER.findall(text)) or 1
    signs = len(_SIGN.findall(text)) / letters
    kana, hangul, cyrillic = (len(p.findall(text)) for p in (_KANA, _HANGUL, _CYRILLIC))
    if tongue == "chinese":
        return signs > 0.3 and not kana
    if tongue == "japanese":
        return kana > 0
    if tongue == "korean":
        return hangul / letters > 0.3
    if tongue == "russian":
        return cyrillic / letters > 0.3
    if signs > 0.2 or kana or hangul or cyrillic / letters > 0.2:
        return False
    viet = len(_VIET.findall(text)) / letters
    words = _WORD.findall(text.lower())
    if tongue == "vietnamese":
        return viet > 0.05 or (len(words) < 3 and viet > 0)
    if viet > 0.08:
        return False
    scores = {name: sum(w in common for w in words) for name, common in _COMMON.items()}
    return scores[tongue] >= max(scores.values())


def simplified(text: str) -> bool:
    """Whether a sign of the text exists in the simplified script only."""
    return any(_in("gb2312", c) and not _in("big5", c) for c in _SIGN.findall(text))


def traditional(text: str) -> bool:
    """Whether a sign of the text exists in the traditional script only."""
    return any(_in("big5", c) and not _in("gb2312", c) for c in _SIGN.findall(text))


def _in(encoding: str, sign: str) -> bool:
    try:
        sign.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
