"""Asking again, second calls, and how many at a time; on a clock that a test can afford."""

import asyncio
import pickle
import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.models.fake_endpoint import (
    CannedReply,
    ReceivedRequest,
    make_completion,
    make_error,
    serve_endpoint,
)

from fourscore.core import Usage
from fourscore.models import hedge as hedged
from fourscore.models.concurrency_limit import ConcurrencyLimitedModel
from fourscore.models.hedge import HedgedModel
from fourscore.models.messages import ChatMessage, ErrorKind, ModelError, Request, Response
from fourscore.models.openai import OpenAI
from fourscore.models.retry import RetryingModel
from fourscore.models.scripted import ScriptedModel

ASK = Request(messages=(ChatMessage("user", "hello"),))


def error(kind: ErrorKind, **more: Any) -> ModelError:
    return ModelError(kind, f"it is {kind}", **more)


class Chance(random.Random):
    """Always the whole interval, and a note of it."""

    def __init__(self) -> None:
        super().__init__(0)
        self.asked: list[float] = []

    def uniform(self, a: float, b: float) -> float:
        self.asked.append(b)
        return b


def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []
    real = asyncio.sleep

    async def sleep(seconds: float, result: Any = None) -> Any:
        pauses.append(seconds)
        return await real(0, result)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return pauses


@pytest.mark.parametrize("kind", ["rate_limited", "server", "connection", "timeout", "malformed"])
def test_retries_transient_errors(kind: ErrorKind, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = slept(monkeypatch)
    paid = Usage(calls=1, input_tokens=5)
    model = ScriptedModel([error(kind, usage=paid), error(kind), "hi"])
    reply = asyncio.run(RetryingModel(model, chance=Chance()).ask(ASK))
    assert (reply.text, reply.attempts, model.calls) == ("hi", 3, 3)
    assert (reply.usage.calls, reply.usage.input_tokens) == (3, 5 + 2)  # with what failed
    assert pauses == ([] if kind == "malformed" else [0.5, 1.0])


def test_retries_once_where_there_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = slept(monkeypatch)
    model = ScriptedModel([error("unreachable"), "hi"])
    assert asyncio.run(RetryingModel(model, chance=Chance()).ask(ASK)).text == "hi"
    model = ScriptedModel([error("unreachable")])
    with pytest.raises(ModelError, match=r"unreachable \(attempt 2\)"):
        asyncio.run(RetryingModel(model, chance=Chance()).ask(ASK))
    assert (model.calls, pauses) == (2, [0.5, 0.5])


@pytest.mark.parametrize("kind", ["refused", "bad_request", "budget"])
def test_does_not_retry_permanent_errors(kind: ErrorKind) -> None:
    model = ScriptedModel([error(kind)])
    with pytest.raises(ModelError, match=kind):
        asyncio.run(RetryingModel(model).ask(ASK))
    assert model.calls == 1


def test_pauses_double_up_to_the_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = slept(monkeypatch)
    model = ScriptedModel([error("server", status=500)])
    with pytest.raises(ModelError, match=r"it is server \(attempt 7\)") as caught:
        asyncio.run(RetryingModel(model, attempts=7, longest=4, chance=Chance()).ask(ASK))
    assert pauses == [0.5, 1, 2, 4, 4, 4]
    assert (caught.value.status, caught.value.usage) == (500, Usage(calls=7))


def test_jitter_covers_the_whole_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = slept(monkeypatch)
    for seed in range(200):
        model = ScriptedModel([error("server"), "hi"])
        asyncio.run(RetryingModel(model, chance=random.Random(seed)).ask(ASK))
    assert min(pauses) < 0.05
    assert 0.45 < max(pauses) <= 0.5


def test_waits_as_long_as_the_endpoint_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = slept(monkeypatch)
    model = ScriptedModel([error("rate_limited", retry_after=20.0), "hi"])
    asyncio.run(RetryingModel(model, chance=Chance()).ask(ASK))
    assert pauses == [20.5]  # never earlier; a little later, or all would come at once


def test_does_not_wait_past_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = slept(monkeypatch)
    model = ScriptedModel([error("rate_limited", retry_after=3600.0)])
    with pytest.raises(ModelError) as caught:
        asyncio.run(RetryingModel(model, deadline=60).ask(ASK))
    assert (caught.value.kind, caught.value.retry_after, pauses) == ("rate_limited", 3600.0, [])


class Slow:
    """Takes a time for each call in turn; `open` counts those that have not ended."""

    name = fingerprint = "slow"

    def __init__(self, times: Callable[[int], float | Exception]) -> None:
        self.times = times
        self.calls = self.cancelled = self.open = self.most = 0

    async def ask(self, request: Request) -> Response:
        self.calls += 1
        self.open += 1
        self.most = max(self.most, self.open)
        number = self.calls
        try:
            seconds = self.times(number)
            if isinstance(seconds, Exception):
                await asyncio.sleep(0.01)
                raise seconds
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.open -= 1
        return Response(text=str(number), usage=Usage(calls=1, input_tokens=1))


def test_deadline_covers_all_attempts() -> None:
    model = Slow(lambda number: 60.0)
    with pytest.raises(ModelError, match=r"no answer within 0\.1 s in all") as caught:
        asyncio.run(RetryingModel(model, deadline=0.1).ask(ASK))
    assert (caught.value.kind, model.cancelled) == ("timeout", 1)
    model = Slow(lambda number: error("server") if number == 1 else 60.0)
    with pytest.raises(ModelError, match="it is server"):  # the last error that had words
        asyncio.run(RetryingModel(model, deadline=1.0, first=0.0).ask(ASK))


def test_malformed_replies_have_their_own_limit() -> None:
    model = ScriptedModel([error("malformed")])
    with pytest.raises(ModelError, match="malformed"):
        asyncio.run(RetryingModel(model, attempts=9, malformed=3).ask(ASK))
    assert model.calls == 3


def hasty(model: Any, **settings: Any) -> HedgedModel:
    return HedgedModel(model, **{"after": 0.05, "times": 1.0, **settings})


@pytest.fixture(autouse=True)
def _short_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hedged, "CHECK_SECONDS", 0.02)


