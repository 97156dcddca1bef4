"""What holds for every adapter, whatever its trainer's calling convention.

Right, wrong and "could not be judged" are three things; a judge that hangs, raises or returns
rubbish costs its own answer and nobody else's; the keys of the log never change; one adapter
serves many threads and survives pickling.
"""

import asyncio
import math
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fourscore.core import Case, ConfigError, FourscoreError, Trace, judge
from fourscore.integrations import agentjet, nemo_gym, openrlhf, trl, verifiers, verl
from fourscore.integrations.judge_source import JudgeSource, load_scorer
from fourscore.judges.workflow import Task, WorkflowOutput, WorkflowTask

Outcome = tuple[float | None, Mapping[str, Any]]
#: Asks an adapter about one answer, as its trainer would: the reward, and what is logged.
Ask = Callable[[Any, str, Any], Outcome]


def ask_trl(adapter: Any, answer: str, reference: Any) -> Outcome:
    logged: dict[str, Any] = {}

    def log_extra(name: str, values: list[Any]) -> None:
        (logged[name.rpartition("/")[2]],) = values

    columns = {"answer": [reference], "log_extra": log_extra}
    (reward,) = adapter(prompts=["1+1?"], completions=[answer], **columns)
    return reward, logged


def ask_verl(adapter: Any, answer: str, reference: Any) -> Outcome:
    result = adapter.compute_score("gsm8k", answer, reference, {"index": 0})
    return result["score"], result


def ask_verl_async(adapter: Any, answer: str, reference: Any) -> Outcome:
    result = asyncio.run(adapter.compute_score_async("gsm8k", answer, reference, {"index": 0}))
    return result["score"], result


def ask_verifiers(arguments: Any, answer: str, reference: Any) -> Outcome:
    state: dict[str, Any] = {"error": None}
    reward, *metrics = arguments["funcs"]
    given = asyncio.run(reward("1+1?", answer, "" if reference is None else reference, state))
    logged = {metric.__name__: metric(state) for metric in metrics}
    return None if state["error"] is not None else given, logged


def ask_task(adapter: Any, answer: str, reference: Any) -> Outcome:
    trace = SimpleNamespace(last_reply=answer, messages=[], metrics={})
    task = SimpleNamespace(model_dump=lambda: {"prompt": "1+1?", "answer": reference})
    return asyncio.run(adapter(task, trace)), trace.metrics


def ask_openrlhf(adapter: Any, answer: str, reference: Any) -> Outcome:
    result = adapter([f"1+1?{answer}"], ["1+1?"], [reference])
    (reward,) = result["rewards"]
    return None if math.isnan(reward) else float(reward), only(result["extra_logs"])


def ask_openrlhf_http(adapter: Any, answer: str, reference: Any) -> Outcome:
    body = {"query": [f"1+1?{answer}"], "prompts": ["1+1?"], "labels": [reference]}
    scorer, on_error = adapter
    scores = [score for row in openrlhf.read_request(body) for score in scorer.score(*row)]
    reply = openrlhf.write_response(scorer.rubric, scores, on_error)
    return reply["rewards"][0], only(reply["extra_logs"])


def only(columns: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, (value,) in columns.items()}


def ask_nemo_gym(scorer: Any, answer: str, reference: Any) -> Outcome:
    item = {"type": "message", "content": [{"type": "output_text", "text": answer}]}
    body = {
        "responses_create_params": {"input": "1+1?"},
        "response": {"output": [item]},
        "expected_answer": reference,
    }
    case, outputs = nemo_gym.read_request(body)
    reply = nemo_gym.write_response(scorer.rubric, body, *scorer.score(case, outputs))
    return None if reply["mask_sample"] else reply["reward"], reply["reward_components"]


def ask_agentjet(adapter: Any, answer: str, reference: Any) -> Outcome:
    task = WorkflowTask(Task(main_query="1+1?", task_id="t", metadata={"answer": reference}))
    output = WorkflowOutput(metadata={"final_answer": answer})
    reward, success = adapter.compute_reward(task, output)
    assert isinstance(success, bool)
    return reward, output.log_metrics


