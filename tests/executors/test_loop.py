"""The event loop of a command: another loop where there is one, and all as before afterwards."""

import asyncio
import gc
import sys

import pytest

from fourscore.executors import loop


async def inside() -> tuple[str, int]:
    return type(asyncio.get_running_loop()).__module__, gc.get_threshold()[0]


def test_garbage_collection_is_changed_only_while_running() -> None:
    before = (gc.get_threshold(), gc.get_freeze_count())
    kind, young = loop.run(inside())
    assert kind.startswith("uvloop")
    assert young == loop.GC_THRESHOLD
    assert (gc.get_threshold(), gc.get_freeze_count()) == before


def test_uses_asyncio_where_uvloop_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    kind, _ = loop.run(inside())
    assert kind.startswith("asyncio")


def test_error_restores_garbage_collection() -> None:
    async def fails() -> None:
        raise ValueError("no")

    before = gc.get_threshold()
    with pytest.raises(ValueError, match="no"):
        loop.run(fails())
    assert gc.get_threshold() == before
