"""Ask once: across processes, in one flight, within a size, and whatever becomes of the file."""

import asyncio
import multiprocessing
import os
import pickle
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Usage
from fourscore.models.cache import CachedModel
from fourscore.models.cache_file import CacheFile
from fourscore.models.messages import ChatMessage, ModelError, Request, Response, Token
from fourscore.models.scripted import ScriptedModel

SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


def make_request(text: str = "hello", **fields: Any) -> Request:
    return Request(messages=(ChatMessage("user", text),), **fields)


def test_second_request_costs_nothing(tmp_path: Path) -> None:
    full = Response(
        text='{"score": 7}',
        value={"score": 7},
        usage=Usage(calls=1, input_tokens=9),
        model="m",
        finish="stop",
        logprobs=(Token("7", -0.5, (("7", -0.5), ("8", -1.0))),),
    )
    inner = ScriptedModel([full])
    first = CachedModel(inner, tmp_path / "deep" / "c.sqlite")
    assert asyncio.run(first.ask(make_request(schema=SCHEMA))) == full
    first.close()
    second = CachedModel(inner, tmp_path / "deep" / "c.sqlite")
    again = asyncio.run(second.ask(make_request(schema=SCHEMA)))
    second.close()
    assert inner.calls == 1
    assert (again.cached, again.usage, again.attempts) == (True, Usage(), 1)
    assert (again.text, again.value, again.logprobs) == (full.text, full.value, full.logprobs)
    assert (tmp_path / "deep" / "c.sqlite").stat().st_mode & 0o077 == 0


def test_different_requests_and_models_are_cached_apart(tmp_path: Path) -> None:
    inner = ScriptedModel(lambda asked: asked.salt or "hi")
    model = CachedModel(inner, tmp_path / "c")
    for one in (
        make_request(),
        make_request("other"),
        make_request(salt="1"),
        make_request(salt="2"),
        make_request(temperature=1),
        make_request(),
    ):
        asyncio.run(model.ask(one))
    other = CachedModel(ScriptedModel(["x"], name="other"), tmp_path / "c")
    assert asyncio.run(other.ask(make_request())).text == "x"
    model.close()
    other.close()
    assert inner.calls == 5


def test_errors_are_not_cached(tmp_path: Path) -> None:
    inner = ScriptedModel([ModelError("server", "no"), ModelError("refused", "no"), "hi"])
    model = CachedModel(inner, tmp_path / "c")
    for _ in range(2):
        with pytest.raises(ModelError):
            asyncio.run(model.ask(make_request()))
    assert asyncio.run(model.ask(make_request())).text == "hi"
    model.close()


class Gated:
    """Answers when told to."""

    name = fingerprint = "gated"

    def __init__(self) -> None:
        self.calls = self.cancelled = 0
        self.gate, self.asked = asyncio.Event(), asyncio.Event()
        self.failure: ModelError | None = None

    async def ask(self, asked: Request) -> Response:
        self.calls += 1
        self.asked.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if self.failure is not None:
            raise self.failure
        return Response(text="hi", usage=Usage(calls=1))


async def begun(model: CachedModel, inner: Gated, count: int) -> list[asyncio.Task[Response]]:
    tasks = [asyncio.ensure_future(model.ask(make_request())) for _ in range(count)]
    await inner.asked.wait()
    return tasks


def test_concurrent_equal_requests_make_one_call(tmp_path: Path) -> None:
    async def run() -> None:
        inner = Gated()
        model = CachedModel(inner, tmp_path / "c")
        tasks = await begun(model, inner, 20)
        inner.gate.set()
        replies = await asyncio.gather(*tasks)
        assert inner.calls == 1
        assert sum((reply.usage for reply in replies), Usage()).calls == 1
        assert sum(reply.cached for reply in replies) == 19
        model.close()

    asyncio.run(run())


def test_waiting_request_makes_the_call_when_the_first_is_cancelled(tmp_path: Path) -> None:
    async def run() -> None:
        inner = Gated()
        model = CachedModel(inner, tmp_path / "c")
        tasks = await begun(model, inner, 3)
        tasks[0].cancel()
        await asyncio.sleep(0.01)
        inner.gate.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(results[0], asyncio.CancelledError)
        assert [result.text for result in results[1:] if isinstance(result, Response)] == [
            "hi",
            "hi",
        ]
        assert (inner.calls, inner.cancelled) == (2, 1)  # the next in line asked in its place
        model.close()

    asyncio.run(run())


