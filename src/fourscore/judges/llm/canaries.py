"""Canaries: now and then a judge is also asked about an answer that is known to be bad.

A judge that passes one no longer says what it should: its model has changed, its prompt has been
spoilt, or a way around it has been found. Which traces bring a canary along is decided by a hash of
the case and the answer, so a run that is repeated asks the same; what the judge says about the
trace itself is untouched.
"""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from fourscore.core import Canary, Case, ConfigError, Signal, Trace, Usage, digest, fingerprint
from fourscore.core.judge import Runs, get_runs
from fourscore.core.rubric import list_models
from fourscore.judges.llm.attacks import families
from fourscore.judges.llm.wrong import make_bad_answer
from fourscore.models.messages import FREE, ModelError

FIELD = "judge_options.canaries"
#: A canary with this value has passed.
PASSES = 0.7
#: A bad answer may have been reached with good tools and good sources.
NOT_OF_ANSWERS = frozenset({"tool_efficiency", "source_quality"})
#: A wrong answer may be complete.
TOPIC_ONLY = frozenset({"completeness"})


class CanaryJudge(msgspec.Struct, frozen=True):
    """A judge, and the share of its traces that bring a canary along."""

    inner: Any
    share: float

    def __post_init__(self) -> None:
        if type(self.share) not in (int, float) or not 0 <= self.share <= 1:
            raise ConfigError("expected a share from 0 to 1", field=FIELD)
        if not hasattr(self.inner, "judge"):
            raise ConfigError("it compares answers, and a canary is one", field=FIELD)
        if NOT_OF_ANSWERS & set(self.inner.names):
            name = self.inner.names[0]
            message = f"{name} is not about the answer, so a bad answer may do well by it"
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
        """Any trace may be one with a canary."""
        once: Usage = self.inner.most(case)
        return once + once

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        canary = self.canary(case, trace)
        if canary is None:
            signals: Sequence[Signal] = await self.inner.judge(case, trace)
            return signals
        kind, answer = canary
        real, (passed, spent) = await asyncio.gather(
            _attempt(self.inner, case, trace), self._tried(case, answer)
        )
        if isinstance(real, Exception):
            if isinstance(real, ModelError) and real.usage is not None:
                real.usage += spent
            raise real
        told = [
            replace(one, canary=Canary(kind, passed[one.name])) if one.name in passed else one
            for one in real
        ]
        return [replace(told[0], usage=(told[0].usage or FREE) + spent), *told[1:]]

    def canary(self, case: Case, trace: Trace) -> tuple[str, str] | None:
        """Kind and text of the canary that comes with this trace, if one does."""
        seed = f"{case.id}\0{trace.answer}".encode("utf-8", "surrogatepass")
        drawn = int.from_bytes(hashlib.blake2b(seed, digest_size=16).digest())
        chance, draw = divmod(drawn, 1 << 64)
        if chance >= self.share * (1 << 64):
            return None
        topic_only = bool(TOPIC_ONLY & set(self.inner.names))
        kind, wrong = make_bad_answer(case, draw >> 32, topic_only=topic_only)
        if draw % 2:
            return kind, wrong
        every = families()
        family = every[(draw >> 1) % len(every)]
        attack = family.attacks[(draw >> 8) % len(family.attacks)]
        return f"attack: {family.name}", attack.answer(case, "after", wrong)

    async def _tried(self, case: Case, answer: str) -> tuple[dict[str, bool], Usage]:
        """Whether it passed, by signal; nothing where it could not be asked."""
        signals = await _attempt(self.inner, case, Trace(output=answer))
        if isinstance(signals, Exception):
            return {}, getattr(signals, "usage", None) or FREE
        spent = sum((one.usage or FREE for one in signals), FREE)
        return {one.name: one.value >= PASSES for one in signals if one.value is not None}, spent


async def _attempt(judge: Any, case: Case, trace: Trace) -> Sequence[Signal] | Exception:
    try:
        signals: Sequence[Signal] = await judge.judge(case, trace)
        return signals
    except Exception as error:
        return error
