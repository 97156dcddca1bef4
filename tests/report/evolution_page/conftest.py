"""A history with one of everything, and its report read without a browser."""

import base64
import gzip
import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from fourscore.evolve.decision import Decision, decide_by_pairs
from fourscore.evolve.folder import Evolution
from fourscore.report.evolution_page import write_lineage
from fourscore.stats.sequential import SequentialPlan

PROMPT = "Answer in {language}.\n\n1. Read the question.\n2. Name your sources.\n\nBe brief.\n"
SETTINGS = "budget: 40\nkeep: 2\nlimits: {cool_down: 0}\n"
WON = decide_by_pairs([(40.0, 90.0), (50.0, 95.0)] * 20, SequentialPlan(budget=40))
LOST = decide_by_pairs([(90.0, 20.0), (80.0, 20.0)] * 20)
BRANCHED = Decision(
    rule="literal", accepted=True, reason="exploration", why="by chance", delta=-1.0, n=40,
    old=92.0, new=91.0,
)  # fmt: skip
HELD = {"first": 1, "active": 2, "n": 30, "old": 44.0, "new": 88.5, "delta": 44.5, "low": 30.25,
        "high": 58.75}  # fmt: skip


class Garden:
    """An evolution that grows, and its pages."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._minutes = 0
        self.evolution = Evolution.begin(
            folder / "prompts", PROMPT, SETTINGS, source="prompt.md", now=self._now
        )

    def _now(self) -> datetime:
        self._minutes += 1
        return datetime(2026, 1, 31, 12, 0, tzinfo=UTC) + timedelta(minutes=self._minutes)

    def tried(self, text: str, decision: Decision | None, **how: Any) -> int:
        """A candidate and what was decided about it; its number."""
        how = {"strategy": "constraint_add", "risk": "medium", "why": "sources were missing"} | how
        number = self.evolution.add(text, **how).number
        if decision is not None:
            self.evolution.decide(number, decision)
        return number

    def grow(self) -> None:
        evolution = self.evolution
        evolution.record_execution(60.0, n=20)
        self.tried(PROMPT.replace("your sources", "each of your sources"), WON)
        self.tried(evolution.text() + "Be rude.\n", LOST, strategy="persona_adjust", risk="high")
        self.tried(
            evolution.text().replace("Be brief.\n", ""), BRANCHED, strategy="constraint_remove"
        )
        self.tried(evolution.text() + "Think twice.\n", WON)
        self.tried(
            evolution.text() + "Think thrice.\n", LOST, strategy="emphasis_shift", risk="low"
        )
        evolution.record_execution(30.0, error_rate=0.6, n=20)
        ruling = evolution.must_roll_back()
        evolution.rollback(2, reason=ruling.reason, why=ruling.why)
        refused = {"strategy": "example_inject", "risk": "low", "reason": "{language} is gone"}
        evolution.add_note("refused", refused)
        evolution.add_note("held_out", HELD)
        self.tried(evolution.text() + "Wait.\n", None)

    def report(self, **how: Any) -> Path:
        path = self.folder / "lineage.html"
        write_lineage(path, self.evolution, **how)
        return path


@pytest.fixture
def garden(tmp_path: Path) -> Iterator[Garden]:
    garden = Garden(tmp_path)
    yield garden
    garden.evolution.close()


@pytest.fixture
def won() -> Decision:
    return WON


@pytest.fixture
def lost() -> Decision:
    return LOST


class Page:
    def __init__(self, path: Path) -> None:
        self.text = path.read_bytes().decode()
        (head,) = re.findall(r'id="head">(.*?)</script>', self.text)
        self.head: dict[str, Any] = json.loads(head)
        self.lines = [line for each in self._blocks("line") for line in each]
        self.details = {line[0]: line[3] for each in self._blocks("case") for line in each}

    def _blocks(self, kind: str) -> Iterator[list[Any]]:
        pattern = rf'<script type="([^"]*)" class="{kind}"[^>]*>(.*?)</script>'
        for form, body in re.findall(pattern, self.text, re.DOTALL):
            plain = form == "application/json"
            yield json.loads(body if plain else gzip.decompress(base64.b64decode(body)))


@pytest.fixture
def read() -> Callable[[Path], Page]:
    return Page
