"""`POST /v1/rewards` on a real server: rewards for rows, and errors for wrong bodies."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Served, Start, ask, row


def test_one_row_has_one_reward(math: Served) -> None:
    answer = math.post(row(r"\boxed{4}"))
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == {
        "rewards": [
            {
                "row": 0,
                "task_id": "t",
                "index": 0,
                "raw_reward": 1.0,
                "is_success": True,
                "status": "scored",
                "reason": "",
                "signals": {"math": 1.0},
            }
        ],
        "surrogates_replaced": 0,
    }


def test_rubric_file_gives_the_weighted_mean_of_its_dimensions(
    start: Start, tmp_path: Path
) -> None:
    (tmp_path / "rubric.yaml").write_text(
        "dimensions:\n  last: {judge: math, weight: 3}\n"
        "  first: {judge: math, weight: 1, with: {box: first}}\n"
    )
    served = start("--rubric", "rubric.yaml")
    (reward,) = served.post(row(r"\boxed{5} \boxed{4}")).rewards
    assert (reward["raw_reward"], reward["signals"]) == (0.75, {"last": 1.0, "first": 0.0})


def test_rewards_come_in_the_order_of_rows_and_outputs(math: Served) -> None:
    group = {
        "task": {"task_id": "g", "metadata": {"answer": "5"}},
        "outputs": [{"metadata": {"final_answer": text}} for text in ("?", r"\boxed{5}")],
    }
    preset = {"task": {"task_id": "p"}, "output": {"reward": 1.5}}
    rewards = math.post({"rows": [row(r"\boxed{4}"), group, row("no"), preset]}).rewards
    found = [
        (r["row"], r["task_id"], r["index"], r["raw_reward"], r["is_success"]) for r in rewards
    ]
    assert found == [
        (0, "t", 0, 1.0, True),
        (1, "g", 0, 0.0, False),
        (1, "g", 1, 1.0, True),
        (2, "t", 0, 0.0, False),
        (3, "p", 0, 1.5, True),
    ]


def test_request_with_a_thousand_rows_is_judged(math: Served) -> None:
    rows = [row(rf"\boxed{{{i % 7}}}", task_id=i) for i in range(1000)]
    rewards = math.post({"rows": rows}).rewards
    assert [r["task_id"] for r in rewards] == [str(i) for i in range(1000)]
    assert [r["is_success"] for r in rewards] == [i % 7 == 4 for i in range(1000)]


def test_output_that_cannot_be_judged_has_null_reward(math: Served) -> None:
    broken = {"task": {"task_id": "lost"}, "output": {"metadata": {"final_answer": "4"}}}
    lost, kept = math.post({"rows": [broken, row(r"\boxed{4}")]}).rewards
    assert (lost["raw_reward"], lost["is_success"]) == (None, None)
    assert lost["status"] == "judge_error"
    assert lost["reason"] == "math: the task lacks what its judge needs"
    assert lost["signals"] == {"math": None}
    assert kept["raw_reward"] == 1.0


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        (b"", None, "not a JSON object"),
        (b"{", None, "not a JSON object"),
        (b"[]", None, "expected object"),
        (b"null", None, "expected object"),
        (b'{"rows": NaN}', None, "not JSON"),
        (b'{"rows": 5}', "rows", "expected array"),
        (b'{"rows": []}', "rows", "at least one row"),
        (b'{"rows": [5]}', "rows[0]", "expected object"),
        (b'{"rows": [{"task": {}, "output": {}}, {"task": {}}]}', "rows[1].output", "neither"),
        (b'{"task": 3, "output": {}}', "task", "expected object"),
        (b'{"task": {"task_id": []}, "output": {}}', "task.task_id", "expected"),
        (b'{"task": {}, "output": {"metadata": [1]}}', "output.metadata", "expected object"),
        (b'{"task": {}, "output": {"metadta": {}}}', "output.metadta", "unknown key"),
        (b'{"task": {}, "output": {"reward": "1"}}', "output.reward", "expected float"),
        (b'{"task": {}, "output": {"reward": NaN}}', None, "invalid character"),
        (b'{"task": {}, "output": {"reward": Infinity}}', None, "invalid character"),
        (b'{"task": {}, "output": {"reward": 1e999}}', "output.reward", "out of range"),
        (b'{"task": {}, "outputs": []}', "outputs", "at least one"),
        (b'{"task": {}, "output": {}, "outputs": [{}]}', "outputs", "both"),
        (b'{"task": {"metadata": {"a": "\xff"}}, "output": {}}', None, "UTF-8"),
        (b'{"rows": [{"task": {"metadata": {"a": "\xff"}}, "output": {}}]}', "rows[0]", "UTF-8"),
        (b'{"task": {"expected": 1, "expected": 2}, "output": {}}', "task.expected", "used twice"),
        (b'{"rows": [], "rows": [{"task": {}, "output": {}}]}', "rows", "used twice"),
    ],
)
def test_wrong_body_gets_400_with_the_field(
    math: Served, body: bytes, field: str | None, words: str
) -> None:
    answer = math.post(body)
    assert answer.status == 400
    assert answer.error["code"] == "bad_request"
    assert answer.error["field"] == field
    assert words in answer.error["message"]


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'{"rows":[', b'{"task":{"metadata":{"a":'])
@pytest.mark.parametrize("path", ["/v1/rewards", "/openrlhf/reward", "/nemo_gym/verify"])
def test_endless_nesting_gets_400(math: Served, opening: bytes, path: str) -> None:
    assert math.post(opening * 100_000, path).status == 400


def test_nesting_over_a_hundred_levels_gets_400_with_the_field(math: Served) -> None:
    deep = b'{"task": {"metadata": {"a": %s}}, "output": {}}' % (b"[" * 200 + b"]" * 200)
    assert math.post(deep).error["field"] == "task"


@pytest.mark.parametrize("path", ["/v1/rewards", "/openrlhf/reward", "/nemo_gym/verify"])
@given(body=st.binary(max_size=60) | st.text(max_size=60).map(str.encode))
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
def test_random_bytes_never_cause_a_server_error(math: Served, path: str, body: bytes) -> None:
    assert math.post(body, path).status == 400


def test_lone_surrogates_are_replaced_and_counted(math: Served) -> None:
    broken = rb'{"task": {"metadata": {"answer": "4"}}, "output": {"metadata": {"final_answer": '
    broken += rb'"\ud83d \\boxed{4}"}}}'
    for body in (broken, b'{"rows": [' + broken + b"]}"):
        answer = math.post(body)
        assert answer.json["surrogates_replaced"] == 1
        assert answer.rewards[0]["raw_reward"] == 1.0


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/", 404, "not_found"),
        ("POST", "/v1/reward", 404, "not_found"),
        ("GET", "/v1/rewards", 405, "method_not_allowed"),
        ("DELETE", "/nemo_gym/verify", 405, "method_not_allowed"),
        ("OPTIONS", "/openrlhf/reward", 405, "method_not_allowed"),
        ("POST", "/healthz", 405, "method_not_allowed"),
    ],
)
def test_unknown_path_gets_404_and_wrong_method_405(
    math: Served, method: str, path: str, status: int, code: str
) -> None:
    answer = math.ask(method, path)
    assert (answer.status, answer.error["code"]) == (status, code)
    assert ("allow" in answer.headers) == (status == 405)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
def test_content_type_other_than_json_gets_415(math: Served, kind: str) -> None:
    """A web page may send other types to a server on loopback without asking its user."""
    assert math.post(row("4"), content_type=kind).status == 415


def test_json_content_type_may_have_a_charset(math: Served) -> None:
    assert math.post(row("4"), content_type="Application/JSON; charset=utf-8").status == 200


def test_healthz_is_ok(math: Served) -> None:
    assert math.ask("GET", "/healthz").json == {"status": "ok"}
    assert math.ask("HEAD", "/healthz").body == b""


def test_connection_stays_usable_after_a_refused_request(math: Served) -> None:
    connection = math.connect()
    bodies: list[Any] = [row(r"\boxed{4}"), b"{", row("no"), b'{"rows": 1}', row(r"\boxed{4}")]
    sockets = set()
    statuses = []
    for body in bodies:
        statuses.append(ask(connection, "POST", "/v1/rewards", body).status)
        sockets.add(connection.sock.getsockname() if connection.sock else None)
    assert statuses == [200, 400, 200, 400, 200]
    assert len(sockets) == 1
    connection.close()


def test_concurrent_clients_get_their_own_answers(math: Served) -> None:
    wrong: list[Any] = []

    def client(mine: int) -> None:
        connection = math.connect()
        for i in range(30):
            given = (mine + i) % 5
            body = row(rf"\boxed{{{given}}}", str(mine % 5), task_id=f"{mine}-{i}")
            (reward,) = ask(connection, "POST", "/v1/rewards", body).rewards
            if (reward["task_id"], reward["is_success"]) != (f"{mine}-{i}", i % 5 == 0):
                wrong.append((mine, i, reward))
        connection.close()

    threads = [threading.Thread(target=client, args=(i,)) for i in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_row_cannot_name_a_judge(math: Served) -> None:
    body = {**row(r"\boxed{4}"), "judge": "os->system", "judge_protocol": "os->system"}
    body["task"]["judge_protocol"] = "os->system"
    assert math.post(json.dumps(body).encode()).rewards[0]["raw_reward"] == 1.0
