"""A whole evolution with a scripted agent: what it finds, and that no kill disturbs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fourscore.cli.main import main
from fourscore.evolve.folder import Evolution
from fourscore.stores.sqlite import Store

GOOD = ("price with its currency", "day of arrival", "number of the rule")
BAD = ("three words", "whole tens", "never commit")


def begun(folder: Path) -> Path:
    assert main(["evolve", "init", "--example", str(folder)]) == 0
    lines = (folder / "cases.jsonl").read_text().splitlines(keepends=True)
    (folder / "cases.jsonl").write_text("".join(lines[::2]))
    return folder


def check_found(folder: Path) -> None:
    """All that was planted to help is in the active prompt, nothing that was planted to harm."""
    with Evolution(folder, write=False) as evolution:
        text = evolution.text().lower()
        promoted = [each.version for each in evolution.history.decisions if each.decision.accepted]
        found = " ".join(evolution.text(number) for number in promoted).lower()
    assert [line for line in GOOD if line not in text] == []
    assert [line for line in BAD if line in text or line in found] == []


def log_of(folder: Path) -> list[tuple[str, str]]:
    """The history without its times."""
    return re.findall(r'^(.*?)"at":"[^"]*"(.*)$', (folder / "log.jsonl").read_text(), re.MULTILINE)


@pytest.mark.parametrize("seed", [1, 2])
def test_finds_planted_improvements_and_keeps_no_harmful_ones(
    tmp_path: Path, seed: int, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = begun(tmp_path / "evolution")
    assert main(["evolve", "step", str(folder), "--generations", "20", "--seed", str(seed)]) == 0
    check_found(folder)
    document = capfd.readouterr()
    assert "held out: version" in document.out
    assert "no mutation: stable" in document.err


def test_survives_random_kills(tmp_path: Path) -> None:
    folder = begun(tmp_path / "evolution")
    script = Path(__file__).with_name("killing.py")
    command = [sys.executable, str(script), str(folder), "7", "0.25"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    killed, code = map(int, done.stdout.split()[-2:])
    assert killed >= 3
    assert code == 0, (folder / "said.tmp").read_text()
    check_found(folder)
    whole = begun(tmp_path / "whole")
    assert main(["evolve", "step", str(whole), "--generations", "20"]) == 0
    assert log_of(folder) == log_of(whole)
    with Store(folder / "runs.db") as store:  # nobody was asked again for what was stored
        rows = [row for info in store.runs() for row in store.rows(info.id)]
    assert {row.attempt for row in rows} == {1}
    assert all(row.score is not None for row in rows)
