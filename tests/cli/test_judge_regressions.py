"""Rows and judges that once ended `fourscore judge`, or cost rows that were not to blame."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import main
from fourscore.core import ConfigError, DataError
from fourscore.executors.worker_pool import WorkerPool
from fourscore.formats.recorded_outputs import read_row
from fourscore.formats.yaml_file import parse_yaml
from fourscore.train import judge_pool

FOURSCORE = str(Path(sys.executable).with_name("fourscore"))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def fourscore(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.run([FOURSCORE, *words], text=True, timeout=100, check=False, **options)


def rows(*deeds: str) -> str:
    text = "".join(
        json.dumps({"task": {"task_id": f"{i}"}, "output": {"metadata": {"do": deed}}}) + "\n"
        for i, deed in enumerate(deeds)
    )
    Path("rows.jsonl").write_text(text)
    return "rows.jsonl"


def statuses(text: str) -> list[str]:
    return [json.loads(line)["status"] for line in text.splitlines()]


@pytest.mark.parametrize(
    "line",
    [
        b'{"task": {"main_query": "\xff"}, "output": {}}',
        b'{"task": {"metadata": {"\xed\xa0\x80": 1}}, "output": {}}',
    ],
)
def test_refuses_bytes_that_are_not_utf8_in_a_row(line: bytes) -> None:
    with pytest.raises(DataError, match="not UTF-8 at byte"):
        read_row(line)


def test_exits_with_2_on_data_that_is_not_utf8() -> None:
    Path("rows.jsonl").write_bytes(b'{"task": {"main_query": "\xff"}, "output": {}}\n')
    done = fourscore("judge", "--judge", "math", "--data", "rows.jsonl")
    assert done.returncode == 2, done.stderr
    assert "rows.jsonl:1: not UTF-8" in done.stderr


def test_refuses_a_yaml_alias_bomb() -> None:
    bomb = "a0: &a0 [x]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 30)
    )
    program = (
        "import sys\nfrom fourscore.formats.yaml_file import parse_yaml\n"
        "parse_yaml(sys.stdin.read(), 'f')\nprint('done')"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import resource; resource.setrlimit(resource.RLIMIT_AS,(2**30,2**30))\n{program}",
        ],
        input=bomb,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "done" in done.stdout or "ConfigError" in done.stderr, done.stderr


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}"])
def test_refuses_a_yaml_alias_to_itself(text: str) -> None:
    with pytest.raises(ConfigError):
        parse_yaml(text, "f")


def test_reads_yaml_times_as_text() -> None:
    assert parse_yaml("a: 2024-01-01 10:00:00", "f").value == {"a": "2024-01-01 10:00:00"}


def test_a_judge_module_may_use_relative_imports() -> None:
    Path("tutorial/mine").mkdir(parents=True)
    Path("tutorial/mine/words.py").write_text("REWARD = 0.5\n")
    Path("tutorial/mine/judge.py").write_text(
        "from ajet.task_judge.base_judge import BaseJudge\n"
        "from .words import REWARD\n"
        "class J(BaseJudge):\n    def compute_reward(self, t, o): return REWARD, False\n"
    )
    done = fourscore("judge", "--judge", "tutorial.mine.judge->J", "--data", rows("a"))
    assert done.returncode == 0, done.stderr


def test_sends_what_a_judge_file_prints_while_loading_to_stderr() -> None:
    Path("noisy.py").write_text("print('loading')\ndef f(case, trace): return 1.0\n")
    done = fourscore("judge", "--judge", "noisy.py->f", "--data", rows("a"), "--out", "o", "--json")
    assert json.loads(done.stdout)["planned"] == 1


def test_a_keyboard_interrupt_raised_by_a_judge_costs_its_own_row() -> None:
    Path("j.py").write_text(
        "async def f(case, trace):\n"
        "    if trace.metadata['do'] == 'stop': raise KeyboardInterrupt\n"
        "    return 1.0\n"
    )
    done = fourscore("judge", "--judge", "j.py->f", "--data", rows("a", "stop", "b"))
    assert statuses(done.stdout) == ["scored", "judge_error", "scored"], done.stderr


def test_an_async_judge_that_blocks_its_loop_costs_its_own_row() -> None:
    Path("j.py").write_text(
        "import asyncio, time\n"
        "async def f(case, trace):\n"
        "    if trace.metadata['do'] == 'block': time.sleep(2)\n"
        "    await asyncio.sleep(0.01)\n"
        "    return 1.0\n"
    )
    data = rows("a", "block", "b", "c")
    done = fourscore("judge", "--judge", "j.py->f", "--data", data, "--deadline", "1")
    given = statuses(done.stdout)
    assert [given[0], given[2], given[3]] == ["scored"] * 3


def test_many_rows_that_hang_do_not_cost_the_others() -> None:
    Path("j.py").write_text(
        "import time\n"
        "def f(case, trace):\n"
        "    if trace.metadata['do'] == 'hang': time.sleep(3600)\n"
        "    return 1.0\n"
    )
    data = rows(*["hang", "work"] * 90)
    words = ["--deadline", "0.3", "--workers", "1"]
    done = fourscore("judge", "--judge", "j.py->f", "--data", data, *words)
    assert statuses(done.stdout) == ["judge_error", "scored"] * 90


def test_exits_with_3_when_the_disk_is_full() -> None:
    Path("rows.jsonl").write_text('{"task": {"metadata": {"answer": "1"}}, "output": {}}\n')
    with Path("/dev/full").open("w") as full:
        done = fourscore("judge", "--judge", "math", "--data", "rows.jsonl", stdout=full)
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)


def test_a_custom_judge_cannot_end_the_command() -> None:
    Path("j.py").write_text(
        "import os\nfrom fourscore import Signal\n"
        "class J:\n    names = ('j',)\n    runs = 'inline'\n"
        "    async def judge(self, case, trace):\n"
        "        if trace.metadata['do'] == 'die': os._exit(5)\n"
        "        return [Signal(name='j', value=1.0)]\n"
    )
    done = fourscore("judge", "--judge", "j.py->J", "--data", rows("a", "die", "b"))
    assert statuses(done.stdout) == ["scored", "judge_error", "scored"]


def test_rows_may_wait_longer_than_the_timeout_of_the_worker_pool(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`WorkerPool` gives up a waiting job after `patience`; a chunk may take 16 deadlines."""
    monkeypatch.setattr(judge_pool, "WorkerPool", partial(WorkerPool, patience=1.0))
    monkeypatch.setattr(judge_pool, "ROWS_AT_RISK", 1)
    Path("j.py").write_text(
        "import time\ndef f(case, trace):\n    time.sleep(0.8)\n    return 1.0\n"
    )
    data = rows(*"abcde")
    assert (
        main(["judge", "--judge", "j.py->f", "--data", data, "--out", "o", "--workers", "1"]) == 0
    )
