"""A damaged or odd store is exit 2 and one sentence, for every command that opens one."""

import json
import random
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import main
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.stores.sqlite import Store

RUN = ["--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "agent.py:answer"]
#: JSON values that are rarely right.
ODD = ("null", "-1", "1e308", '"x"', "[]", '{"a": {}}', "[1]", "99999999999999999999", "true")
#: SQL values that a column may hold, whatever the table says.
STRANGE = ("x'ff00'", "-1", "9e999", "1.5", "'[]'", "CAST(x'fffe' AS TEXT)", "CAST('{}' AS BLOB)")
PAGE = 4096

Damage = Callable[[bytes, random.Random], bytes]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a sound store of two runs and labels, and one of a monitor with an alert."""
    folder = tmp_path_factory.mktemp("stores")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("agent.py").write_text("def answer(x):\n    return '\\\\boxed{%s}' % x\n")
        Path("rubric.yaml").write_text("dimensions:\n  right: {judge: math}\n")
        Path("zero.py").write_text(
            "from fourscore import judge\n@judge\n"
            "def zero(case, trace): return '0' in trace.answer\n"
        )
        Path("live.yaml").write_text("dimensions:\n  zero: {judge: zero.py->zero}\n")
        Path("sinks.yaml").write_text("sinks:\n  log: {}\n")
        rows = ({"id": f"c{n}", "input": str(n), "expected": str(n % 3)} for n in range(20))
        Path("cases.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        for _ in range(2):
            assert main(["run", *RUN, "--store", "runs.db"]) == 0
        with Store("runs.db") as store:
            Path("runs.json").write_text(json.dumps([info.id for info in store.runs()]))
            for n in range(12):
                verdict = "pass" if n % 2 else "fail"
                store.label(store.runs()[0].id, f"c{n}", 1, who="ann", verdict=verdict)
        with ProductionMonitor(1.0, rubric="live.yaml", store="monitor.db") as monitor:
            for n in range(120):
                monitor.sample_and_evaluate(f"question {n}", "0" if n < 60 else "1")
        for name in ("runs.db", "monitor.db"):
            with closing(sqlite3.connect(name)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield folder


def run_commands(store: str) -> list[list[str]]:
    one, other = json.loads(Path("runs.json").read_text())
    there = ["--store", store]
    return [
        ["runs", *there],
        ["show", one, *there, "--out", "o.html", "--out", "o.xml", "--out", "o.csv"],
        ["show", one, "c1", *there],
        ["compare", one, other, *there],
        ["label", one, "c3", "fail", *there],
        ["rescore", one, "--rubric", "rubric.yaml", *there],
        ["run", *RUN, "--resume", one, *there],
        ["run", *RUN, "--limit", "2", *there],
        ["calibrate", "--run", one, *there],
        ["evolve", "decide", one, other, *there],
    ]


def monitor_commands(store: str) -> list[list[str]]:
    with closing(sqlite3.connect("monitor.db")) as connection:
        (sample,) = connection.execute("SELECT id FROM samples LIMIT 1").fetchone()
    there = ["--store", store]
    return [
        ["monitor", "status", *there],
        ["monitor", "watch", "--once", *there],
        ["monitor", "alerts", *there],
        ["monitor", "metrics", *there],
        ["monitor", "promote", sample, "--to", "promoted.jsonl", *there],
        ["monitor", "deliver", "--config", "sinks.yaml", *there],
    ]


KINDS = {
    "runs.db": (run_commands, ("runs.info", "runs.summary", "scores.score", "traces.trace")),
    "monitor.db": (monitor_commands, ("states.body", "samples.body", "alerts.body", "texts.body")),
}


def truncate(store: bytes, chance: random.Random) -> bytes:
    return store[: chance.choice([0, 1, 100, PAGE, chance.randrange(len(store)), len(store) - 1])]


def flip_bytes(store: bytes, chance: random.Random) -> bytes:
    changed = bytearray(store)
    for _ in range(chance.choice([1, 5, 50, 500])):
        changed[chance.randrange(len(store))] = chance.randrange(256)
    return bytes(changed)


def overwrite_page(store: bytes, chance: random.Random) -> bytes:
    at = PAGE * chance.randrange(1, len(store) // PAGE)
    page = chance.choice([bytes(PAGE), chance.randbytes(PAGE)])
    return store[:at] + page + store[at + PAGE :]


def swap_pages(store: bytes, chance: random.Random) -> bytes:
    pages = [store[at : at + PAGE] for at in range(0, len(store), PAGE)]
    one, other = chance.sample(range(1, len(pages)), 2)
    pages[one], pages[other] = pages[other], pages[one]
    return b"".join(pages)


def change_by_sql(store: bytes, *statement: Any) -> bytes:
    path = Path("changed.db")
    path.write_bytes(store)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(*statement)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


def put_strange_value(store: bytes, chance: random.Random) -> bytes:
    """Put a value of the wrong type into a column, of one row or of all."""
    path = Path("read.db")
    path.write_bytes(store)
    with closing(sqlite3.connect(path)) as connection:
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL"
        table = chance.choice([row[0] for row in connection.execute(tables)])
        column = chance.choice(list(connection.execute(f"PRAGMA table_info({table})")))[1]
    which = chance.choice(["", f' WHERE "{column}" = (SELECT max("{column}") FROM {table})'])
    value = chance.choice(STRANGE)
    return change_by_sql(store, f'UPDATE OR IGNORE {table} SET "{column}" = {value}{which}')


def edit_json(store: bytes, chance: random.Random, columns: tuple[str, ...]) -> bytes:
    """Replace one value in the JSON of a row."""
    table, _, column = chance.choice(columns).partition(".")
    path = Path("read.db")
    path.write_bytes(store)
    with closing(sqlite3.connect(path)) as connection:
        (text,) = connection.execute(f"SELECT {column} FROM {table}").fetchone()
    node, place = json.loads(text), "$"
    while isinstance(node, dict) and node and chance.random() < 0.8:
        key = chance.choice(list(node))
        node, place = node[key], f'{place}."{key}"'
    kind = "BLOB" if isinstance(text, bytes) else "TEXT"
    new = f"CAST(json_set(CAST({column} AS TEXT), ?, json(?)) AS {kind})"
    return change_by_sql(store, f"UPDATE {table} SET {column} = {new}", (place, chance.choice(ODD)))


WAYS: list[Damage] = [truncate, flip_bytes, overwrite_page, swap_pages, put_strange_value]


def check(words: list[str], capsys: pytest.CaptureFixture[str], *codes: int) -> str:
    """Run a command, as text and as JSON by turns; return what it says on stderr."""
    as_json = "metrics" not in words and len(words) % 2 == 0
    code = main([*words, "--json"] if as_json else words)
    printed = capsys.readouterr()
    assert code in codes, (words, printed.err)
    assert "Traceback" not in printed.out + printed.err
    assert "mistake in fourscore" not in printed.err
    if code == 2:
        last = printed.err.splitlines()[-1]
        assert re.fullmatch("fourscore: [^\n]+", last), printed.err
        if as_json:
            assert json.loads(printed.out)["exit_code"] == 2
    return printed.err


def replace_store(data: bytes) -> None:
    for left in Path().glob("damaged.db*"):
        left.unlink()
    Path("damaged.db").write_bytes(data)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", KINDS)
def test_no_damage_ends_a_command_with_a_traceback(
    name: str,
    seed: int,
    made: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(made)
    commands, columns = KINDS[name]
    sound, chance = Path(name).read_bytes(), random.Random(f"{name} {seed}")
    way = seed % (len(WAYS) + 1)
    damaged = edit_json(sound, chance, columns) if way == len(WAYS) else WAYS[way](sound, chance)
    for words in commands("damaged.db"):
        replace_store(damaged)
        check(words, capsys, 0, 1, 2, 3)


@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_store_is_refused_by_every_command(
    name: str,
    made: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(made)
    commands, _ = KINDS[name]
    sound = Path(name).read_bytes()
    other = next(Path(each).read_bytes() for each in KINDS if each != name)
    for data, message in [
        (b"", "the file is empty"),
        (b"not a database, by far" * 99, "this is not a store of fourscore"),
        (sound[: len(sound) // 2], "damaged or truncated"),
        (other, "expected a store of"),
        (change_by_sql(sound, "PRAGMA user_version = 99"), "update fourscore"),
        (change_by_sql(sound, "PRAGMA application_id = 7"), "not a store of fourscore"),
        (change_by_sql(sound, "ALTER TABLE labels RENAME TO l"), "its tables are not")
        if name == "runs.db"
        else (change_by_sql(sound, "DROP TABLE texts"), "its tables are not"),
    ]:
        for words in commands("damaged.db"):
            replace_store(data)
            assert message in check(words, capsys, 2), words
    Path("folder.db").mkdir(exist_ok=True)
    for words in commands("folder.db"):
        assert "folder.db: this is not a file" in check(words, capsys, 2)
    for words in commands("cases.jsonl/runs.db"):
        assert "cases.jsonl" in check(words, capsys, 2)


@pytest.mark.parametrize("name", KINDS)
def test_a_store_that_may_not_be_written_is_read_or_refused(
    name: str,
    made: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """SQLite is told that it may not write, as permissions do not stop a superuser."""
    monkeypatch.chdir(made)
    real = sqlite3.connect

    def connect(path: str, **options: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = real(path.replace("mode=rw", "mode=ro"), **options)
        return made

    monkeypatch.setattr(sqlite3, "connect", connect)
    commands, _ = KINDS[name]
    for words in commands("damaged.db"):
        replace_store(Path(name).read_bytes())
        said = check(words, capsys, 0, 1, 2, 3)
        if words[0] in ("label", "rescore", "run") or "deliver" in words:
            assert "read-only" in said or "deliver" in words, words
