"""`@monitor.watch` for plain, async and generator functions.

The query is the function's first argument, the output is its return value, and an exception is the
error, which is raised again. Steps that the function reports to `fourscore.record` become its
trace. A generator's pieces are passed on as they come, and joined when it ends; a generator that is
abandoned or cancelled is not observed, as its output is not complete.
"""

import functools
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextvars import Token
from typing import Any, TypeVar, overload

from fourscore.agents.step_recorder import CURRENT, Recording
from fourscore.agents.trace_values import MAX_TEXT
from fourscore.monitor.asgi import App, Middleware

F = TypeVar("F", bound=Callable[..., Any])

#: How to get a value from a call: the name of a parameter, or a function of all arguments.
Pick = str | Callable[..., Any] | None


class MonitorDecorators:
    """Base class of the monitor with its decorators; the monitor implements the methods below."""

    observe: Callable[..., bool]
    _observe_lazily: Callable[..., None]
    _count_failure: Callable[[Exception], None]
    _count_dropped: Callable[[], None]
    flush_for_shutdown: Callable[[], Awaitable[None]]

    @overload
    def watch(self, function: F) -> F: ...

    @overload
    def watch(
        self,
        *,
        query: Pick = None,
        output: Callable[[Any], Any] | None = None,
        id: Pick = None,
        tags: Iterable[str] | Callable[..., Any] = (),
        steps: bool = True,
    ) -> Callable[[F], F]: ...

    def watch(
        self,
        function: Any = None,
        *,
        query: Pick = None,
        output: Callable[[Any], Any] | None = None,
        id: Pick = None,  # noqa: A002
        tags: Iterable[str] | Callable[..., Any] = (),
        steps: bool = True,
    ) -> Any:
        """Observe each call of a function; its return values and exceptions do not change.

        `query` and `id` name a parameter, or are functions of the arguments; `tags` may be such a
        function too. `output` turns the result into what is judged. With `steps=False` no steps
        are recorded.
        """

        def wrap(wrapped: Any) -> Any:
            watch = _Watch(self, wrapped, query=query, output=output, id=id, tags=tags, steps=steps)
            return _wrap(wrapped, watch)

        return wrap if function is None else wrap(function)

    def asgi(self, app: App, **options: Any) -> Middleware:
        """Return an ASGI application whose requests are observed; options: see `Middleware`."""
        return Middleware(app, self, **options)


class _Watch:
    """Turns the calls of one function into observations."""

    def __init__(
        self,
        monitor: MonitorDecorators,
        function: Callable[..., Any],
        *,
        query: Pick,
        output: Callable[[Any], Any] | None,
        id: Pick,  # noqa: A002
        tags: Iterable[str] | Callable[..., Any],
        steps: bool,
    ) -> None:
        self.monitor, self.output, self.steps = monitor, output, steps
        names = list(inspect.signature(function).parameters)
        if query is None:
            own = [name for name in names if name not in ("self", "cls")]
            query = own[0] if own else None
        self.query, self.id = _make_picker(query, function), _make_picker(id, function)
        self.tags = tags if callable(tags) else (lambda *_, **__: tags)

    def observe(self, args: Any, kwargs: Any, result: Any, error: Any, call: "_Call") -> None:
        """Observe a call. Never raises, even if an argument is missing or a user function fails."""
        try:
            output = result if self.output is None or error is not None else self.output(result)
            self.monitor.observe(
                self.query(*args, **kwargs),
                output,
                id=self.id(*args, **kwargs),
                tags=self.tags(*args, **kwargs),
                trace=call.recording,
                error=error,
                seconds=time.perf_counter() - call.begun,
            )
        except Exception as problem:
            self.monitor._count_failure(problem)


