"""Labels that people gave to stored outputs; stale once a retry has replaced the output."""

import sqlite3
import time

import msgspec

FIND = "SELECT number, attempt FROM traces WHERE run = ? AND case_id = ? AND repeat = ?"
WRITE = """INSERT OR REPLACE INTO labels (trace, attempt, who, verdict, note, created)
    VALUES (?, ?, ?, ?, ?, ?)"""
READ = """SELECT case_id, repeat, who, verdict, note, created, labels.attempt < traces.attempt
    FROM labels JOIN traces ON traces.number = labels.trace
    WHERE run = ? ORDER BY position, repeat, who"""

#: The types of a row of `READ`.
ROW = tuple[str, int, str, str, str, float, int]


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """A person's label of one stored output; `stale` where a retry has replaced that output."""

    case_id: str
    repeat: int
    who: str
    verdict: str
    note: str
    created: float
    stale: bool


def write_label(
    connection: sqlite3.Connection, output: tuple[int, str, int], who: str, verdict: str, note: str
) -> bool:
    """Store a label of the output (run, case, repeat); False if there is no such output."""
    found = connection.execute(FIND, output).fetchone()
    if found is None:
        return False
    connection.execute(WRITE, (*found, who, verdict, note, time.time()))
    return True


def make_label(row: tuple[str, int, str, str, str, float, int]) -> Label:
    """Return the label of one row of `READ`."""
    case_id, repeat, who, verdict, note, created, stale = row
    return Label(
        case_id=case_id,
        repeat=repeat,
        who=who,
        verdict=verdict,
        note=note,
        created=created,
        stale=bool(stale),
    )
