"""From what a user names to the scores of a trainer's batch."""

import asyncio
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from fourscore.core import (
    Case,
    ConfigError,
    FunctionJudge,
    Judge,
    JudgeError,
    Ranker,
    Rubric,
    Score,
)
from fourscore.executors.portal import PORTAL, MustWait, step
from fourscore.formats.rows import Recorded
from fourscore.integrations.config_file import rubric_from_config, rubric_from_name
from fourscore.judges.workflow import BaseJudge, WorkflowJudge
from fourscore.train.rewards import Rewards

#: A judge's name ("math", "file.py->Name"), a configuration file, or the thing itself.
Source = str | os.PathLike[str] | Rubric | Judge | Ranker | BaseJudge | Callable[..., Any]
#: One answer and what was asked; equal cases of a batch are one group.
Row = tuple[Case, Recorded]


def rewards_of(
    source: Source, options: Mapping[str, Any] | None = None, deadline: float = 30.0
) -> Rewards:
    """One call over what was named; it answers within `deadline`, however large the batch."""
    rubric = _rubric(source, options or {})
    for slot in rubric.slots:
        if getattr(slot.judge, "learns", False) is True:  # no answer's deadline would do for it
            PORTAL.run(cast("Any", slot.judge).prepare())
    return Rewards(rubric, deadline)


def _rubric(source: Source, options: Mapping[str, Any]) -> Rubric:
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if not isinstance(source, str) or path.endswith((".yaml", ".yml")):
            return rubric_from_config(path, options)
        return rubric_from_name(path, options)
    if inspect.isroutine(source):
        return Rubric.from_judge(_called(source, options))
    if options:
        raise ConfigError("only a name or a function takes options", field="options")
    if isinstance(source, Rubric):
        return source
    if isinstance(source, BaseJudge):
        return Rubric.from_judge(getattr(source, "core", None) or WorkflowJudge(source))
    if isinstance(source, type) or not (hasattr(source, "judge") or hasattr(source, "rank")):
        kind = f"the class {source.__name__}" if isinstance(source, type) else type(source).__name__
        raise ConfigError(f"expected a judge, a rubric, a name or a path, got {kind}")
    return Rubric.from_judge(cast("Judge | Ranker", source))


class _Called(FunctionJudge):
    """A plain function. One made a judge by `@judge` pickles as the name it stands under; under
    the name of this one stands the function itself.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return (_called, (self.function, dict(self.options)))


def _called(function: Callable[..., Any], options: Mapping[str, Any]) -> FunctionJudge:
    try:
        return _Called(function, options=FunctionJudge(function).with_options(options).options)
    except JudgeError as error:
        raise ConfigError(str(error), field="options") from None


def ranks(rubric: Rubric) -> bool:
    """Whether a judge of the rubric compares the answers of a group."""
    return any(slot.is_ranker for slot in rubric.slots)


def refuse_rankers(rewards: Rewards, trainer: str) -> Rewards:
    """For trainers that show one answer at a time: a ranking of one says nothing."""
    for slot in rewards.rubric.slots:
        if slot.is_ranker:
            message = f"{slot.names[0]!r} ranks a group, and {trainer} shows one answer at a time"
            raise ConfigError(message)
    return rewards


def score_rows(rewards: Rewards, rows: Sequence[Row]) -> list[Score]:
    """A score for each row, in order, from whatever thread this is called in."""
    if not rewards.rubric.is_bounded or ranks(rewards.rubric):
        return rewards.wait(await_rows(rewards, rows), len(rows))
    scores: dict[int, Score] = {}
    waiting: list[int] = []
    for index, (case, recorded) in enumerate(rows):
        try:
            scores[index] = step(rewards.scores(case, (recorded,)))[0]
        except MustWait:  # for a worker process, say: those wait side by side
            waiting.append(index)
    if waiting:
        late = rewards.wait(await_rows(rewards, [rows[index] for index in waiting]), len(waiting))
        scores.update(zip(waiting, late, strict=True))
    return [scores[index] for index in range(len(rows))]


async def await_rows(rewards: Rewards, rows: Sequence[Row]) -> list[Score]:
    """The same on the caller's own event loop: side by side, so that the deadline of one group is
    the deadline of all.
    """
    places = _groups(rewards.rubric, rows)
    groups = [(rows[place[0]][0], [rows[index][1] for index in place]) for place in places]
    given = await asyncio.gather(*(rewards.scores(*group) for group in groups))
    return _spread(len(rows), places, given)


def _groups(rubric: Rubric, rows: Sequence[Row]) -> list[list[int]]:
    """Which rows belong together: equal cases where a judge ranks, else each for itself."""
    if not ranks(rubric):
        return [[index] for index in range(len(rows))]
    groups: dict[Case, list[int]] = {}
    for index, (case, _) in enumerate(rows):
        groups.setdefault(case, []).append(index)
    return list(groups.values())


def _spread(
    n: int, places: Sequence[Sequence[int]], given: Sequence[Sequence[Score]]
) -> list[Score]:
    scores: dict[int, Score] = {}
    for place, group in zip(places, given, strict=True):
        scores.update(zip(place, group, strict=True))
    return [scores[index] for index in range(n)]
