"""`Rubric`: weights, gates and the pass threshold that turn signals into a score."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal

import msgspec
from msgspec.structs import force_setattr

from fourscore.core.errors import ConfigError
from fourscore.core.frozen import EMPTY, FrozenDict, FrozenList, check_tuple, digest, freeze_field
from fourscore.core.judge import Judge, Ranker, Runs, get_runs, is_ranker, signal_names
from fourscore.core.levels import find_floors
from fourscore.core.numbers import check_finite
from fourscore.core.score import Provenance

#: Tolerance for floating point where a value is compared with a threshold.
SLACK = 1e-9


class Dimension(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One line of a rubric. Its weight is 1 by default; a value below its gate fails the case.

    An `optional` dimension that does not apply to a case does not lower the case's coverage.
    """

    name: str
    judge: Judge | Ranker
    weight: float | None = None
    gate: float | None = None
    description: str = ""
    levels: dict[str, float] = EMPTY
    optional: bool = False

    def __post_init__(self) -> None:
        force_setattr(self, "levels", freeze_field("levels", self.levels, dict))
        named: dict[float, str] = {}
        for level, value in self.levels.items():
            check_finite(f"levels.{level}", value, low=0, high=1)
            if named.setdefault(value, level) != level:
                raise ValueError(f"levels.{level}: {value} is already the level {named[value]}")
        check_finite("weight", self.weight, low=0, high=1e9)
        check_finite("gate", self.gate, low=0, high=1)

    @cached_property
    def share(self) -> float:
        """The weight in the mean: 1 where `weight` is None."""
        return 1.0 if self.weight is None else float(self.weight)


class JudgeSlot(msgspec.Struct, frozen=True, kw_only=True):
    """A judge of a rubric: the signals it declares, and their names in the score (`kept`)."""

    judge: Judge | Ranker
    is_ranker: bool
    names: tuple[str, ...]
    kept: tuple[str, ...]
    runs: Runs


def _make_slot(dimensions: list[Dimension]) -> JudgeSlot:
    judge = dimensions[0].judge
    names = signal_names(judge)
    kept = names if len(names) > 1 else tuple(dimension.name for dimension in dimensions)
    return JudgeSlot(
        judge=judge, is_ranker=is_ranker(judge), names=names, kept=kept, runs=get_runs(judge)
    )