def made(name: str, source: JudgeSource, word: Any, deadline: float = 30.0) -> Any:
    if name == "openrlhf_http":
        return load_scorer(source, deadline=deadline), word
    if name == "nemo_gym":
        return load_scorer(source, deadline=deadline)
    kind: Any = {
        "trl": trl.Reward,
        "verl": verl.Scorer,
        "verl_async": verl.Scorer,
        "verifiers": verifiers.rubric_arguments,
        "task": verifiers.TaskReward,
        "openrlhf": openrlhf.RewardFunc,
        "agentjet": agentjet.TaskJudge,
    }[name]
    return kind(source, on_error=word, deadline=deadline)


ASK: dict[str, Ask] = {
    "trl": ask_trl,
    "verl": ask_verl,
    "verl_async": ask_verl_async,
    "verifiers": ask_verifiers,
    "task": ask_task,
    "openrlhf": ask_openrlhf,
    "openrlhf_http": ask_openrlhf_http,
    "nemo_gym": ask_nemo_gym,
    "agentjet": ask_agentjet,
}
SAY_NONE = ("trl", "verifiers", "openrlhf", "nemo_gym")
SAY_ZERO = tuple(name for name in ASK if name != "nemo_gym")
SAY_RAISE = SAY_ZERO
KEYS = ("fourscore_judged", "fourscore_passed")


@judge
def strict(case: Case, trace: Trace) -> bool:
    """Does what the answer says."""
    if trace.answer == "raise":
        raise ZeroDivisionError("of its own")
    if trace.answer == "rubbish":
        return "rubbish"  # type: ignore[return-value]
    if trace.answer == "nan":
        return float("nan")  # type: ignore[return-value]
    if trace.answer == "hang":
        time.sleep(60)
    if trace.answer == "exit":
        sys.exit(1)
    return trace.answer == "right"


def undecorated(case: Case, trace: Trace) -> bool:
    return trace.answer == "right"


@judge
async def waiting(case: Case, trace: Trace) -> bool:
    if trace.answer == "hang":
        await asyncio.sleep(60)
    return trace.answer == "right"


@pytest.mark.parametrize("name", ASK)
def test_right_answer_gets_one_and_wrong_answer_zero(name: str) -> None:
    adapter, ask = made(name, "math", "zero"), ASK[name]
    right, logged = ask(adapter, r"It is \boxed{2}.", "2")
    assert right == 1.0
    assert [logged[key] for key in (*KEYS, "fourscore_signal_math")] == [1.0, 1.0, 1.0]
    wrong, logged = ask(adapter, r"\boxed{3}", "2")
    assert wrong == 0.0
    assert [logged[key] for key in (*KEYS, "fourscore_signal_math")] == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("name", SAY_NONE)
def test_unjudged_answer_is_not_a_zero(name: str) -> None:
    adapter, ask = made(name, "math", "none"), ASK[name]
    _, before = ask(adapter, r"\boxed{2}", "2")
    reward, logged = ask(adapter, r"\boxed{2}", None)
    assert reward is None
    assert logged.keys() == before.keys()
    assert not logged["fourscore_judged"] > 0


@pytest.mark.parametrize("name", SAY_RAISE)
def test_unjudged_answer_raises_with_on_error_raise(name: str) -> None:
    adapter, ask = made(name, "math", "raise"), ASK[name]
    with pytest.raises(FourscoreError, match=r"no reference answer|lacks what its judge needs"):
        ask(adapter, r"\boxed{2}", None)
    assert ask(adapter, r"\boxed{2}", "2")[0] == 1.0


