"""What `fourscore cache` reads and removes."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fourscore.core import ConfigError
from fourscore.models.cache import CachedModel
from fourscore.models.cache_admin import clear_cache, read_cache_info
from fourscore.models.messages import ChatMessage, Request
from fourscore.models.scripted import ScriptedModel


def fill(path: Path, n: int) -> CachedModel:
    model = CachedModel(ScriptedModel(["x" * 2000]), path)
    for at in range(n):
        asyncio.run(model.ask(Request(messages=(ChatMessage("user", str(at)),))))
    return model


def test_counts_and_removes_replies(tmp_path: Path) -> None:
    path = tmp_path / "a b#?%" / "c.sqlite"
    assert not read_cache_info(path).exists
    assert clear_cache(path).replies == 0
    assert not path.parent.exists()
    fill(path, 50).close()
    info = read_cache_info(path)
    assert (info.replies, info.exists) == (50, True)
    assert 100_000 < info.reply_bytes < info.file_bytes
    assert info.first_used is not None
    assert info.last_used is not None
    assert info.first_used <= info.last_used
    assert clear_cache(path).replies == 50
    after = read_cache_info(path)
    assert (after.replies, after.first_used) == (0, None)
    assert after.file_bytes < 50_000
    assert path.stat().st_mode & 0o077 == 0


def test_cache_in_use_can_be_cleared(tmp_path: Path) -> None:
    model = fill(tmp_path / "c", 3)
    store = model._open_store()
    store.close()  # all is written; the next use opens it again
    asyncio.run(model.ask(Request(messages=(ChatMessage("user", "0"),))))
    assert clear_cache(tmp_path / "c").replies == 3
    request = Request(messages=(ChatMessage("user", "0"),))
    assert [asyncio.run(model.ask(request)).cached for _ in range(2)] == [False, True]
    model.close()


@pytest.mark.parametrize("kind", ["text", "empty", "store", "folder", "torn", "no table"])
def test_other_file_is_refused_and_not_changed(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    if kind == "text":
        path.write_text("not a database" * 500)
    elif kind == "empty":
        path.write_text("")
    elif kind == "folder":
        path.mkdir()
    elif kind == "store":
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("CREATE TABLE replies (key, reply, size, used)")
    else:
        fill(path, 100).close()
        if kind == "torn":
            path.write_bytes(path.read_bytes()[:8192] + b"\xff" * 8192)
        else:
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("DROP TABLE replies")
    before = None if kind == "folder" else path.read_bytes()
    for use in (read_cache_info, clear_cache):
        with pytest.raises(ConfigError, match="cache of fourscore") as caught:
            use(path)
        assert caught.value.file == str(path)
    assert before is None or path.read_bytes() == before
