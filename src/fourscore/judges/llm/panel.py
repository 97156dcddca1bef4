"""The judge `panel`: several models judge the same answer, and their values are combined.

All members use the same prompts and options. The values are combined by their mean, weighted by
skill, by their weighted median, or by a majority on whether the value reaches a threshold. A member
that fails is left out if enough others answered, and the reason names it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from fourscore.core import Case, ConfigError, Signal, Trace, Usage, digest
from fourscore.core.frozen import EMPTY
from fourscore.core.judge import Judge
from fourscore.core.levels import find_level
from fourscore.core.numbers import check_finite, check_whole
from fourscore.core.rubric import fingerprint
from fourscore.judges.loading import load_judge
from fourscore.models.messages import NO_USAGE, ModelError

Combine = Literal["mean", "median", "majority"]


class Member(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A model of the panel as configured; `skill` is its weight, e.g. its agreement with people."""

    model: Any
    skill: float = 1.0
    settings: dict[str, Any] = EMPTY

    def __post_init__(self) -> None:
        check_finite("skill", self.skill, low=0, high=1e9)


class LoadedMember(NamedTuple):
    """A member's name and skill, with the judge made for it."""

    name: str
    skill: float
    judge: Judge


class Panel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, dict=True):
    """Several models that judge with the same prompts and options; combines their values.

    `judge`: the name of a judge that asks a model.
    `options`: that judge's options.
    `members`: the models.
    `combine`: how their values become one; a `majority` counts passes.
    `threshold`: for the majority, the value from which a member passes the answer.
    `quorum`: how many members have to answer; more than half by default.
    """

    judge_name: str = msgspec.field(name="judge")
    members: tuple[Member | str, ...]
    options: dict[str, Any] = EMPTY
    combine: Combine = "mean"
    threshold: float = 0.7
    quorum: int | None = None

    def __post_init__(self) -> None:
        check_finite("threshold", self.threshold, low=0, high=1)
        check_whole("quorum", self.quorum, low=1)
        if not self.members:
            raise ConfigError("expected at least one model", field="members")
        if (self.quorum or 0) > len(self.members):
            message = f"expected at most the number of members ({len(self.members)})"
            raise ConfigError(message, field="quorum")
        if len({member.name for member in self.loaded_members}) < len(self.members):
            raise ConfigError("a model is listed twice; expected distinct models", field="members")
        if not any(member.skill for member in self.loaded_members):
            raise ConfigError("every skill is 0; expected one above 0", field="members")

    @cached_property
    def loaded_members(self) -> tuple[LoadedMember, ...]:
        """The members with their judges."""
        return tuple(self._load_member(one) for one in self.members)

    def _load_member(self, member: Member | str) -> LoadedMember:
        one = member if isinstance(member, Member) else Member(member)
        name = one.model if isinstance(one.model, str) else one.model.name
        settings = {**self.options.get("settings", {}), **one.settings}
        judge = load_judge(
            self.judge_name, None, {**self.options, "settings": settings, "model": one.model}
        )
        if not hasattr(judge, "models") or not hasattr(judge, "judge"):
            message = (
                f"{self.judge_name!r} does not ask a model about one answer; use another judge"
            )
            raise ConfigError(message, field="judge")
        return LoadedMember(name, one.skill, judge)

    @property
    def names(self) -> tuple[str, ...]:
        return self.loaded_members[0].judge.names

    @property
    def runs(self) -> Literal["loop"]:
        return "loop"

    @property
    def fingerprint(self) -> str:
        members = [[one.name, one.skill, fingerprint(one.judge)] for one in self.loaded_members]
        return digest(["panel", members, self.combine, self.threshold, self.quorum])

    @property
    def models(self) -> tuple[str, ...]:
        every = (getattr(one.judge, "models", ()) for one in self.loaded_members)
        return tuple(dict.fromkeys(chain.from_iterable(every)))

    @property
    def prompts(self) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for one in self.loaded_members:
            found |= getattr(one.judge, "prompts", {})
        return found

    def most(self, case: Case) -> Usage:
        return sum((one.judge.most(case) for one in self.loaded_members), NO_USAGE)  # type: ignore[attr-defined]

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        asks = (one.judge.judge(case, trace) for one in self.loaded_members)
        results = await asyncio.gather(*asks, return_exceptions=True)
        answered: list[tuple[LoadedMember, Sequence[Signal]]] = []
        failed: list[tuple[LoadedMember, Exception]] = []
        for member, one in zip(self.loaded_members, results, strict=True):
            if isinstance(one, ModelError):
                failed.append((member, one))
            elif isinstance(one, BaseException):
                raise one
            else:
                answered.append((member, one))
        if len(answered) < (self.quorum or len(self.members) // 2 + 1):
            error = failed[0][1]
            error.usage = _sum_usage(answered, failed)  # type: ignore[attr-defined]
            raise error
        signals = [self._combine_signals(answered, failed, at) for at in range(len(self.names))]
        return [replace(signals[0], usage=_sum_usage(answered, failed)), *signals[1:]]

    def _combine_signals(
        self,
        answered: Sequence[tuple[LoadedMember, Sequence[Signal]]],
        failed: Sequence[tuple[LoadedMember, Exception]],
        at: int,
    ) -> Signal:
        given = [(member, signals[at]) for member, signals in answered]
        measured = [(one, s) for one, s in given if s.value is not None and one.skill > 0]
        if not measured:
            return replace(given[0][1], usage=None)
        pairs = [(float(signal.value or 0.0), one.skill) for one, signal in measured]
        value = self._combine_values(pairs)
        nearest = min(measured, key=lambda pair: abs((pair[1].value or 0.0) - value))[1]
        values = ", ".join(f"{one.name} {signal.value:.2f}" for one, signal in measured)
        spread = max(v for v, _ in pairs) - min(v for v, _ in pairs)
        words = [f"{self.combine} of {len(measured)} models: {values}; they differ by {spread:.2f}"]
        words += [f"{one.name} did not answer: {str(error)[:100]}" for one, error in failed]
        return replace(
            nearest,
            value=value,
            level=find_level(value),
            reason="; ".join((*words, nearest.reason)),
            usage=None,
        )

    def _combine_values(self, pairs: Sequence[tuple[float, float]]) -> float:
        total = sum(skill for _, skill in pairs)
        if self.combine == "mean":
            return min(1.0, sum(value * skill for value, skill in pairs) / total)
        if self.combine == "majority":
            return float(sum(s for value, s in pairs if value >= self.threshold) * 2 > total)
        return _median(sorted(pairs), total)


def _median(pairs: Sequence[tuple[float, float]], total: float) -> float:
    """Return the weighted median; the mean of two values if the weight divides between them."""
    below = 0.0
    for at, (value, skill) in enumerate(pairs):
        below += skill
        if abs(below - total / 2) < 1e-12:
            return (value + pairs[at + 1][0]) / 2
        if below > total / 2:
            return value
    return pairs[-1][0]


def _sum_usage(
    answered: Sequence[tuple[LoadedMember, Sequence[Signal]]],
    failed: Sequence[tuple[LoadedMember, Exception]],
) -> Usage:
    given = (signal.usage or NO_USAGE for _, signals in answered for signal in signals)
    lost = (getattr(error, "usage", None) or NO_USAGE for _, error in failed)
    return sum(chain(given, lost), NO_USAGE)
