"""The environment judge against a real environment over real HTTP, and against broken services."""

import asyncio
import math
import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest
from aiohttp import web

from fourscore.core import Case, CaseError, ConfigError, JudgeError, Rubric, Status, Trace, score
from fourscore.judges.environment import EnvironmentJudge, EnvService, ServiceError, make_reward
from fourscore.task_judge.env_service_as_judge import EnvServiceJudge
from fourscore.workflow import Task, WorkflowOutput, WorkflowTask

Serve = Callable[[Callable[[web.Request], Any]], AbstractContextManager[str]]
WAY_TO_THE_GOAL = "112212"  # down, down, right, right, down, right over the default 4 × 4 map


async def walk(url: str, actions: str, instance: str) -> list[Any]:
    async with EnvService(url) as service:
        profile = await service.get_env_profile("lake")
        await service.create("lake", profile[0], instance)
        return [await service.step(instance, {"role": "user", "content": a}) for a in actions]


def test_client_runs_an_episode_from_create_to_release(lake: Any) -> None:
    environments, url = lake
    steps = asyncio.run(walk(url, WAY_TO_THE_GOAL, "e1"))
    assert steps[-1] == {"state": 15, "reward": 1.0, "done": True}
    judge = EnvServiceJudge({"url": url})
    task = WorkflowTask(Task(task_id="lake-0"), episode_uuid="e1")
    assert judge.compute_reward(task, WorkflowOutput()) == (1.5, True)

    async def finish() -> None:
        async with EnvService(url) as service:
            assert await service.get_info("e1") == {"tools": ["left", "down", "right", "up"]}
            await service.release("e1")
            with pytest.raises(ServiceError, match=r"success: false.*no instance 'e1'"):
                await service.step("e1", {"content": "0"})

    asyncio.run(finish())
    assert not environments.instances


def test_service_that_is_not_there_is_no_failure_of_the_agent() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        rubric = Rubric.from_judge(
            EnvironmentJudge(url=f"http://127.0.0.1:{taken.getsockname()[1]}")
        )
        trace = Trace(metadata={"instance_id": "e1"})
        (one,) = asyncio.run(score(rubric, Case(id="c", input="q"), [trace]))
    assert one.status is Status.JUDGE_ERROR
    assert one.signals[0].fault is not None
    assert one.signals[0].fault.kind == "connection"


def test_judge_scores_an_episode_through_the_core(lake: Any) -> None:
    _, url = lake
    asyncio.run(walk(url, "11", "short"))
    rubric = Rubric.from_judge(EnvironmentJudge(url=url))
    case = Case(id="lake-0", input="Cross the lake.")
    traces = [Trace(metadata={"instance_id": "short"}), Trace(metadata={"instance_id": "unknown"})]
    short, unknown = asyncio.run(score(rubric, case, traces))
    assert (short.reward, short.passed, short.value) == (0.0, False, 0.0)
    assert short.signals[0].evidence[0].text == "0"
    assert unknown.status is Status.JUDGE_ERROR
    assert unknown.reward is None
    assert "no instance 'unknown'" in unknown.reason


@pytest.mark.parametrize(
    ("raw", "reward", "success"),
    [(0, 0.0, False), (0.5, 0.25, False), (0.99, 0.495, False), (1, 1.5, True), (2, 2.0, True)],
)
def test_reward_and_success_follow_the_score(raw: float, reward: float, success: bool) -> None:
    given, passed = make_reward(raw)
    assert given == pytest.approx(reward)
    assert passed is success


class Plain:
    def evaluate(self) -> float:
        return 1.0


class WithArguments:
    def evaluate(self, instance_id: str, messages: Any = None, params: Any = None) -> float:
        assert (instance_id, params) == ("e7", {"sparse": False})
        return 0.5


class Async:
    async def evaluate(self) -> float:
        await asyncio.sleep(0)
        return 1.0