@pytest.mark.parametrize("name", SAY_ZERO)
def test_unjudged_answer_is_a_marked_zero_with_on_error_zero(name: str) -> None:
    adapter, ask = made(name, "math", "zero"), ASK[name]
    _, before = ask(adapter, r"\boxed{3}", "2")
    reward, logged = ask(adapter, r"\boxed{2}", None)
    assert reward == 0.0
    assert (before["fourscore_judged"], logged["fourscore_judged"]) == (1.0, 0.0)
    assert tuple(logged) == tuple(before)


@pytest.mark.parametrize("name", SAY_ZERO)
@pytest.mark.parametrize("word", ["nothing", "none"])
def test_on_error_value_that_the_trainer_lacks_is_refused(name: str, word: str) -> None:
    if word == "none" and name in SAY_NONE:
        return
    with pytest.raises(ConfigError, match=r"on_error: .* is not possible with"):
        ASK[name](made(name, "math", word), r"\boxed{2}", "2")


@pytest.mark.parametrize("name", ASK)
@pytest.mark.parametrize("answer", ["raise", "rubbish", "nan", "exit"])
def test_failing_judge_loses_only_its_own_answer(name: str, answer: str) -> None:
    word = "none" if name in SAY_NONE else "zero"
    adapter, ask = made(name, strict, word), ASK[name]
    reward, logged = ask(adapter, answer, "2")
    assert reward == (None if word == "none" else 0.0)
    assert not logged["fourscore_judged"] > 0
    reward, logged = ask(adapter, "right", "2")
    assert (reward, logged["fourscore_judged"]) == (1.0, 1.0)


@pytest.mark.parametrize("name", ASK)
@pytest.mark.parametrize("source", [strict, waiting], ids=["blocks", "waits"])
def test_hanging_judge_is_reported_at_the_deadline(name: str, source: JudgeSource) -> None:
    word = "none" if name in SAY_NONE else "zero"
    adapter, ask = made(name, source, word, deadline=0.2), ASK[name]
    reward, logged = ask(adapter, "hang", "2")
    assert reward == (None if word == "none" else 0.0)
    assert not logged["fourscore_judged"] > 0
    assert ask(adapter, "right", "2")[0] == 1.0


@pytest.mark.parametrize("name", ASK)
def test_adapter_pickles(name: str, tmp_path: Path) -> None:
    path = tmp_path / "house.py"
    path.write_text("def brief(case, trace, limit=5):\n    return len(trace.answer) < limit\n")
    word = "none" if name in SAY_NONE else "zero"
    sources = (
        ("math", r"\boxed{2}"),
        (f"{path}->brief", "2"),
        (strict, "right"),
        (undecorated, "right"),
    )
    for source, answer in sources:
        again = pickle.loads(pickle.dumps(made(name, source, word)))
        assert ASK[name](again, answer, "2")[0] == 1.0


@pytest.mark.parametrize("name", [name for name in ASK if name != "verl_async"])
def test_64_threads_share_one_adapter_and_agree_with_one_thread(name: str) -> None:
    """A run with 100,000 rewards is in benchmarks/trainers.py."""
    word = "none" if name in SAY_NONE else "zero"
    adapter, ask = made(name, "math", word), ASK[name]
    n = 20 if name in ("verifiers", "task") else 200  # a loop for each call is slow to start
    jobs = [(rf"so \boxed{{{i % 7}}}", None if i % 5 == 4 else str(i % 3)) for i in range(n)]
    alone = [ask(adapter, *job)[0] for job in jobs]
    assert set(alone) == {0.0, 1.0, None if word == "none" else 0.0}
    start = threading.Barrier(64)

    def work(_: int) -> list[float | None]:
        start.wait(30)
        return [ask(adapter, *job)[0] for job in jobs]

    with ThreadPoolExecutor(64) as pool:
        assert all(given == alone for given in pool.map(work, range(64)))


def test_adapters_import_no_heavy_modules() -> None:
    code = (
        "import sys\n"
        "from fourscore.integrations import agentjet, nemo_gym, openrlhf, trl, verifiers, verl\n"
        "heavy = {'torch', 'numpy', 'trl', 'verl', 'verifiers', 'openrlhf', 'nemo_gym'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
