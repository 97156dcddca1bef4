"""Canaries: for a share of the traces a judge is also asked about an answer known to be bad.

A judge that passes a canary no longer works: its model has changed, its prompt is damaged, or
somebody has found a way to fool it. A hash of the case and the answer decides which traces get a
canary, so a repeated run asks the same; the signals on the trace itself do not change.
"""

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.core import (
    Canary,
    Case,
    CaseError,
    ConfigError,
    Signal,
    Trace,
    Usage,
    digest,
    fingerprint,
)
from fourscore.core.judge import Runs, get_runs
from fourscore.core.rubric import list_models
from fourscore.core.trace import as_text
from fourscore.judges.llm.attacks import read_families, read_wrong_answer
from fourscore.judges.llm.model_judge import read_reference
from fourscore.models.messages import NO_USAGE, ModelError

FIELD = "judge_options.canaries"
#: A canary with at least this value has passed.
PASSES = 0.7
#: Dimensions that do not judge the answer: a bad answer may have good tool calls and sources.
NOT_OF_ANSWERS = frozenset({"tool_efficiency", "source_quality"})
#: Dimensions for which only an off-topic answer is surely bad: a wrong answer may be complete.
TOPIC_ONLY = frozenset({"completeness"})
#: An expected answer of at most this length is a name or a value; the canary has another one.
SHORT = 40
_NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,6})?")
_CHINESE = re.compile("[\u4e00-\u9fff]")
OTHERS = {
    "en": ("Reykjavik", "a copper spring", "Ada Lovelace", "the tenth of March", "sea salt"),
    "zh": ("雷克雅未克", "一根铜弹簧", "阿达·洛夫莱斯", "三月十日", "海盐"),
}
#: Words of a topic, and a text about it; the text is not used for questions with these words.
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


class CanaryJudge(msgspec.Struct, frozen=True):
    """Wraps the judge `inner`: for the share `share` of the traces it also judges a canary."""

    inner: Any
    share: float

    def __post_init__(self) -> None:
        if type(self.share) not in (int, float) or not 0 <= self.share <= 1:
            raise ConfigError("expected a share from 0 to 1", field=FIELD)
        if not hasattr(self.inner, "judge"):
            message = "canaries need a judge of single answers; this one compares answers"
            raise ConfigError(message, field=FIELD)
        if NOT_OF_ANSWERS & set(self.inner.names):
            name = self.inner.names[0]
            message = f"{name} does not judge the answer, so canaries say nothing about it"
            raise ConfigError(message, field=FIELD)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.inner.names)

    @property
    def runs(self) -> Runs:
        return get_runs(self.inner)

    @property
    def models(self) -> tuple[str, ...]:
        return list_models(self.inner)

    @property
    def prompts(self) -> Mapping[str, str]:
        prompts: Mapping[str, str] = getattr(self.inner, "prompts", {})
        return prompts

    @property
    def pool_model(self) -> Any:
        return self.inner.pool_model

    @property
    def fingerprint(self) -> str:
        return digest(["watched", fingerprint(self.inner), self.share])

    def most(self, case: Case) -> Usage:
        """Return twice the judge's own maximum usage: any trace may get a canary."""
        once: Usage = self.inner.most(case)
        return once + once

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        canary = self.draw_canary(case, trace)
        if canary is None:
            only: Sequence[Signal] = await self.inner.judge(case, trace)
            return only
        kind, answer = canary
        real, (passed, spent) = await asyncio.gather(
            _attempt(self.inner, case, trace), self._judge_canary(case, answer)
        )
        if isinstance(real, Exception):
            if isinstance(real, ModelError) and real.usage is not None:
                real.usage += spent
            raise real
        signals = [
            replace(one, canary=Canary(kind, passed[one.name])) if one.name in passed else one
            for one in real
        ]
        return [replace(signals[0], usage=(signals[0].usage or NO_USAGE) + spent), *signals[1:]]

    def draw_canary(self, case: Case, trace: Trace) -> tuple[str, str] | None:
        """Return the kind and text of the canary for this trace; None if it gets none."""
        seed = f"{case.id}\0{trace.answer}".encode("utf-8", "surrogatepass")
        drawn = int.from_bytes(hashlib.blake2b(seed, digest_size=16).digest())
        chance, draw = divmod(drawn, 1 << 64)
        if chance >= self.share * (1 << 64):
            return None
        topic_only = bool(TOPIC_ONLY & set(self.inner.names))
        kind, wrong = make_bad_answer(case, draw >> 32, topic_only=topic_only)
        if draw % 2:
            return kind, wrong
        every = read_families()
        family = every[(draw >> 1) % len(every)]
        attack = family.attacks[(draw >> 8) % len(family.attacks)]
        return f"attack: {family.name}", attack.answer(case, "after", wrong)

    async def _judge_canary(self, case: Case, answer: str) -> tuple[dict[str, bool], Usage]:
        """Return by signal name whether the canary passed ({} if judging failed), and the usage."""
        signals = await _attempt(self.inner, case, Trace(output=answer))
        if isinstance(signals, Exception):
            return {}, getattr(signals, "usage", None) or NO_USAGE
        spent = sum((one.usage or NO_USAGE for one in signals), NO_USAGE)
        return {one.name: one.value >= PASSES for one in signals if one.value is not None}, spent


async def _attempt(judge: Any, case: Case, trace: Trace) -> Sequence[Signal] | Exception:
    try:
        signals: Sequence[Signal] = await judge.judge(case, trace)
        return signals
    except Exception as error:
        return error


def make_bad_answer(case: Case, draw: int, *, topic_only: bool = False) -> tuple[str, str]:
    """Return the kind and the text of an answer known to be bad.

    With `topic_only` it is always off-topic, for judges that may accept a wrong answer.
    """
    expected = _read_expected(case)
    language = "zh" if _CHINESE.search(as_text(case.input) + expected) else "en"
    if not topic_only:
        known = read_wrong_answer(case)
        if known is not None:
            return "wrong answer", known
        if expected and len(expected) <= SHORT:
            return "wrong answer", _make_other(expected, language, draw)
    return "off topic", _choose_off_topic(f"{as_text(case.input)} {expected}", language, draw)


def _read_expected(case: Case) -> str:
    try:
        return read_reference(case).strip()
    except CaseError:  # the judge reports it
        return ""


def _make_other(expected: str, language: str, draw: int) -> str:
    if _NUMBER.fullmatch(expected):
        return str(Decimal(expected) + 3 + draw % 17)
    others = [text for text in OTHERS[language] if text.casefold() not in expected.casefold()]
    return others[draw % len(others)]


def _choose_off_topic(text: str, language: str, draw: int) -> str:
    """Return a text on a topic that does not occur in `text`; any text if all topics occur."""
    low, topics = text.casefold(), TOPICS[language]
    free = [answer for words, answer in topics if not any(word in low for word in words)]
    chosen = free or [answer for _, answer in topics]
    return chosen[draw % len(chosen)]
