"""The protocols `Judge` and `Ranker`, and `@judge`, which makes a function a judge.

A judge is a picklable value with one async method. It declares in `runs` what kind of work it
does, and an executor decides where to run it.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pickle import PicklingError
from typing import Any, Literal, Protocol, TypeGuard, overload

from fourscore.core.case import Case
from fourscore.core.errors import JudgeError
from fourscore.core.frozen import digest, freeze, replace_surrogates
from fourscore.core.numbers import clamp, to_finite_float
from fourscore.core.score import Score, Status
from fourscore.core.signal import Signal
from fourscore.core.trace import Fault, Trace

#: `inline`: bounded by the size of its input or by a worker of its own. `asks`: awaits, and ends as
#: soon as it is cancelled. `loop`: awaits, and may ignore cancellation. `thread`: blocks.
#: `process`: may hold the interpreter lock or crash, and has to be killable.
Runs = Literal["inline", "asks", "loop", "thread", "process"]


class Judge(Protocol):
    """Measures one trace. May also have `runs` (default `loop`) and `fingerprint`.

    A judge that asks models may name them in `models`, the versions of its prompts in `prompts`,
    and return from `most(case)` the highest `Usage` of judging one trace. A judge with weights
    fitted to a user's labels gives their file and its version in `fitted`.
    """

    @property
    def names(self) -> tuple[str, ...]: ...

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]: ...


class Ranker(Protocol):
    """Ranks the traces of one case: one relative signal for each."""

    @property
    def name(self) -> str: ...

    async def rank(self, case: Case, traces: Sequence[Trace]) -> Sequence[Signal]: ...


def is_ranker(judge: Judge | Ranker) -> TypeGuard[Ranker]:
    return hasattr(judge, "rank")


def signal_names(judge: Judge | Ranker) -> tuple[str, ...]:
    """Return the names of the signals that a judge gives for one trace."""
    return (judge.name,) if is_ranker(judge) else judge.names  # type: ignore[union-attr]


def get_runs(judge: Judge | Ranker) -> Runs:
    """Return what kind of work a judge does; `loop` where it does not declare it."""
    kind: Runs = getattr(judge, "runs", "loop")
    return kind


Function = Callable[..., Any]


class FunctionJudge:
    """A plain or async function `(case, trace, **options)` as a judge.

    It pickles by reference, as the function itself does, together with its options.
    """

    def __init__(
        self,
        function: Function,
        *,
        name: str | None = None,
        options: Mapping[str, Any] | None = None,
        isolate: Literal["process"] | None = None,
    ) -> None:
        self.function = function
        self.names = (name or function.__name__,)
        self.options = freeze(options or {})
        self.isolate = isolate
        waits = inspect.iscoroutinefunction(function)
        self.runs: Runs = isolate or ("loop" if waits else "thread")
        self.__module__ = function.__module__
        self.__qualname__ = function.__qualname__
        self.__doc__ = function.__doc__

    def __call__(self, case: Case, trace: Trace, **options: Any) -> Any:
        return self.function(case, trace, **{**self.options, **options})

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        returned = self.function(case, trace, **self.options)
        if inspect.isawaitable(returned):
            returned = await returned
        return interpret_result(self.names[0], returned)

    def with_options(self, options: Mapping[str, Any]) -> "FunctionJudge":
        """Return this judge with these options; raise `JudgeError` for an unknown option."""
        try:
            inspect.signature(self.function).bind(None, None, **options)
        except TypeError as error:
            called = ", ".join(("case", "trace", *options))
            message = f"judge {self.names[0]!r} is called with ({called}): {error}"
            raise JudgeError(message) from None
        options = {**self.options, **options}
        return FunctionJudge(
            self.function, name=self.names[0], options=options, isolate=self.isolate
        )

    @property
    def fingerprint(self) -> str:
        """The digest of the function's source and its options."""
        try:
            text = inspect.getsource(self.function)
        except (OSError, TypeError):  # no source: typed into a Python prompt, or compiled
            code = getattr(self.function, "__code__", None)
            text = code.co_code.hex() if code else ""
        return digest([self.__module__, self.__qualname__, text, self.options])

    def __reduce__(self) -> str | tuple[object, ...]:
        place = (self.__module__, self.__qualname__)
        found = _import_object(*place)
        if found is self:
            return str(self.__qualname__)  # as a function would
        if getattr(found, "function", found) is not self.function:
            message = f"judge {self.names[0]!r} cannot be pickled: it is not {'.'.join(place)}"
            raise PicklingError(f"{message}; define its function at the top level of a module")
        return (_rebuild_judge, (*place, self.names[0], dict(self.options), self.isolate))


