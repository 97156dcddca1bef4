"""A judge that hangs, crashes or blocks fails its own output, and the next request works."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from .conftest import Answer, Served, Start, refused, row, until

JUDGES = Path(__file__).with_name("judges.py")
DEADLINE = 2.0


def read_reward(answer: Answer) -> tuple[Any, str, str]:
    (reward,) = answer.rewards
    return reward["raw_reward"], reward["status"], reward["reason"]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    options = ("--deadline", str(DEADLINE), "--judge-workers", "2")
    folder = tmp_path_factory.mktemp("hostile")
    served = Served("--judge", f"{JUDGES}->hostile", *options, folder=folder)
    yield served
    served.close()


def test_hanging_judge_is_killed_within_the_deadline(hostile: Served) -> None:
    for how in ("hang", "hold"):
        began = time.monotonic()
        answer = hostile.post(row(how))
        took = time.monotonic() - began
        assert read_reward(answer) == (
            None,
            "judge_error",
            "hostile: no answer before the deadline",
        )
        assert took > DEADLINE / 2
        assert read_reward(hostile.post(row("well"))) == (1.0, "scored", "")


@pytest.mark.parametrize("how", ["abort", "exit", "segfault", "quit", "raise", "nothing"])
def test_crashing_judge_loses_only_its_own_output(hostile: Served, how: str) -> None:
    group = {
        "task": {"metadata": {"answer": "4"}},
        "outputs": [{"metadata": {"final_answer": text}} for text in ("well", how, "well")],
    }
    rewards = hostile.post(group).rewards
    assert [reward["raw_reward"] for reward in rewards] == [1.0, None, 1.0]
    assert rewards[1]["reason"] == "hostile: the judge failed"
    assert read_reward(hostile.post(row("well"))) == (1.0, "scored", "")


def test_other_requests_are_answered_while_a_judge_hangs(start: Start, tmp_path: Path) -> None:
    served = start("--judge", f"{JUDGES}->hostile", "--judge-workers", "2")
    answers: list[Any] = []
    hanging = threading.Thread(target=lambda: answers.append(served.post(row(f"until {tmp_path}"))))
    hanging.start()
    until(lambda: [*tmp_path.glob("begun*")])
    assert served.ask("GET", "/healthz").status == 200
    assert read_reward(served.post(row("well"))) == (1.0, "scored", "")
    assert not answers
    (tmp_path / "go").touch()
    hanging.join()
    assert read_reward(answers[0]) == (1.0, "scored", "")


def test_killed_judge_worker_is_replaced(hostile: Served, tmp_path: Path) -> None:
    for _ in range(3):
        note = tmp_path / "pid"
        assert read_reward(hostile.post(row(f"pid {note}"))) == (1.0, "scored", "")
        os.kill(int(note.read_text()), signal.SIGKILL)
        assert read_reward(hostile.post(row("well")))[1] in ("scored", "judge_error")
        assert read_reward(hostile.post(row("well"))) == (1.0, "scored", "")


def test_slow_judge_start_does_not_count_in_the_first_deadline(start: Start) -> None:
    served = start("--judge", f"{JUDGES}->Costly", "--deadline", "1", "--judge-workers", "2")
    for _ in range(4):
        assert read_reward(served.post(row("well"))) == (0.5, "scored", "")


def test_async_judge_that_never_answers_times_out(start: Start) -> None:
    served = start("--judge", f"{JUDGES}->waiting", "--deadline", "1")
    assert read_reward(served.post(row("hang")))[2] == "waiting: no answer before the deadline"
    assert read_reward(served.post(row("sleep 0.1"))) == (1.0, "scored", "")


def test_async_judge_that_blocks_does_not_block_the_server(start: Start) -> None:
    served = start("--judge", f"{JUDGES}->waiting", "--deadline", "1")
    answer = served.post(row("block 3600"))
    assert (answer.status, answer.error["code"]) == (504, "deadline")
    assert served.ask("GET", "/healthz").status == 200
    assert read_reward(served.post(row("sleep 0"))) == (1.0, "scored", "")


def test_async_judges_run_concurrently(start: Start) -> None:
    served = start("--judge", f"{JUDGES}->waiting")
    began = time.monotonic()
    rewards = served.post({"rows": [row("sleep 0.5")] * 100}).rewards
    assert all(reward["raw_reward"] == 1.0 for reward in rewards)
    assert time.monotonic() - began < 50  # what they would take one after another


def test_judge_that_fails_to_load_in_a_worker_stops_the_command(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text(
        "import os\n"
        "if os.path.exists('loaded'): raise RuntimeError('only once')\n"
        "open('loaded', 'w').close()\n"
        "from fourscore import judge\n"
        "@judge\n"
        "def late(case, trace): return True\n"
    )
    stderr = refused("--judge", "late.py->late", "--port", "0", folder=tmp_path)
    assert "the judge does not start" in stderr
    assert "only once" in stderr


def test_hanging_answers_of_one_group_are_stopped_together(start: Start, tmp_path: Path) -> None:
    """Stopped one after the other, they would cost the whole group its rewards at the deadline."""
    rubric = tmp_path / "rubric.yaml"
    rubric.write_text(
        "name: math\ndimensions:\n  math: {judge: math, with: {match: equivalent, deadline: 1}}\n"
    )
    served = start("--rubric", str(rubric), "--deadline", "12")
    texts = [*[r"\boxed{\int_0^1 e^{e^{e^{x^x}}} dx}"] * 14, r"\boxed{\sum_{k=1}^{10} k}"]
    group = {
        "task": {"metadata": {"answer": "55"}},
        "outputs": [{"metadata": {"final_answer": text}} for text in texts],
    }
    rewards = served.post(group).rewards
    assert [reward["raw_reward"] for reward in rewards] == [*[0.0] * 14, 1.0]


def test_hanging_answers_do_not_keep_others_waiting(start: Start, tmp_path: Path) -> None:
    """Two workers and six spare ones: twelve answers that hang are more than all of them."""
    options = ("--judge-workers", "2", "--deadline", "30")
    served = start("--judge", f"{JUDGES}->hostile", *options)
    hanging = {
        "task": {"metadata": {"answer": "4"}},
        "outputs": [{"metadata": {"final_answer": f"until {tmp_path}"}}] * 12,
    }
    answers: list[Answer] = []
    thread = threading.Thread(target=lambda: answers.append(served.post(hanging)))
    thread.start()
    until(lambda: [*tmp_path.glob("begun*")])
    for _ in range(3):
        assert read_reward(served.post(row("well"))) == (1.0, "scored", "")
        assert served.ask("GET", "/healthz").status == 200
    (tmp_path / "go").touch()
    thread.join()
    rewards = [reward["raw_reward"] for reward in answers[0].rewards]
    assert len(rewards) == 12
    assert set(rewards) <= {1.0, None}


def test_killed_worker_is_loaded_before_the_next_deadline_begins(start: Start) -> None:
    """Loading takes longer than the deadline: it must not be part of it."""
    served = start("--judge", f"{JUDGES}->Costly", "--deadline", "3", "--judge-workers", "1")
    assert read_reward(served.post(row("hang")))[0] is None
    until(lambda: read_reward(served.post(row("well")))[0] == 0.5)


def test_new_requests_do_not_wait_for_an_async_judge_that_blocks(
    start: Start, tmp_path: Path
) -> None:
    served = start("--judge", f"{JUDGES}->waiting", "--deadline", "60")
    answers: list[Answer] = []

    def post(text: str) -> None:
        with suppress(OSError):  # the server is killed in the end
            answers.append(served.post(row(text)))

    block = threading.Thread(target=post, args=("block 3600",))
    block.start()
    until(lambda: [*tmp_path.glob("begun*")])
    lost = threading.Thread(target=post, args=("sleep 0",))
    lost.start()  # this one shows that the loop does not answer
    time.sleep(60 * 0.9 / 8 + 0.5)
    assert read_reward(served.post(row("sleep 0"))) == (1.0, "scored", "")
    assert not answers
    served.close()
    block.join()
    lost.join()
