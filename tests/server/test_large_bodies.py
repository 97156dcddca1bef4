"""A large or hostile body does not hold up the replies to other requests."""

import threading
import time
from typing import Any

import pytest

from .conftest import Served, Start, ask, row

SOURCES = [{"id": str(number), "text": "It opened in 1932. " * 20} for number in range(50)]
CASE = {"expected": {"sources": SOURCES, "aspects": ["costs", "history"]}}


def measure_health(served: Served, body: Any) -> tuple[Any, float, float]:
    """Post a body; return the reply, its seconds, and the longest wait of /healthz meanwhile."""
    replies: list[Any] = []
    began = time.monotonic()
    posting = threading.Thread(target=lambda: replies.append(served.post(body)))
    posting.start()
    connection, longest, asked = served.connect(), 0.0, 0
    while posting.is_alive() or not asked:
        before = time.monotonic()
        assert ask(connection, "GET", "/healthz").status == 200
        longest, asked = max(longest, time.monotonic() - before), asked + 1
        time.sleep(0.01)
    posting.join()
    connection.close()
    assert replies, "the request got no reply"
    return replies[0], time.monotonic() - began, longest


def hostile_rows(text: str, times: int) -> dict[str, Any]:
    outputs = [{"metadata": {"final_answer": f"{text}{number}"}} for number in range(times)]
    return {"rows": [{"task": {"task_id": "t", **CASE}, "output": output} for output in outputs]}


@pytest.mark.parametrize("answer", ["[" + " " * 50_000, "[1] " * 2_000_000, " " * 8_000_000])
def test_hostile_answer_is_judged_by_citation_accuracy(start: Start, answer: str) -> None:
    served = start("--judge", "citation_accuracy", "--max-body", "9M", "--deadline", "60")
    reply, _, _ = measure_health(served, row(answer, **CASE))
    assert reply.rewards[0]["raw_reward"] == 0


def test_health_is_answered_while_many_outputs_are_judged(start: Start) -> None:
    served = start("--judge", "completeness", "--max-body", "9M", "--deadline", "120")
    answer = "# a\n" * 25_000
    reply, seconds, longest = measure_health(served, hostile_rows(answer, 40))
    assert len(reply.rewards) == 40
    assert longest < seconds / 4, f"waited {longest:.2f} s of {seconds:.2f} s"


def test_health_is_answered_while_nested_metadata_is_read(start: Start) -> None:
    served = start("--judge", "math", "--deadline", "120")
    body = row(r"\boxed{4}")
    body["output"]["metadata"]["steps"] = [[]] * 1_500_000
    reply, seconds, longest = measure_health(served, body)
    assert reply.rewards[0]["raw_reward"] == 1
    assert longest < 0.8 * seconds, f"waited {longest:.2f} s of {seconds:.2f} s"


def test_request_past_its_deadline_is_not_judged_on(start: Start) -> None:
    served = start("--judge", "completeness", "--max-body", "9M", "--deadline", "1")
    assert served.post(hostile_rows("# a\n" * 25_000, 60)).status == 504
    began = time.monotonic()
    body = row("costs " * 8_000, **CASE)
    while served.post(body).status == 504:
        assert time.monotonic() - began < 60
    assert served.ask("GET", "/healthz").status == 200
