"""Rules for the whole suite."""

import os
import signal
import sys
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

# A slow machine is no failure, and what passed passes again. To look further than that:
# `pytest --hypothesis-profile=searching`.
settings.register_profile("settled", deadline=None, derandomize=True)
settings.register_profile("searching", deadline=None, max_examples=2000)
settings.load_profile("settled")

# A shell has what it starts in the background ignore interrupts, and our children would too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """A compiled file is told from its source by the second and the size: what a test writes anew
    must not be taken for what it wrote before. Our own files are compiled by now."""
    sys.dont_write_bytecode = True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, Any]:
    """In CI nothing may be skipped: a part that is missing there was never tested."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {report.longrepr}"
    return report
