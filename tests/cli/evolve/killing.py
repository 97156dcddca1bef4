"""Runs the example's evolution in processes that are killed (SIGKILL) at random times.

`python killing.py DIR SEED LONGEST` forks from one process that has everything loaded, so a child
is at work after a few milliseconds. After each death the folder has to be consistent. Prints how
many were killed and how the last one ended.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from fourscore.cli import evolve_step as stepping  # noqa: F401 - loaded once, before the first fork
from fourscore.cli.main import main
from fourscore.evolve.folder import Evolution
from fourscore.evolve.log import Decided, Proposed

GENERATIONS = 20


def child(folder: Path, left: int) -> None:
    quiet = os.open(folder / "said.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(quiet, stream)
    os._exit(main(["evolve", "step", str(folder), "--generations", str(left)]))


def checked(folder: Path) -> int:
    """How many decisions there are in a history that holds together."""
    with Evolution(folder, write=False) as evolution:
        events = list(evolution.events())
        proposed = [event for event in events if isinstance(event, Proposed)]
        decided = [event.version for event in events if isinstance(event, Decided)]
        assert [event.version for event in proposed] == list(range(2, len(proposed) + 2))
        assert len({event.digest for event in proposed}) == len(proposed), "tried twice"
        assert len(set(decided)) == len(decided), "decided twice"
        assert len(proposed) - len(decided) in (0, 1), "more than one waits"
        for version in evolution.versions():
            assert evolution.text(version.number)
    return len(decided)


def run(folder: Path, seed: int, longest: float) -> tuple[int, int]:
    chance, killed = random.Random(seed), 0
    while True:
        left = max(1, GENERATIONS - checked(folder))
        pid = os.fork()
        if not pid:
            child(folder, left)
        end = time.monotonic() + chance.uniform(0.0, longest)
        status = None
        while time.monotonic() < end:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            status = None
            time.sleep(0.001)
        if status is None:
            os.kill(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status):
            return killed, os.WEXITSTATUS(status)
        killed += 1
        # Lives grow, so that a slow machine comes to an end as well.
        longest *= 1.1


if __name__ == "__main__":
    print(*run(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))  # noqa: T201
