"""Files that are not a store, or damaged, are refused and left unchanged."""

import asyncio
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Trace
from fourscore.stores.errors import StoreError
from fourscore.stores.sqlite import Store
from fourscore.stores.sqlite_file import APPLICATION, TABLES, VERSION


def make_database(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def check_refused(path: Path, match: str) -> None:
    before = path.read_bytes()
    with pytest.raises(StoreError, match=match) as output:
        Store(path)
    assert output.value.file == str(path)
    assert path.read_bytes() == before


def test_text_file_is_refused(tmp_path: Path) -> None:
    for length in (1, 40, 5000):
        path = tmp_path / f"{length}.db"
        path.write_text("x" * length)
        check_refused(path, "not a store of fourscore")


def test_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    check_refused(path, "the file is empty")


def test_folder_and_missing_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="this is not a file"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="there is no such store"):
        Store(tmp_path / "store.db", make=False)
    assert list(tmp_path.iterdir()) == []


def test_database_of_another_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    make_database(path, "CREATE TABLE runs (id TEXT)")
    check_refused(path, "a SQLite file, but not a store of fourscore")


def test_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Store(path).close()
    make_database(path, f"PRAGMA user_version = {VERSION + 1}")
    check_refused(
        path, f"a newer fourscore wrote this store .version {VERSION + 1}, this one reads"
    )


def test_changed_tables_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    make_database(
        path, f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {VERSION}"
    )
    check_refused(path, f"its tables are not those of a store of fourscore: {', '.join(TABLES)}")


def test_store_with_a_trigger_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    Store(path).close()
    make_database(path, "CREATE TRIGGER odd AFTER INSERT ON scores BEGIN DELETE FROM scores; END")
    check_refused(path, "its tables are not those of a store of fourscore: odd")


def test_truncated_file_is_refused(shelf: Any, tmp_path: Path) -> None:
    asyncio.run(shelf.put(*range(200)))
    shelf.store.close()
    whole = shelf.path.read_bytes()
    for length in (1, 99, 100, 511, 4095, 4096, 5000, len(whole) // 2, len(whole) - 1):
        path = tmp_path / f"{length}.db"
        path.write_bytes(whole[:length])
        check_refused(path, "truncated")


def test_truncated_file_with_a_log_is_refused(shelf: Any, tmp_path: Path) -> None:
    """What a killed process and then a bad copy leave; SQLite by itself would not notice."""
    asyncio.run(shelf.put(*range(400)))
    shelf.store.close()  # all is merged into the file

    async def more() -> None:
        with Store(shelf.path) as store, store.writer(shelf.run) as writer:
            await writer.put_trace(999, shelf.case(999), 1, Trace(output="x" * 9000))
            for name in ("store.db", "store.db-wal"):
                shutil.copy(tmp_path / name, tmp_path / f"copy-{name}")

    asyncio.run(more())
    path = tmp_path / "copy-store.db"
    whole, log = path.read_bytes(), (tmp_path / "copy-store.db-wal").read_bytes()
    with Store(path) as store:  # the copy as it is holds everything
        assert len(list(store.rows(shelf.run))) == 401
    path.write_bytes(whole[: len(whole) // 2])
    (tmp_path / "copy-store.db-wal").write_bytes(log)
    with pytest.raises(StoreError, match=r"truncated: \d+ of \d+ pages are missing"):
        Store(path)


def test_log_without_its_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store.db-wal").write_bytes(b"x" * 100)
    with pytest.raises(StoreError, match=r"store\.db-wal exists"):
        Store(tmp_path / "store.db")
    assert [file.name for file in tmp_path.iterdir()] == ["store.db-wal"]


def test_concurrent_creation_makes_one_store(tmp_path: Path) -> None:
    """Many processes at the same moment, one store; nothing else is left behind."""
    path = tmp_path / "deep" / "store.db"
    code = """
import sys
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
with Store(sys.argv[1]) as store:
    store.start(RunInfo())
"""
    processes = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(4)]
    assert [process.wait() for process in processes] == [0] * 4
    with Store(path) as store:
        assert len(store.runs()) == 4
    assert [file.name for file in path.parent.iterdir()] == ["store.db"]


def test_store_is_created_on_a_disk_without_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    with Store(tmp_path / "store.db") as store:
        assert store.runs() == []


def test_damaged_page_is_reported_when_read(shelf: Any) -> None:
    asyncio.run(shelf.put(*range(400)))
    shelf.store.close()
    whole = shelf.path.read_bytes()
    half = len(whole) // 4096 // 2 * 4096
    shelf.path.write_bytes(whole[: 9 * 4096] + b"\xff" * (half - 9 * 4096) + whole[half:])
    with Store(shelf.path) as store, pytest.raises(StoreError, match="damaged"):
        list(store.rows(shelf.run))


READ_ONLY = """
import asyncio, os, sys
from pathlib import Path
from fourscore.core import Case, Trace
from fourscore.stores.errors import StoreError
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store

path, what = Path(sys.argv[1]), sys.argv[2]
if what == "file":
    path.chmod(0o444)
else:
    path.chmod(0o444)
    path.parent.chmod(0o555)
if os.geteuid() == 0:  # root may write anywhere
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
if what == "log":
    try:
        Store(path)
    except StoreError as error:
        print(error)
    sys.exit()
with Store(path) as store:
    print(len(list(store.rows("run-1"))))
    for attempt in (lambda: store.start(RunInfo()), lambda: store.writer("run-1"),
                    lambda: store.label("run-1", "case-1", 1, who="me", verdict="pass")):
        try:
            attempt()
            print("written")
        except StoreError as error:
            print(error)
try:
    Store(path.parent / "new.db")
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only_store_can_be_read(what: str, shelf: Any, tmp_path: Path) -> None:
    asyncio.run(shelf.put(1, 2, 3))
    shelf.store.close()
    # A folder of its own that everybody can enter, which pytest's is not.
    folder = Path("/tmp") / f"fourscore-{os.getpid()}-{what}"
    folder.mkdir(mode=0o755)
    try:
        path = Path(shutil.copy(shelf.path, folder))
        if what == "file":
            folder.chmod(0o777)
        command = [sys.executable, "-c", READ_ONLY, str(path), what]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        read, *output = done.stdout.splitlines()
        assert read == "3"
        assert "written" not in output
        assert all(str(folder) in line for line in output)
        assert "read-only" in output[0]
        assert "the store cannot be" in output[-1] or what == "file"
        assert len(output) == (3 if what == "file" else 4)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_log_in_a_read_only_folder_is_refused(shelf: Any) -> None:
    """Leaving it out would lose the newest rows without a word."""
    folder = Path("/tmp") / f"fourscore-{os.getpid()}-log"
    folder.mkdir(mode=0o755)
    try:
        with shelf.store.writer(shelf.run):
            path = Path(shutil.copy(shelf.path, folder))
            shutil.copy(f"{shelf.path}-wal", folder)
        command = [sys.executable, "-c", READ_ONLY, str(path), "log"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "its log (-wal) cannot be read in a read-only folder" in done.stdout
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
