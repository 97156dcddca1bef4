"""The short version of benchmarks/kills_monitor.py."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "kills_monitor.py"


def test_kill_at_random_moments_loses_nothing_acknowledged() -> None:
    command = [sys.executable, str(SCRIPT), "--kills", "6"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    last = done.stdout.splitlines()[-1]
    assert last.startswith("6 kills")
    assert last.endswith("none lost, none doubled")