class Rubric(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Dimensions, and how their signals become a score.

    A dimension that does not apply is left out of the mean; with `inapplicable="zero"` it counts
    as zero.
    """

    name: str
    dimensions: tuple[Dimension, ...]
    pass_threshold: float = 0.7
    min_coverage: float = 0.25
    inapplicable: Literal["leave", "zero"] = "leave"

    def __post_init__(self) -> None:
        check_tuple(self, "dimensions", Dimension)
        if not self.dimensions:
            raise ConfigError("a rubric needs at least one dimension", field="dimensions")
        if self.inapplicable not in ("leave", "zero"):
            raise ConfigError("expected leave or zero", field="inapplicable")
        for field in ("pass_threshold", "min_coverage"):
            if getattr(self, field) is None:
                raise ConfigError("expected a number", field=field)
        check_finite("pass_threshold", self.pass_threshold)
        if not self.keeps_reward and not 0 <= self.pass_threshold <= 1:
            message = f"{self.pass_threshold:g} is outside [0, 1], where every mean lies"
            raise ConfigError(message, field="pass_threshold")
        check_finite("min_coverage", self.min_coverage, low=0, high=1)
        if sum(dimension.share for dimension in self.dimensions) <= 0:
            raise ConfigError("every weight is 0: set one above 0", field="dimensions")
        self._check_names()

    def _check_names(self) -> None:
        """Raise `ConfigError` where two judges give the same signal or a dimension has none."""
        given: dict[str, int] = {}
        for dimension in self.dimensions:
            where = f"dimensions.{dimension.name}"
            names = signal_names(dimension.judge)
            if len(names) == 1:
                names = (dimension.name,)
            elif dimension.name not in names:
                listed = ", ".join(names)
                message = f"its judge gives several signals; use one of these: {listed}"
                raise ConfigError(message, field=where)
            for name in names:
                if given.setdefault(name, id(dimension.judge)) != id(dimension.judge):
                    raise ConfigError(f"two judges give a signal named {name!r}", field=where)
        if len({dimension.name for dimension in self.dimensions}) < len(self.dimensions):
            raise ConfigError("two dimensions have the same name", field="dimensions")

    @classmethod
    def from_judge(cls, judge: Judge | Ranker) -> "Rubric":
        """Return a rubric of one judge that keeps the judge's own reward and success.

        Where the judge does not decide success, a reward of at least 1 is a success.
        """
        name = signal_names(judge)[0]
        return cls(name=name, dimensions=(Dimension(name=name, judge=judge),), pass_threshold=1.0)

    @cached_property
    def keeps_reward(self) -> bool:
        """Whether a score has the judge's own reward: with one dimension that has no weight."""
        return len(self.dimensions) == 1 and self.dimensions[0].weight is None

    @cached_property
    def slots(self) -> tuple[JudgeSlot, ...]:
        """One slot per judge, even where several dimensions use the same judge."""
        readers: dict[int, list[Dimension]] = {}
        for dimension in self.dimensions:
            readers.setdefault(id(dimension.judge), []).append(dimension)
        return tuple(_make_slot(dimensions) for dimensions in readers.values())

    @cached_property
    def floors(self) -> dict[str, Mapping[str, float]]:
        """The lowest value of each level, by dimension, for dimensions with levels of their own."""
        return {line.name: find_floors(line.levels) for line in self.dimensions if line.levels}

    @cached_property
    def is_bounded(self) -> bool:
        """Whether every judge bounds its own work, so that no executor has to stop it."""
        return all(slot.runs == "inline" for slot in self.slots)

    @cached_property
    def provenance(self) -> Provenance:
        judges = {line.name: fingerprint(line.judge) for line in self.dimensions}
        rule = [self.pass_threshold, self.min_coverage, self.inapplicable]
        lines = [[line.name, line.weight, line.gate, judges[line.name]] for line in self.dimensions]
        return Provenance(
            rubric=digest([self.name, rule, lines]),
            judges=judges,
            models=tuple(dict.fromkeys(m for slot in self.slots for m in list_models(slot.judge))),
            prompts=_collect_versions(self.slots, "prompts"),
            weights=_collect_versions(self.slots, "fitted"),
        )


def list_models(judge: Any) -> tuple[str, ...]:
    """Return the names of the models that a judge or an agent declares."""
    models = getattr(judge, "models", ())
    is_names = isinstance(models, tuple | list) and all(isinstance(name, str) for name in models)
    return tuple(models) if is_names else ()


def _collect_versions(slots: tuple[JudgeSlot, ...], attribute: str) -> dict[str, str]:
    """Return versions by name from an attribute of all judges.

    Where two judges give the same name another version, the second is listed under its judge too.
    """
    found: dict[str, str] = {}
    for slot in slots:
        versions = getattr(slot.judge, attribute, {})
        for name, version in versions.items() if isinstance(versions, Mapping) else ():
            if found.setdefault(str(name), str(version)) != str(version):
                found[f"{slot.kept[0]}: {name}"] = str(version)
    return found


def fingerprint(judge: Judge | Ranker) -> str:
    """Return the identity of a judge: its `fingerprint`, else a digest of its type and settings."""
    own = getattr(judge, "fingerprint", None)
    return own if isinstance(own, str) else digest(_describe(judge))


def _describe(value: Any) -> Any:
    """Return the type and fields of a value as JSON; a lock or a client only as its type.

    Never `repr`: an address in it would give every process its own fingerprint.
    """
    kind = type(value)
    if kind in (str, int, float, bool, type(None)):
        return value
    if kind in (dict, FrozenDict):
        return {str(key): _describe(item) for key, item in value.items()}
    if kind in (list, tuple, FrozenList):
        return [_describe(item) for item in value]
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, msgspec.Struct):
        return [name, _describe(msgspec.structs.asdict(value))]
    return [name, *([_describe(vars(value))] if hasattr(value, "judge") else [])]
