"""Load what a user names (a judge's name, a file, an object) as a scorer."""

import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any, cast

from fourscore.core import ConfigError, FunctionJudge, Judge, JudgeError, Ranker, Rubric
from fourscore.executors.portal import PORTAL
from fourscore.integrations.agentjet_config import rubric_from_config, rubric_from_name
from fourscore.judges.scorer import RubricScorer
from fourscore.judges.workflow import BaseJudge, WorkflowJudge
from fourscore.models.budget import find_model_users
from fourscore.models.endpoint import EndpointModel
from fourscore.models.wrapper import find_layer

#: A judge's name ("math", "file.py->Name"), a configuration file, or the object itself.
JudgeSource = str | os.PathLike[str] | Rubric | Judge | Ranker | BaseJudge | Callable[..., Any]


def load_scorer(
    source: JudgeSource, options: Mapping[str, object] | None = None, deadline: float = 30.0
) -> RubricScorer:
    """Return a scorer for a judge or rubric; it scores a batch of any size within `deadline`.

    What the judge needs is checked here, before the first answer: its options, extras and keys.
    """
    rubric = _load_rubric(source, options or {})
    for user in find_model_users(rubric):
        client = find_layer(getattr(user, "pool_model", None), EndpointModel)
        if client is not None:
            client.check()  # a missing key is no reason to fail in each answer
    for slot in rubric.slots:
        if getattr(slot.judge, "learns", False) is True:  # takes longer than one case's deadline
            PORTAL.run(cast("Any", slot.judge).prepare())
            if failure := getattr(slot.judge, "failure", None):
                raise ConfigError(f"no rubric could be learned: {failure.message}")
    return RubricScorer(rubric, deadline)


def _load_rubric(source: JudgeSource, options: Mapping[str, object]) -> Rubric:
    if isinstance(source, str | os.PathLike):
        path = os.fspath(source)
        if not isinstance(source, str) or path.endswith((".yaml", ".yml")):
            return rubric_from_config(path, options)
        return rubric_from_name(path, options)
    if inspect.isroutine(source):
        return Rubric.from_judge(_make_function_judge(source, options))
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


class _PlainFunctionJudge(FunctionJudge):
    """A judge made of an undecorated function.

    A function decorated with `@judge` pickles by its module and name, where the judge is found.
    Here only the function is found there, so this pickles as the function and its options.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return (_make_function_judge, (self.function, dict(self.options)))


def _make_function_judge(
    function: Callable[..., Any], options: Mapping[str, object]
) -> FunctionJudge:
    try:
        return _PlainFunctionJudge(
            function, options=FunctionJudge(function).with_options(options).options
        )
    except JudgeError as error:
        raise ConfigError(str(error), field="options") from None