class Answers:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def evaluate(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def rewarded(environment: Any, config: Any = None) -> tuple[float, bool]:
    task = WorkflowTask(Task(task_id="t7"), episode_uuid="e7", gym_env=environment)
    return EnvServiceJudge(config).compute_reward(task, WorkflowOutput())


@pytest.mark.parametrize(
    ("environment", "expected"),
    [(Plain(), (1.5, True)), (WithArguments(), (0.25, False)), (Async(), (1.5, True))],
)
def test_evaluates_a_local_gym_env(environment: Any, expected: tuple[float, bool]) -> None:
    assert rewarded(environment) == expected


def test_evaluates_a_local_gym_env_inside_a_running_loop() -> None:
    async def inside() -> tuple[float, bool]:
        return rewarded(Async())

    assert asyncio.run(inside()) == (1.5, True)


@pytest.mark.parametrize("answer", [None, math.nan, math.inf, "1.0", {}, [1.0]])
def test_a_local_score_that_is_not_finite_is_a_service_error(answer: Any) -> None:
    with pytest.raises(ServiceError, match="not a finite number"):
        rewarded(Answers(answer))
    assert rewarded(Answers(answer), {"on_error": "zero"}) == (0.0, False)


def test_the_error_of_a_local_gym_env_is_quoted() -> None:
    with pytest.raises(JudgeError, match="OSError: the simulator is gone"):
        rewarded(Answers(OSError("the simulator is gone")))


def test_a_task_without_environment_is_a_case_error() -> None:
    with pytest.raises(CaseError, match="task 't7': gym_env: there is no environment"):
        rewarded(None)


def test_a_preset_reward_is_kept() -> None:
    task = WorkflowTask(Task(task_id="t"))
    assert EnvServiceJudge(None).compute_reward(task, WorkflowOutput(reward=0.4)) == (0.4, False)


async def fails(_: web.Request) -> web.Response:
    return web.Response(status=500, text="the simulator has run out of snow")


async def replies_html(_: web.Request) -> web.Response:
    return web.Response(text="<html>welcome</html>")


async def replies_failure(_: web.Request) -> web.Response:
    return web.json_response({"success": False, "data": "episode expired"})


async def replies_nan(_: web.Request) -> web.Response:
    return web.Response(text='{"success": true, "data": NaN}')


async def replies_without_score(_: web.Request) -> web.Response:
    return web.json_response({"success": True, "data": None})


async def replies_too_much(_: web.Request) -> web.Response:
    return web.Response(body=b" " * 17 * 1024 * 1024)


async def redirects(_: web.Request) -> web.Response:
    raise web.HTTPFound("http://127.0.0.1:1/elsewhere")


async def hangs(_: web.Request) -> web.Response:
    await asyncio.sleep(3600)
    return web.Response()


@pytest.mark.parametrize(
    ("handler", "words"),
    [
        (fails, "answered HTTP 500: the simulator has run out of snow"),
        (replies_html, "expected success and data, got '<html>welcome</html>'"),
        (replies_failure, "episode expired"),
        (replies_nan, "expected success and data"),
        (replies_without_score, "the environment's score is None"),
        (replies_too_much, "longer than 16 MiB"),
        (redirects, "answered HTTP 302"),
        (hangs, "no answer within 0.2 s"),
    ],
)
def test_a_failing_service_is_a_service_error_that_quotes_it(
    serve: Serve, handler: Any, words: str
) -> None:
    with serve(handler) as url:
        rubric = Rubric.from_judge(
            EnvironmentJudge(url=url, timeout=0.2 if handler is hangs else 60)
        )
        traces = [Trace(metadata={"episode_uuid": "e"})]
        (scored,) = asyncio.run(score(rubric, Case(id="t", input="?"), traces))
    assert (scored.status, scored.reward) == (Status.JUDGE_ERROR, None)
    assert words in scored.reason


def test_an_unreachable_service_is_a_service_error(serve: Serve) -> None:
    with serve(fails) as url:
        pass
    rubric = Rubric.from_judge(EnvironmentJudge(url=url))
    case = Case(id="t", input="?", metadata={"instance_id": "e"})
    (scored,) = asyncio.run(score(rubric, case, [Trace()]))
    assert scored.status is Status.JUDGE_ERROR
    assert f"{url}/evaluate: " in scored.reason


def test_an_output_without_instance_id_is_a_case_error() -> None:
    rubric = Rubric.from_judge(EnvironmentJudge(url="http://127.0.0.1:1"))
    (scored,) = asyncio.run(score(rubric, Case(id="t", input="?"), [Trace()]))
    assert "metadata.instance_id" in scored.reason


@pytest.mark.parametrize("url", ["ftp://host", "file:///etc/passwd", "127.0.0.1:80"])
def test_refuses_a_url_that_is_not_http(url: str) -> None:
    with pytest.raises(ConfigError, match="expected an http:// or https:// URL"):
        EnvService(url)


def test_client_refuses_calls_outside_its_async_with_block() -> None:
    with pytest.raises(RuntimeError, match="async with EnvService"):
        asyncio.run(EnvService("http://127.0.0.1:1").release("e"))


@pytest.mark.parametrize(("answer", "expected"), [(True, (1.5, True)), (False, (0.0, False))])
def test_a_bool_is_a_score_of_1_or_0(answer: bool, expected: tuple[float, bool]) -> None:
    class Environment:
        def evaluate(self) -> bool:
            return answer

    assert rewarded(Environment()) == expected