def _import_object(module: str, qualname: str) -> Any:
    found: Any = import_module(module)
    for part in qualname.split("."):
        found = getattr(found, part, None)
    return found


def _rebuild_judge(
    module: str,
    qualname: str,
    name: str,
    options: Mapping[str, Any],
    isolate: Literal["process"] | None,
) -> FunctionJudge:
    found = _import_object(module, qualname)
    function = found.function if isinstance(found, FunctionJudge) else found
    return FunctionJudge(function, name=name, options=options, isolate=isolate)


@overload
def judge(function: Function, /) -> FunctionJudge: ...
@overload
def judge(
    *, name: str | None = None, isolate: Literal["process"] | None = None
) -> Callable[[Function], FunctionJudge]: ...


def judge(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    isolate: Literal["process"] | None = None,
) -> FunctionJudge | Callable[[Function], FunctionJudge]:
    """Make a function a judge.

    The function takes a case, a trace and keyword options, and returns a number, a bool,
    `(reward, success)`, a Signal or a Score. A plain function may block: it runs in a thread, or
    with `isolate="process"` in a process that can be killed.
    """
    if function is not None:
        return FunctionJudge(function)
    return lambda decorated: FunctionJudge(decorated, name=name, isolate=isolate)


def interpret_result(name: str, returned: Any) -> tuple[Signal, ...]:
    """Convert what a judge returned to signals; raise `JudgeError` where that is not possible.

    `value` is the reward clamped to [0, 1]. A bare number does not decide success. None is refused:
    it is more often a forgotten `return` than "not applicable".
    """
    if type(returned) is tuple and len(returned) == 2 and not isinstance(returned[0], Signal):
        reward, success = to_finite_float(returned[0]), _to_bool(returned[1])
        if reward is None or success is None:
            raise JudgeError(f"judge {name!r} returned {safe_repr(returned)}: {_EXPECTED}")
        return (Signal(name=name, value=clamp(reward), reward=reward, passed=success),)
    if isinstance(returned, Signal):
        return (returned,)
    if isinstance(returned, Score):
        return (_make_signal(name, returned),)
    if isinstance(returned, list | tuple) and returned:
        if all(isinstance(item, Signal) for item in returned):
            return tuple(returned)
    elif (truth := _to_bool(returned)) is not None:
        return (Signal(name=name, value=float(truth), passed=truth),)
    elif (number := to_finite_float(returned)) is not None:
        return (Signal(name=name, value=clamp(number), reward=number),)
    raise JudgeError(f"judge {name!r} returned {safe_repr(returned)}: {_EXPECTED}")


_EXPECTED = "expected (reward, success), a finite number, a bool, a Signal or a Score"


def _make_signal(name: str, score: Score) -> Signal:
    if score.status.measured:
        value, passed, reward = score.value, score.passed, score.reward
        return Signal(name=name, value=value, passed=passed, reward=reward, reason=score.reason)
    if score.status is Status.SKIPPED:
        return Signal(name=name, reason=score.reason)
    kinds: dict[Status, Literal["refused", "cancelled"]] = {
        Status.REFUSED: "refused",
        Status.CANCELLED: "cancelled",
    }
    words = score.reason or f"the inner score is {score.status}"
    return Signal(name=name, fault=Fault(kinds.get(score.status, "error"), words))


def _to_bool(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if type(value).__name__ in ("bool", "bool_") and hasattr(value, "item"):  # numpy's
        return bool(value.item())
    return None


def safe_repr(value: object) -> str:
    """Return a short `repr` of any object, even where its own `__repr__` raises."""
    try:
        text = replace_surrogates(repr(value))
    except (Exception, SystemExit):
        text = f"an object of type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."
