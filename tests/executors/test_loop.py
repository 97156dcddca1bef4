"""The event loop of a command: another loop where there is one, and all as before afterwards."""

import asyncio
import gc
import sys

import pytest

from fourscore.executors import loop


async def inside() -> tuple[str, int]:
    return type(asyncio.get_running_loop()).__module__, gc.get_threshold()[0]


def test_what_holds_inside_and_what_is_left_behind() -> None:
    before = (gc.get_threshold(), gc.get_freeze_count())
    kind, young = loop.run(inside())
    assert kind.startswith("uvloop")
    assert young == loop.YOUNG
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_without_uvloop_asyncio_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    kind, _ = loop.run(inside())
    assert kind.startswith("asyncio")


def test_an_error_leaves_nothing_behind() -> None:
    async def fails() -> None:
        raise ValueError("no")

    before = gc.get_threshold()
    with pytest.raises(ValueError, match="no"):
        loop.run(fails())
    assert gc.get_threshold() == before
