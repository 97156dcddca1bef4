"""What `label` and `rubric learn` acknowledged is there after `kill -9`, and they go on.

`python -m tests.labels.killing` does the same with any number of kills.
"""

import subprocess
import sys
from pathlib import Path

import pytest

KILLS = 8


@pytest.mark.parametrize("kind", ["label", "learn"])
def test_killed_commands_lose_nothing_that_they_acknowledged(kind: str, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "tests.labels.killing", str(tmp_path), kind, str(KILLS)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"{KILLS} kills of {kind}" in done.stdout
