"""Kills (SIGKILL) processes that label or learn at random moments, and checks what is left.

    PYTHONPATH=. python -m tests.labels.killing FOLDER label|learn KILLS [SEED]

Each victim is forked from this process, which has everything loaded, runs the command, and reports
through a pipe what was acknowledged: `fourscore label` has returned, or a verdict of `fourscore
rubric learn` is in the journal. After every death, all that was ever acknowledged has to be there,
with its content, and once. In the end the command completes, to the result of one that nobody
killed. Prints how many were killed, and how much had been acknowledged.
"""

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace
from tests.labels.learning import planted

from fourscore.cli import label as labelling  # noqa: F401 - loaded once, before the first fork
from fourscore.cli import rubric as learning
from fourscore.cli.main import main
from fourscore.core import Usage, digest
from fourscore.formats.yaml_file import read_yaml_file
from fourscore.labels.learning.journal import Journal
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store

Report = Callable[[str, Any], None]
LABELS = 40
SAMPLES = 40


class Work(Protocol):
    """A command that may be killed; `acknowledged` has what was reported, by key."""

    def run(self, report: Report) -> None: ...

    def check(self, acknowledged: dict[str, Any]) -> None: ...

    def is_complete(self) -> bool: ...


class Labelling:
    """Labels every output of a stored run, one command for each label."""

    def __init__(self, folder: Path) -> None:
        self.store = str(folder / "runs.db")
        store_outputs(self.store)

    def run(self, report: Report) -> None:
        for case in sorted({f"c{n}" for n in range(LABELS)} - set(self._read())):
            verdict, note = make_label(case)
            words = ["label", "run-1", case, verdict, "--who", "ann", "--note", note]
            assert main([*words, "--store", self.store]) == 0
            report(case, [verdict, note])

    def _read(self) -> dict[str, list[str]]:
        with Store(self.store, make=False) as store:
            found = store.labels("run-1")
        assert len({one.case_id for one in found}) == len(found), "labelled twice"
        return {one.case_id: [one.verdict, one.note] for one in found}

    def check(self, acknowledged: dict[str, Any]) -> None:
        stored = self._read()
        lost = [case for case, label in acknowledged.items() if stored.get(case) != label]
        assert not lost, f"lost: {lost}"
        assert all(tuple(label) == make_label(case) for case, label in stored.items())

    def is_complete(self) -> bool:
        return len(self._read()) == LABELS


def store_outputs(path: str) -> None:
    """Make a store of one run, with an answer to each case."""
    import asyncio

    from fourscore.core import Case, Trace

    with Store(path) as store:
        store.start(RunInfo(id="run-1", planned=LABELS))
        with store.writer("run-1") as writer:

            async def put() -> None:
                for n in range(LABELS):
                    await writer.put_trace(n, Case(id=f"c{n}", input=n), 1, Trace(output=str(n)))

            asyncio.run(put())


def make_label(case: str) -> tuple[str, str]:
    return ("pass" if hash_of(case) % 2 else "fail"), f"about {case} " * (1 + hash_of(case) % 50)


def hash_of(text: str) -> int:
    return int(digest(text), 16)


class Learning:
    """Learns a rubric from planted samples, by a model in this process."""

    def __init__(self, folder: Path) -> None:
        self.out = folder / "learned.yaml"
        self.journal = folder / "learned.yaml.journal.jsonl"
        data = planted.write(folder / "train.jsonl", planted.rows(SAMPLES))
        words = ["rubric", "learn", "--data", str(data), "--model", "openai:planted"]
        self.words = [*words, "--out", str(self.out), "--rounds", "3", "--concurrency", "4"]

    def run(self, report: Report) -> None:
        put, read = Journal.put, learning._read_settings

        def put_and_report(book: Journal, key: str, what: str, value: Any, usage: Usage) -> None:
            put(book, key, what, value, usage)
            report(key, digest(value))

        Journal.put = put_and_report  # type: ignore[method-assign,assignment]
        learning._read_settings = lambda args: replace(read(args), model=planted.model())
        assert main(self.words) in (0, 1)

    def check(self, acknowledged: dict[str, Any]) -> None:
        lines = self.journal.read_bytes().splitlines(keepends=True) if acknowledged else []
        whole = [json.loads(line) for line in lines if line.endswith(b"\n")]
        found = {line["key"]: digest(line["value"]) for line in whole if "key" in line}
        lost = [key for key, value in acknowledged.items() if found.get(key) != value]
        assert not lost, f"lost: {lost}"
        twice = [key for key, n in Counter(line.get("key") for line in whole).items() if n > 1]
        assert not [key for key in twice if key], f"asked twice: {twice}"

    def is_complete(self) -> bool:
        return self.out.exists()

    def read_result(self) -> Any:
        """Return the rubric without its cost, of which a kill leaves some unknown."""
        document: Any = read_yaml_file(str(self.out)).value
        document["learned"].pop("cost")
        return document


def run_victim(work: Work, delay: float | None) -> tuple[bool, dict[str, Any]]:
    """Fork, run the work and kill it after a delay; return whether it was, and its reports."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reading)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        work.run(lambda key, value: _write(writing, key, value))
        os._exit(0)
    os.close(writing)
    if delay is not None:
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)  # a process that has ended stays until it is waited for
    with os.fdopen(reading, "rb") as pipe:
        reports = [json.loads(line) for line in pipe if line.endswith(b"\n")]
    _, status = os.waitpid(pid, 0)
    killed = os.WIFSIGNALED(status)
    assert killed or os.WEXITSTATUS(status) == 0, status
    return killed, dict(reports)


def _write(pipe: int, key: str, value: Any) -> None:
    os.write(pipe, json.dumps([key, value]).encode() + b"\n")


KINDS: dict[str, Callable[[Path], Any]] = {"label": Labelling, "learn": Learning}


def suite(folder: Path, kind: str, kills: int, seed: int = 1) -> str:
    """Kill so many; say how many of them came between acknowledgements, and how many there were."""
    chance, done, between, checked, rounds = random.Random(seed), 0, 0, 0, 0
    longest = 0.3
    whole = _make(folder / "whole", kind)
    run_victim(whole, None)
    assert whole.is_complete()
    while done < kills:
        work, acknowledged = _make(folder / str(rounds), kind), dict[str, Any]()
        killed = True
        while killed:
            killed, reports = run_victim(work, chance.random() * longest if done < kills else None)
            acknowledged |= reports
            work.check(acknowledged)
            done, between = done + killed, between + (killed and bool(reports))
            longest *= 1.1 if killed else 0.7  # about as long as the work takes, on any machine
        assert work.is_complete()
        if kind == "learn":
            assert work.read_result() == whole.read_result()
        checked, rounds = checked + len(acknowledged), rounds + 1
    begun = f"{between} after the first acknowledgement, {rounds} completed"
    return f"{done} kills of {kind} ({begun}): {checked} acknowledged, none lost, none twice"


def _make(folder: Path, kind: str) -> Any:
    folder.mkdir()
    return KINDS[kind](folder)


if __name__ == "__main__":
    place, kind, kills, *seed = sys.argv[1:]
    print(suite(Path(place), kind, int(kills), *map(int, seed)))  # noqa: T201