async def after_ten(model: Any, last: int = 1) -> list[Response]:
    for _ in range(10):
        await model.ask(ASK)
    return list(await asyncio.gather(*(model.ask(ASK) for _ in range(last))))


def test_hanging_call_gets_a_second_call() -> None:
    model = Slow(lambda number: 60.0 if number == 11 else 0.0)
    (reply,) = asyncio.run(after_ten(hasty(model)))
    assert (reply.text, model.calls, model.cancelled, model.open) == ("12", 12, 1, 0)


def test_first_call_may_still_win() -> None:
    model = Slow(lambda number: 0.3 if number == 11 else 60.0 if number > 11 else 0.0)
    (reply,) = asyncio.run(after_ten(hasty(model)))
    assert (reply.text, model.calls - model.cancelled) == ("11", 11)


def test_failed_second_call_is_replaced() -> None:
    failing = error("rate_limited", usage=Usage(calls=1))
    model = Slow(lambda n: failing if n in (12, 13, 14) else 60.0 if n == 11 else 0.0)
    (reply,) = asyncio.run(after_ten(hasty(model)))
    assert (reply.text, reply.usage.calls, model.open) == ("15", 4, 0)


def test_second_call_goes_on_when_the_first_fails() -> None:
    class Late(Slow):
        async def ask(self, request: Request) -> Response:
            if self.calls == 10:
                self.calls += 1
                await asyncio.sleep(0.6)
                raise error("server")
            return await super().ask(request)

    model = Late(lambda number: 1.0 if number == 12 else 60.0 if number > 12 else 0.0)
    (reply,) = asyncio.run(after_ten(hasty(model)))
    assert reply.text == "12"


def test_raises_when_first_and_second_calls_fail() -> None:
    class Both(Slow):
        async def ask(self, request: Request) -> Response:
            if self.calls == 10:
                self.calls += 1
                await asyncio.sleep(0.09)
                raise error("timeout")
            return await super().ask(request)

    model = Both(lambda number: error("server") if number > 11 else 0.0)
    with pytest.raises(ModelError, match=r"timeout|server"):
        asyncio.run(after_ten(hasty(model)))


def test_first_call_that_answers_although_cancelled_is_used() -> None:
    class Stubborn(Slow):
        async def ask(self, request: Request) -> Response:
            if self.calls == 10:
                self.calls += 1
                try:
                    await asyncio.sleep(60)
                except asyncio.CancelledError:
                    return Response(text="after all")
            return await super().ask(request)

    async def run() -> tuple[str, int]:
        (reply,) = [await hedging.ask(ASK) for _ in range(11)][10:]
        task = asyncio.current_task()
        assert task is not None
        return reply.text, task.cancelling()

    hedging = hasty(Stubborn(lambda number: 0.0))
    assert asyncio.run(run()) == ("after all", 0)


def test_unexpected_exception_of_a_second_call_is_raised() -> None:
    class Broken(Slow):
        async def ask(self, request: Request) -> Response:
            if self.calls == 11:
                raise RuntimeError("a bug")
            return await super().ask(request)

    model = Broken(lambda number: 60.0 if number == 11 else 0.0)
    with pytest.raises(RuntimeError, match="a bug"):
        asyncio.run(after_ten(hasty(model)))
    assert model.open == 0


def test_no_second_call_before_enough_calls_were_answered() -> None:
    model = Slow(lambda number: 0.3)
    asyncio.run(hasty(model).ask(ASK))
    assert model.calls == 1


def test_slow_is_relative_to_recent_calls() -> None:
    model = Slow(lambda number: 0.1 if number <= 10 else 0.3)
    asyncio.run(after_ten(hasty(model, times=8.0)))
    assert model.calls == 11


def test_few_second_calls_when_all_calls_are_slow() -> None:
    model = Slow(lambda number: 0.0 if number <= 10 else 0.4)
    asyncio.run(after_ten(hasty(model, share=8), last=32))
    assert model.most <= 32 + 4


