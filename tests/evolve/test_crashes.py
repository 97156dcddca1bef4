"""Killed at any point, an evolution is what it was before a step or after it, and goes on."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fourscore.evolve.folder import Evolution
from fourscore.evolve.settings import Settings, read_settings

SCRIPT = Path(__file__).with_name("scenario.py")
_spec = importlib.util.spec_from_file_location("scenario", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
scenario = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(scenario)

#: Every call by which a process changes a disk.
CALLS = ("write", "fsync", "replace", "rename", "ftruncate", "mkdir", "unlink")
FOREVER = 1_000_000


class Killed(BaseException):
    """The process is no more."""


class Fault:
    """Ends the process before its nth call, or within it: half of the bytes are written."""

    def __init__(self, at: int, *, torn: bool) -> None:
        self.left, self.torn, self.dead = at, torn, False

    def around(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if self.dead:
                raise Killed
            self.left -= 1
            if self.left < 0:
                self.dead = True
                if self.torn and name == "write":
                    real(args[0], bytes(args[1])[: len(args[1]) // 2])
                raise Killed
            return None if name == "fsync" else real(*args, **options)  # a test needs no disk

        return call


@pytest.fixture
def crash(monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    real = {name: getattr(os, name) for name in CALLS}
    known: dict[tuple[Path, bytes], Settings] = {}

    def read(path: Path) -> Settings:
        """The same few lines of YAML, read thousands of times."""
        if not path.is_file():
            return read_settings(path)
        document = path, path.read_bytes()
        if document not in known:
            known[document] = read_settings(path)
        return known[document]

    monkeypatch.setattr("fourscore.evolve.folder.read_settings", read)

    def run(work: Callable[[], Evolution], at: int, *, torn: bool = False) -> bool:
        """Whether the work was cut off."""
        fault = Fault(at, torn=torn)
        with monkeypatch.context() as patch:
            for name in CALLS:
                patch.setattr(os, name, fault.around(name, real[name]))
            try:
                work().close()
            except Killed:
                return True
        return False

    return run


def contents(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole") / "evolution"
    scenario.go_on(folder).close()
    return contents(folder)


def consistent(folder: Path, whole: dict[str, bytes]) -> None:
    """After opening: a beginning of the log, the texts it tells of, and a state that fits."""
    found = contents(folder)
    assert whole["log.jsonl"].startswith(found["log.jsonl"])
    assert found["log.jsonl"].endswith(b"\n")
    assert not [name for name in found if name.endswith(".tmp")]
    with Evolution(folder, write=False) as evolution:
        for version in evolution.versions():
            assert evolution.text(version.number) == scenario.text(version.number)
        texts = [name for name in found if name.endswith(".md")]
        assert len(texts) == len(evolution.versions())
        kept = {f"versions/{number:04d}.md" for number in evolution.history.find_kept(5)}
        assert kept == {name for name in texts if name.startswith("versions")}


def test_scenario_covers_all_events(whole: dict[str, bytes], tmp_path: Path) -> None:
    with scenario.go_on(tmp_path / "evolution") as evolution:
        statuses = {version.status for version in evolution.versions()}
        assert statuses == {"active", "rejected", "withdrawn", "retired"}
        assert {event.__struct_config__.tag for event in evolution.events()} == {
            "init", "candidate", "decision", "withdrawal", "execution", "promotion", "rollback",
            "note",
        }  # fmt: skip
    assert any(name.startswith("archive/") for name in whole)
    assert contents(tmp_path / "evolution") == whole


@pytest.fixture
def memory() -> Iterator[Path]:
    """Thousands of files are renamed: in memory, where the machine has that."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=where) as name:
        yield Path(name)


def restored(folder: Path, stage: dict[str, bytes]) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in stage.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.parametrize("torn", [False, True], ids=["before", "within"])
def test_recovers_from_crash_at_every_system_call(
    crash: Callable[..., bool], whole: dict[str, bytes], memory: Path, torn: bool
) -> None:
    """What it comes to is the folder before the step or the one after it, byte for byte."""
    before: dict[str, bytes] = {}
    points = 0
    for step in range(len(scenario.STEPS) + 1):
        folder = restored(memory / "e", before)
        crash(lambda step=step: scenario.go_on(memory / "e", steps=step), FOREVER)
        after, at = contents(folder), 0
        while True:
            restored(folder, before)
            cut = crash(lambda step=step: scenario.go_on(memory / "e", steps=step), at, torn=torn)
            if not cut:
                break
            if scenario.begun(folder):
                again = 0 if torn else FOREVER
                while crash(lambda: Evolution(memory / "e"), again, torn=torn):
                    again += 1  # recovery is cut off too, at each of its calls
                assert contents(folder) in (before, after), f"step {step}, call {at}"
            crash(lambda step=step: scenario.go_on(memory / "e", steps=step), FOREVER)
            assert contents(folder) == after, f"step {step}, call {at}"
            at += 1
        consistent(folder, whole)
        before, points = after, points + at
    assert before == whole
    assert points > 150


def test_recovers_from_repeated_process_kills(whole: dict[str, bytes], tmp_path: Path) -> None:
    folder = tmp_path / "evolution"
    kills = 0
    for steps in (1, 2, 4, 3, 5):
        child = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(folder)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        for _ in range(steps):
            child.stdout.readline()
        child.send_signal(signal.SIGKILL)  # in the middle of the next step
        child.communicate()
        kills += child.returncode == -signal.SIGKILL
        Evolution(folder).close()
        consistent(folder, whole)
    assert kills
    scenario.go_on(folder).close()
    assert contents(folder) == whole
