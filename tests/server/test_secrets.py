"""No reply contains a reference, whatever the judge returns or raises."""

from pathlib import Path
from typing import Any

import pytest

from .conftest import Answer, Served, Start, row

JUDGES = Path(__file__).with_name("judges.py")
SECRET = "zebra-7391"
ANSWERS = [rf"\boxed{{{SECRET[:5]}}}", r"\boxed{1}", "no box", "", "raise", r"\boxed{}"]


def show_reply(answer: Answer) -> str:
    return f"{answer.headers} {answer.body.decode()}"


def tasks() -> list[dict[str, Any]]:
    return [
        {"task_id": "t", "main_query": "?", "metadata": {"answer": SECRET}},
        {"task_id": "t", "expected": SECRET, "metadata": {"answer": SECRET, "note": SECRET}},
        {"task_id": "t", "expected": {"answer": SECRET}, "metadata": {SECRET: SECRET}},
        {"task_id": "t", "expected": [SECRET], "metadata": {"answer": [SECRET]}},
        {"task_id": "t", "metadata": {"target": SECRET, "nums": [SECRET]}},
    ]


@pytest.mark.parametrize("judge", ["math", "countdown", f"{JUDGES}->hostile"])
def test_reply_never_contains_the_reference(start: Start, judge: str) -> None:
    served = start("--judge", judge, "--deadline", "10")
    for task in tasks():
        for text in ANSWERS:
            output = {"metadata": {"final_answer": text}}
            answer = served.post({"task": task, "output": output})
            assert answer.status == 200
            assert SECRET not in show_reply(answer)
            shapes: list[tuple[str, Any]] = [
                (
                    "/openrlhf/reward",
                    {"query": [text], "prompts": [""], "labels": [task["metadata"]]},
                ),
                ("/openrlhf/reward", {"query": [text], "prompts": [""], "labels": [SECRET]}),
                ("/nemo_gym/verify", rollout(text, {"expected_answer": SECRET, **task})),
            ]
            for path, body in shapes:
                answer = served.post(body, path)
                assert answer.status in (200, 422, 502)
                assert SECRET not in show_reply(answer)


def rollout(text: str, task: dict[str, Any]) -> dict[str, Any]:
    part = {"type": "output_text", "text": text}
    message = {"type": "message", "role": "assistant", "content": [part]}
    return {
        "responses_create_params": {"input": "?", "metadata": {"answer": SECRET}},
        "response": {"output": [message], "metadata": {"answer": SECRET}},
        "verifier_metadata": {"answer": SECRET},
        **task,
    }


@pytest.mark.parametrize(
    "body",
    [
        {"task": {"metadata": [SECRET]}, "output": {}},
        {"task": {"task_id": [SECRET]}, "output": {}},
        {"task": {"expected": SECRET, "metadata": {"answer": SECRET}}},
        {"task": {"metadata": {"answer": SECRET}}, "output": {"reward": "1"}},
        {"task": {"metadata": {"answer": SECRET}}, "output": {"reward": SECRET}},
        {"rows": [{"task": {"metadata": {"answer": SECRET}}, "output": [SECRET]}]},
        {"rows": SECRET},
    ],
)
def test_refusal_never_contains_the_reference(math: Served, body: Any) -> None:
    answer = math.post(body)
    assert answer.status == 400
    assert SECRET not in show_reply(answer)


def test_refusal_of_broken_json_does_not_quote_it(math: Served) -> None:
    body = b'{"task": {"metadata": {"answer": "%s"}}, "output": {"x' % SECRET.encode()
    answer = math.post(body)
    assert answer.status == 400
    assert SECRET not in show_reply(answer)


def test_judge_message_is_only_in_the_server_log(start: Start) -> None:
    served = start("--judge", f"{JUDGES}->hostile")
    body = {
        "task": {"task_id": "evil\n\x1b[31m", "metadata": {"answer": SECRET}},
        "output": {"metadata": {"final_answer": "raise"}},
    }
    for _ in range(20):
        served.post(body)
    served.stop()
    log = served.log.read_text()
    assert f"ValueError: the reference is {SECRET}" in log
    assert "\x1b" not in log
    assert log.count("judge_error") < 15  # a line a second, not a line a failure


def test_internal_error_reveals_nothing_to_the_client(start: Start) -> None:
    patch = (
        "from fourscore.server.judge_runner import JudgeRunner\n"
        f"async def broken(self, groups): raise RuntimeError('{SECRET}')\n"
        "JudgeRunner.score = broken"
    )
    served = start("--judge", "math", patch=patch)
    answer = served.post({"task": {"metadata": {"answer": SECRET}}, "output": {}})
    assert (answer.status, answer.error["code"]) == (500, "internal")
    assert SECRET not in show_reply(answer)
    assert SECRET in served.log.read_text()
    assert served.ask("GET", "/healthz").status == 200


PASSWORD, TOKEN = "cnry-Password-1", "cnry-token-2345678"


def test_no_secret_of_the_server_is_written(start: Start, tmp_path: Path) -> None:
    judge = tmp_path / "quoting.py"
    judge.write_text(
        "def quoting(case, trace):\n"
        f"    address = 'http://ana:{PASSWORD}@h/?api_key={PASSWORD}'\n"
        "    raise OSError(f'cannot reach {address} {trace.answer}')\n"
    )
    store = tmp_path / "monitor.db"
    served = start("--judge", f"{judge}->quoting", "--monitor", str(store), token=TOKEN)
    body = row(f"Authorization: Bearer {TOKEN} {TOKEN}", note=TOKEN)
    auth = {"authorization": f"Bearer {TOKEN}"}
    texts = [show_reply(served.post(body, **auth)) for _ in range(3)]
    texts.append(show_reply(served.post(body, authorization=f"Bearer {TOKEN}x")))
    texts.append(show_reply(served.ask("GET", "/metrics", **auth)))
    served.stop()
    texts.append(served.log.read_text())
    assert store.exists()
    for path in tmp_path.glob("monitor.db*"):
        assert path.stat().st_mode & 0o777 == 0o600
        texts.append(path.read_bytes().decode(errors="replace"))
    assert [text for text in texts if "cnry" in text] == []
    assert any("cannot reach http://[key]@h" in text for text in texts)