def test_cancelling_the_request_cancels_every_call() -> None:
    model = Slow(lambda number: 0.0 if number <= 10 else 60.0)

    async def run() -> None:
        wrapped = hasty(model)
        await after_ten(wrapped, 0)
        task = asyncio.ensure_future(wrapped.ask(ASK))
        await asyncio.sleep(0.6)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(0)

    asyncio.run(run())
    assert (model.calls >= 12, model.open) == (True, 0)


def test_concurrency_grows_while_calls_succeed() -> None:
    model = Slow(lambda number: 0.005)

    async def run() -> float:
        limited = ConcurrencyLimitedModel(model, start=2, high=8)
        await asyncio.gather(*(limited.ask(ASK) for _ in range(200)))
        return limited.limit

    assert asyncio.run(run()) == 8
    assert model.most == 8


def test_overload_errors_halve_the_concurrency() -> None:
    model = Slow(lambda number: error("server", status=503))

    async def run() -> float:
        limited = ConcurrencyLimitedModel(model, low=2, start=32)
        asks = (limited.ask(ASK) for _ in range(300))
        await asyncio.gather(*asks, return_exceptions=True)
        return limited.limit

    assert asyncio.run(run()) == 2


def test_few_overload_errors_do_not_slow_down() -> None:
    model = Slow(lambda number: error("rate_limited") if number % 10 == 0 else 0.002)

    async def run() -> float:
        limited = ConcurrencyLimitedModel(model, start=16, high=64)
        asks = (limited.ask(ASK) for _ in range(600))
        await asyncio.gather(*asks, return_exceptions=True)
        return limited.limit

    assert asyncio.run(run()) >= 16


def test_concurrency_settles_at_the_endpoints_limit() -> None:
    """An endpoint that bears twenty at a time, and turns away the rest."""

    class Narrow(Slow):
        async def ask(self, request: Request) -> Response:
            if self.open >= 20:
                raise error("rate_limited")
            return await super().ask(request)

    model = Narrow(lambda number: 0.003)

    async def run() -> float:
        limited = ConcurrencyLimitedModel(model, start=16)
        retrying = RetryingModel(limited, attempts=99, first=0.002, longest=0.01)
        await asyncio.gather(*(retrying.ask(ASK) for _ in range(1500)))
        return limited.limit

    assert 5 <= asyncio.run(run()) <= 60


def test_cancelled_waiting_call_frees_no_place() -> None:
    model = Slow(lambda number: 0.02)

    async def run() -> None:
        limited = ConcurrencyLimitedModel(model, start=1, high=1)
        tasks = [asyncio.ensure_future(limited.ask(ASK)) for _ in range(30)]
        await asyncio.sleep(0.01)
        for task in tasks[1::2]:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert sum(isinstance(result, Response) for result in results) == 15
        assert (await limited.ask(ASK)).text

    asyncio.run(run())
    assert (model.most, model.open) == (1, 0)


def test_place_given_to_a_cancelled_call_is_passed_on() -> None:
    """Cancelled in the very turn in which its place was given."""
    model = Slow(lambda number: 0.01)

    async def run() -> None:
        limited = ConcurrencyLimitedModel(model, start=1, high=1)
        first = asyncio.ensure_future(limited.ask(ASK))
        second = asyncio.ensure_future(limited.ask(ASK))
        await asyncio.sleep(0)
        first.add_done_callback(lambda _: second.cancel())
        await asyncio.gather(first, second, return_exceptions=True)
        await asyncio.wait_for(limited.ask(ASK), 5)

    asyncio.run(run())


def test_unrelated_errors_do_not_change_the_concurrency() -> None:
    async def run() -> float:
        limited = ConcurrencyLimitedModel(Slow(lambda n: error("budget")), start=16)
        await asyncio.gather(*(limited.ask(ASK) for _ in range(99)), return_exceptions=True)
        return limited.limit

    assert asyncio.run(run()) == 16


def test_wrappers_pickle_as_their_settings() -> None:
    client = OpenAI("m", base_url="http://127.0.0.1:9")
    stack = RetryingModel(
        ConcurrencyLimitedModel(HedgedModel(client, after=3), high=9), attempts=2, deadline=7
    )
    again = pickle.loads(pickle.dumps(stack))
    assert (again.attempts, again.deadline, again.model.high, again.model.model.after) == (
        2,
        7,
        9,
        3,
    )
    assert (again.name, again.fingerprint) == (client.name, client.fingerprint)


def test_retries_against_an_http_endpoint() -> None:
    weather = [
        make_error(429, headers={"Retry-After": "0.01"}),
        make_error(500),
        CannedReply(body=b"<html>"),
        CannedReply(drop="before"),  # on a kept connection: sent again on a new one
        CannedReply(drop="before"),
        make_completion("hi"),
    ]

    def script(request: ReceivedRequest, number: int) -> CannedReply:
        return weather[number - 1]

    with serve_endpoint(script) as endpoint:
        model = RetryingModel(OpenAI("m", base_url=endpoint.url), first=0.01)
        reply = asyncio.run(model.ask(ASK))
    assert (reply.text, reply.attempts, reply.usage.calls) == ("hi", 5, 5)
