"""A browser to look at pages with, which notices all that a page must never do."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

#: Milliseconds that a step in the browser may take: a busy machine is no fault of the page.
PATIENCE = 180_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, as Debian has it."""
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    api = pytest.importorskip("playwright.sync_api")
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=root)
        yield browser
        browser.close()


class CanaryJudge:
    """A page, and all that a report must never do."""

    def __init__(self, browser: Any, path: Path, **how: Any) -> None:
        how = {"viewport": {"width": 1280, "height": 900}} | how
        self.context = browser.new_context(**how)
        self.context.set_default_timeout(PATIENCE)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", lambda message: self.faults.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        self.page.on("dialog", self._asked)
        self.page.on("request", self._requested)
        self.page.on("popup", lambda _: self.faults.append("popup"))
        self.address = path.as_uri()

    def _asked(self, dialog: Any) -> None:
        self.faults.append("dialog")
        dialog.dismiss()

    def _requested(self, request: Any) -> None:
        if request.url.split("#")[0] != self.address and not request.url.startswith("data:"):
            self.faults.append(f"request: {request.url}")

    def open(self, fragment: str = "") -> Any:
        self.page.goto(self.address + fragment)
        self.page.wait_for_selector("html[data-ready=yes]")
        return self.page

    def close(self) -> None:
        self.context.close()
        assert self.faults == []


@pytest.fixture
def watch(browser: Any) -> Iterator[Any]:
    opened: list[CanaryJudge] = []

    def start(path: Path, fragment: str = "", **how: Any) -> Any:
        opened.append(CanaryJudge(browser, path, **how))
        return opened[-1].open(fragment)

    yield start
    for each in opened:
        each.close()