class _Call:
    """One call: when it began, and the steps recorded inside `with`.

    If a test run or an outer watched call records already, nothing is recorded here.
    """

    __slots__ = ("_token", "begun", "recording")

    def __init__(self, *, steps: bool) -> None:
        self.begun = time.perf_counter()
        self.recording = Recording() if steps and CURRENT.get() is None else None
        self._token: Token[Recording | None] | None = None

    def __enter__(self) -> None:
        if self.recording is not None:
            self._token = CURRENT.set(self.recording)

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            CURRENT.reset(self._token)


def _make_picker(pick: Pick, function: Callable[..., Any]) -> Callable[..., Any]:
    if pick is None:
        return lambda *_, **__: None
    if callable(pick):
        return pick
    parameters = inspect.signature(function).parameters
    if pick not in parameters:
        raise TypeError(f"{function.__qualname__} has no parameter {pick!r}")
    place, default = list(parameters).index(pick), parameters[pick].default

    def picked(*args: Any, **kwargs: Any) -> Any:
        if pick in kwargs:
            return kwargs[pick]
        if place < len(args):
            return args[place]
        return None if default is inspect.Parameter.empty else default

    return picked


def _wrap(function: Any, watch: _Watch) -> Any:
    if inspect.isasyncgenfunction(function):
        return _watch_async_generator(function, watch)
    if inspect.isgeneratorfunction(function):
        return _watch_generator(function, watch)
    if inspect.iscoroutinefunction(function):
        return _watch_async(function, watch)

    @functools.wraps(function)
    def plain(*args: Any, **kwargs: Any) -> Any:
        call = _Call(steps=watch.steps)
        try:
            with call:
                result = function(*args, **kwargs)
        except Exception as error:
            watch.observe(args, kwargs, None, error, call)
            raise
        watch.observe(args, kwargs, result, None, call)
        return result

    return plain


def _watch_async(function: Any, watch: _Watch) -> Any:
    @functools.wraps(function)
    async def awaited(*args: Any, **kwargs: Any) -> Any:
        call = _Call(steps=watch.steps)
        try:
            with call:
                result = await function(*args, **kwargs)
        except Exception as error:
            watch.observe(args, kwargs, None, error, call)
            raise
        watch.observe(args, kwargs, result, None, call)
        return result

    return awaited


def _watch_generator(function: Any, watch: _Watch) -> Any:
    """Watch a generator; do not record the steps of its consumer, which runs in between."""

    @functools.wraps(function)
    def pieces(*args: Any, **kwargs: Any) -> Iterator[Any]:
        call, output = _Call(steps=watch.steps), _OutputPieces()
        source = function(*args, **kwargs)
        try:
            while True:
                with call:
                    piece = next(source, _END)
                if piece is _END:
                    break
                output.add(piece)
                yield piece
        except Exception as error:
            watch.observe(args, kwargs, None, error, call)
            raise
        finally:
            source.close()
        watch.observe(args, kwargs, output.join(), None, call)

    return pieces


def _watch_async_generator(function: Any, watch: _Watch) -> Any:
    @functools.wraps(function)
    async def pieces(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        call, output = _Call(steps=watch.steps), _OutputPieces()
        source = function(*args, **kwargs)
        try:
            while True:
                with call:
                    piece = await anext(source, _END)
                if piece is _END:
                    break
                output.add(piece)
                yield piece
        except Exception as error:
            watch.observe(args, kwargs, None, error, call)
            raise
        finally:
            await source.aclose()
        watch.observe(args, kwargs, output.join(), None, call)

    return pieces


_END = object()


class _OutputPieces:
    """The pieces of a streamed output, up to `MAX_TEXT` characters."""

    def __init__(self) -> None:
        self._pieces: list[Any] = []
        self._size = 0

    def add(self, piece: Any) -> None:
        if self._size < MAX_TEXT:
            self._pieces.append(piece)
            self._size += len(piece) if isinstance(piece, str | bytes) else 100

    def join(self) -> Any:
        if all(isinstance(piece, str) for piece in self._pieces):
            return "".join(self._pieces)
        return self._pieces