def test_call_is_cancelled_when_all_requests_are(tmp_path: Path) -> None:
    async def run() -> None:
        inner = Gated()
        model = CachedModel(inner, tmp_path / "c")
        tasks = await begun(model, inner, 3)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.01)
        assert inner.cancelled == 1
        inner.gate.set()
        assert (await model.ask(make_request())).text == "hi"
        model.close()

    asyncio.run(run())


def test_failure_is_shared_but_not_cached(tmp_path: Path) -> None:
    async def run() -> None:
        inner = Gated()
        inner.failure = ModelError("server", "no")
        model = CachedModel(inner, tmp_path / "c")
        tasks = await begun(model, inner, 3)
        inner.gate.set()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(result, ModelError) for result in results)
        inner.failure = None
        assert (await model.ask(make_request())).text == "hi"
        assert inner.calls == 2
        model.close()

    asyncio.run(run())


def test_evicts_least_recently_used_first(tmp_path: Path) -> None:
    file = CacheFile(tmp_path / "c", 1_000_000)
    for number in range(500):
        file.put([(f"old{number}", b"x" * 1000)], now=1000.0 + number)
    found = file.get("old0", now=5000.0)
    assert found is not None
    assert found.needs_touch
    file.put([], touched=["old0"], now=5000.0)
    for number in range(600):
        file.put([(f"new{number}", b"x" * 1000)], now=6000.0 + number)
    assert file.get("old1") is None
    assert file.get("old0") is not None
    assert file.get("new599") is not None
    file.put([("huge", b"x" * 2_000_000)])
    assert file.get("huge") is None
    file.close()


def test_file_stays_within_max_bytes(tmp_path: Path) -> None:
    limit = 1 << 20
    file = CacheFile(tmp_path / "c", limit)
    for number in range(4000):
        file.put([(f"{number:032}", os.urandom(1500))], now=float(number))
    file.close()
    assert (tmp_path / "c").stat().st_size <= limit


