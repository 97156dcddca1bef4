"""Answers that are known to be bad, whatever was asked: another value, name or topic."""

import re
from decimal import Decimal

from fourscore.core import Case, CaseError
from fourscore.core.trace import as_text
from fourscore.judges.llm.attacks import read_wrong_answer
from fourscore.judges.llm.model_judge import reference_of

#: An expected answer up to so many characters is a name or a value, which can be another one.
SHORT = 40
_NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,6})?")
_CHINESE = re.compile("[\u4e00-\u9fff]")
OTHERS = {
    "en": ("Reykjavik", "a copper spring", "Ada Lovelace", "the tenth of March", "sea salt"),
    "zh": ("雷克雅未克", "一根铜弹簧", "阿达·洛夫莱斯", "三月十日", "海盐"),
}
#: Texts with the words that would make them fit a question after all.
TOPICS = {
    "en": (
        (
            ("bread", "dough", "bake"),
            "Let the dough rest for an hour, then bake it on a stone.",
        ),
        (("tennis", "racket"), "Hold the racket with a loose grip and serve from the legs."),
        (("tulip", "bulb", "soil"), "Plant tulip bulbs in autumn, deep, in soil that drains well."),
    ),
    "zh": (
        (("面包", "面团", "烤"), "把面团盖上湿布静置一小时，再放在热石板上烤到外壳发空。"),
        (("网球", "球拍", "发球"), "握拍要放松，把球抛到身体前方，发球的力量来自腿。"),
        (("郁金香", "花园", "土壤"), "秋天把郁金香的种球埋进排水良好的土壤。"),
    ),
}


def make_bad_answer(case: Case, draw: int, *, topic_only: bool = False) -> tuple[str, str]:
    """A kind and a text. Where a wrong answer may still be fine, `topic_only` asks for one that is
    about something else."""
    expected = _expected(case)
    language = "zh" if _CHINESE.search(as_text(case.input) + expected) else "en"
    if not topic_only:
        known = read_wrong_answer(case)
        if known is not None:
            return "wrong answer", known
        if expected and len(expected) <= SHORT:
            return "wrong answer", _other(expected, language, draw)
    return "off topic", _off_topic(f"{as_text(case.input)} {expected}", language, draw)


def _expected(case: Case) -> str:
    try:
        return reference_of(case).strip()
    except CaseError:  # its judge will say so
        return ""


def _other(expected: str, language: str, draw: int) -> str:
    if _NUMBER.fullmatch(expected):
        return str(Decimal(expected) + 3 + draw % 17)
    others = [text for text in OTHERS[language] if text.casefold() not in expected.casefold()]
    return others[draw % len(others)]


def _off_topic(text: str, language: str, draw: int) -> str:
    """One that shares no topic with the text; the last resort is any of them."""
    low, topics = text.casefold(), TOPICS[language]
    free = [told for words, told in topics if not any(word in low for word in words)]
    chosen = free or [told for _, told in topics]
    return chosen[draw % len(chosen)]
