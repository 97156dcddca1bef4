"""Runs to report on."""

import asyncio
import base64
import gzip
import json
import re
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, Score, Trace
from fourscore.report.run_page import write_report
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store

JUDGE = "judge-1"
Row = tuple[Case, Trace, Score]


class Shelf:
    """A store with one run, and its report."""

    judge = JUDGE

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = Store(folder / "runs.db")
        self.run = RunInfo(id="run-1", rubric_fingerprint=JUDGE)

    def put(self, rows: Sequence[Row], **about: Any) -> None:
        about = {"planned": len(rows), "created": 1_700_000_000.0} | about
        self.run = RunInfo(id="run-1", rubric_fingerprint=JUDGE, **about)
        self.store.start(self.run)

        async def work() -> None:
            with self.store.writer(self.run.id) as writer:
                await asyncio.gather(
                    *(
                        writer.put_both(n, case, 1, trace, judge=JUDGE, score=score)
                        for n, (case, trace, score) in enumerate(rows)
                    )
                )

        # A browser under test has an event loop in this thread.
        thread = threading.Thread(target=asyncio.run, args=(work(),))
        thread.start()
        thread.join()

    def report(self, **how: Any) -> Path:
        path = self.folder / "report.html"
        write_report(path, self.store, self.run.id, **how)
        return path


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.store.close()


class Page:
    """What a report holds, read without a browser."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_bytes().decode()
        self.head: dict[str, Any] = json.loads(self._elements("head")[0][1])
        self.lines = [line for each in self._blocks("line") for line in each]
        self.details = {
            (position, repeat): detail
            for each in self._blocks("case")
            for position, repeat, _, detail in each
        }

    def _elements(self, kind: str) -> list[tuple[str, str]]:
        return re.findall(rf'<script type="([^"]*)"[^>]* id="{kind}[^>]*>(.*?)</script>', self.text)

    def _blocks(self, kind: str) -> Iterator[list[Any]]:
        pattern = rf'<script type="([^"]*)" class="{kind}"[^>]*>(.*?)</script>'
        for form, body in re.findall(pattern, self.text, re.DOTALL):
            plain = form == "application/json"
            yield json.loads(body if plain else gzip.decompress(base64.b64decode(body)))


@pytest.fixture
def read() -> type[Page]:
    return Page