@pytest.mark.parametrize("damage", ["rubbish", "torn", "empty tables", "zeros"])
def test_broken_file_is_renamed_and_replaced(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "c"
    inner = ScriptedModel(["hi"])
    model = CachedModel(inner, path)
    for number in range(200):
        asyncio.run(model.ask(make_request(str(number))))
    model.close()
    if damage == "rubbish":
        path.write_bytes(b"not a database at all" * 1000)
    elif damage == "torn":
        path.write_bytes(path.read_bytes()[:8192] + b"\xff" * 8192)
    elif damage == "zeros":
        data = bytearray(path.read_bytes())
        data[4096:] = bytes(len(data) - 4096)
        path.write_bytes(data)
    else:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("DROP TABLE replies")
            connection.execute("CREATE TABLE replies (other TEXT)")

    def all_of_them() -> None:
        for number in range(200):
            assert asyncio.run(model.ask(make_request(str(number)))).text == "hi"

    with pytest.warns(RuntimeWarning, match="the cache is broken"):
        all_of_them()
    before = inner.calls
    all_of_them()
    assert inner.calls == before  # it caches again
    model.close()
    assert len(list(tmp_path.glob("c.broken-*"))) == 1


def test_message_about_damaged_text_counts_as_damage(tmp_path: Path) -> None:
    """Where SQLite quotes changed bytes in its message, Python fails to decode that message."""
    file = CacheFile(tmp_path / "c", 1 << 20)

    def quote_bytes(connection: sqlite3.Connection) -> None:
        if not list(tmp_path.glob("c.broken-*")):
            b"near \xf5".decode()

    with pytest.warns(RuntimeWarning, match="the cache is broken"):
        file._run_safely(quote_bytes)
    assert len(list(tmp_path.glob("c.broken-*"))) == 1
    file.close()


def test_foreign_database_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE precious (thing TEXT)")
    before = path.read_bytes()
    model = CachedModel(ScriptedModel(["hi"]), path)
    with pytest.warns(RuntimeWarning, match="not a cache of fourscore"):
        assert asyncio.run(model.ask(make_request())).text == "hi"
    model.close()
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["store.sqlite"]


def test_unreadable_row_is_asked_again(tmp_path: Path) -> None:
    inner = ScriptedModel(["hi"])
    model = CachedModel(inner, tmp_path / "c")
    asyncio.run(model.ask(make_request()))
    model.close()  # and written
    with closing(sqlite3.connect(tmp_path / "c")) as connection, connection:
        connection.execute("UPDATE replies SET reply = x'7b'")
    assert asyncio.run(model.ask(make_request())).cached is False
    assert asyncio.run(model.ask(make_request())).cached is True
    model.close()


def test_path_that_cannot_be_written_disables_the_cache(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    model = CachedModel(ScriptedModel(["hi"]), tmp_path / "file" / "c")
    with pytest.warns(RuntimeWarning, match="no replies are cached"):
        assert asyncio.run(model.ask(make_request())).text == "hi"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert asyncio.run(model.ask(make_request())).text == "hi"
    model.close()


def _fill(path: Path, first: int, box: Any) -> None:
    inner = ScriptedModel(lambda asked: asked.messages[0].content)
    model = CachedModel(inner, path)

    async def run() -> int:
        numbers = [str((first + n) % 300) for n in range(300)]
        replies = await asyncio.gather(*(model.ask(make_request(number)) for number in numbers))
        return sum(r.text != number for r, number in zip(replies, numbers, strict=True))

    wrong = asyncio.run(run())
    model.close()
    box.put((wrong, inner.calls))


def test_processes_share_the_file(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    box = context.Queue()
    workers = [context.Process(target=_fill, args=(tmp_path / "c", 100 * n, box)) for n in range(3)]
    for worker in workers:
        worker.start()
    results = [box.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert [wrong for wrong, _ in results] == [0, 0, 0]
    _fill(tmp_path / "c", 0, box)
    assert box.get(timeout=60) == (0, 0)


def test_forked_child_opens_its_own_connection(tmp_path: Path) -> None:
    inner = ScriptedModel(["hi"])
    model = CachedModel(inner, tmp_path / "c")
    asyncio.run(model.ask(make_request()))
    model.close()  # and written
    asyncio.run(model.ask(make_request()))  # and open again, for the child to inherit
    context = multiprocessing.get_context("fork")
    box = context.Queue()
    child = context.Process(target=lambda: box.put(asyncio.run(model.ask(make_request())).cached))
    child.start()
    assert box.get(timeout=60) is True
    child.join()
    assert asyncio.run(model.ask(make_request())).cached
    model.close()


def test_pickles_as_its_settings(tmp_path: Path) -> None:
    from fourscore.models.openai import OpenAI

    model = CachedModel(OpenAI("m", base_url="http://127.0.0.1:9"), tmp_path / "c", max_bytes=77)
    again = pickle.loads(pickle.dumps(model))
    assert (again.path, again.max_bytes) == (model.path, 77)


def is_number(reply: Response) -> bool:
    return reply.text.isdecimal()


@pytest.mark.parametrize("useless", ["hmm", "", " \n"])
def test_reply_that_cannot_be_used_is_not_cached(useless: str, tmp_path: Path) -> None:
    inner = ScriptedModel([useless, "7", "8"])
    asked = make_request(is_usable=is_number)
    for text, cached in ((useless, False), ("7", False), ("7", True)):
        model = CachedModel(inner, tmp_path / "c")
        reply = asyncio.run(model.ask(asked))
        assert (reply.text, reply.cached) == (text, cached)
        model.close()


def test_stored_reply_that_cannot_be_used_is_asked_again_and_replaced(tmp_path: Path) -> None:
    model = CachedModel(ScriptedModel(["hmm", "7", "8"]), tmp_path / "c")
    assert asyncio.run(model.ask(make_request())).text == "hmm"  # whoever asks this can use it
    assert asyncio.run(model.ask(make_request(is_usable=is_number))).text == "7"
    assert asyncio.run(model.ask(make_request())).text == "7"
    model.close()


def test_empty_reply_is_not_cached_for_any_request(tmp_path: Path) -> None:
    model = CachedModel(ScriptedModel(["", "7"]), tmp_path / "c")
    assert [asyncio.run(model.ask(make_request())).text for _ in range(3)] == ["", "7", "7"]
    model.close()


def test_is_usable_is_no_part_of_the_identity() -> None:
    assert make_request(is_usable=is_number).digest == make_request().digest
    assert make_request(salt="1").digest != make_request().digest
