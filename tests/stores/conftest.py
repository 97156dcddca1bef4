"""A store, and rows to put into it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fourscore.core import Case, Score, Signal, Status, Trace
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store


class Shelf:
    """A store with one run in it, and rows by number."""

    judge = "judge-1"

    def __init__(self, path: Path) -> None:
        self.path = path
        self.store = Store(path)
        self.run = self.store.start(RunInfo(id="run-1", rubric_fingerprint=self.judge)).id

    def case(self, n: int) -> Case:
        return Case(id=f"case-{n}", input=f"question {n}")

    def trace(self, n: int) -> Trace:
        return Trace(output=f"answer {n}", seconds=0.5)

    def score(self, n: int) -> Score:
        value = (n % 10) / 10
        signals = (Signal(name="exact", value=value),)
        return Score(
            status=Status.SCORED, value=value, passed=n % 2 == 0, reward=value, signals=signals
        )

    async def put(self, *numbers: int) -> None:
        with self.store.writer(self.run) as writer:
            for n in numbers:
                await writer.put_both(
                    n, self.case(n), 1, self.trace(n), judge=self.judge, score=self.score(n)
                )


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path / "store.db")
    yield shelf
    shelf.store.close()
