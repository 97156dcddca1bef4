"""Execution logs scored in one pass, beside jq, which only counts: records a second of CPU time.

    python benchmarks/executions.py [records] [rounds]

Sessions of 40 calls, three of them under way at a time, 7% of the calls failed; once with nothing
but their outcome, once pretty-printed, once with an output of 200 bytes each that shows no failure,
and once with outputs of several kinds, of which one in ten is a failure. Both programs run as
processes of their own; CPU time and the largest memory are the system's account of each, start
and end included. jq counts the calls and those that ended with 0, and no more: grouped by session
it takes 100 times as long. `fourscore score` scores every session and groups them by version. The
last line has the memory for all records and for a quarter of them.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

FOURSCORE = [
    sys.executable,
    "-c",
    "import sys; from fourscore.cli.main import main; sys.exit(main())",
]
COUNT = 'reduce inputs as $r ([0, 0]; [.[0] + 1, .[1] + (if $r.exit == "0" then 1 else 0 end)])'
JQ = ["jq", "-nc", f"{COUNT} | {{calls: .[0], ok: .[1]}}"]
WORDS = "the file was read and three of its functions were changed, as was asked for. "
CLEAN = (
    WORDS,
    "src/{a}/{b}.py:{n}:    return self.{a}[{m}]\nsrc/{b}.py:{m}: def {a}(self, {b}: int):\n",
    "drwxr-xr-x 2 user user 4096 Jan 10 10:{m} {a}\n-rw-r--r-- 1 user user {n} Jan 11 {b}.py\n",
    "     {n}\timport {a}\n     {m}\tfrom {b} import {a}\n     {n}\tclass Thing{m}:\n",
    '{{"id": {n}, "name": "{a}", "items": [{m}, {n}], "kind": "{b}"}}\n',
    "tests/test_{a}.py {n} passed in {m}.2s\ntests/test_{b}.py::test_{a} PASSED [ {m}%]\n",
    "On branch {a}-{n}\nYour branch is up to date with 'origin/{b}'.\nnothing to commit\n",
)
FAILED = (
    'Traceback (most recent call last):\n  File "/srv/{a}/{b}.py", line {n}\nKeyError: {m}\n',
    "bash: line {n}: {a}{m}: command not found\n",
    "cat: /srv/{a}/{b}{n}.txt: No such file or directory\n",
    "src/{a}.ts({n},{m}): error TS2304: Cannot find name '{b}{m}'.\n",
    "FAILED tests/test_{a}.py::test_{b}{n} - assert {n} == {m}\n",
    "error[E0425]: cannot find value `{a}{n}` in this scope\n --> src/{b}.rs:{n}:{m}\n",
    "curl: (22) The requested URL returned error: 503 {a}{n}\n",
    "<tool_use_error>File {a}{n}.py has not been read yet. Read it first.</tool_use_error>\n",
)
NOUNS = ("alpha", "order", "parser", "login", "cart", "stream", "index", "router", "cache")


class Spent(NamedTuple):
    seconds: float
    megabytes: float
    document: dict[str, Any]


def shown(chance: random.Random, failed: bool) -> str:
    """Return a tool output of 200 characters."""
    words = {"a": chance.choice(NOUNS), "b": chance.choice(NOUNS)}
    words |= {"n": str(chance.randrange(100, 1000)), "m": str(chance.randrange(10, 60))}
    clean = chance.choice(CLEAN).format(**words) * 5
    return (chance.choice(FAILED).format(**words) + clean if failed else clean)[:200]


def write(path: Path, records: int, *, output: str = "", pretty: bool = False) -> None:
    share = 0.1 if output == "mixed" else 0.07
    chance, start = random.Random(1), datetime(2026, 1, 1, tzinfo=UTC)
    with path.open("w") as stream:
        for i in range(records):
            session = i // 120 * 3 + i % 3
            bad = chance.random() < share
            record = {
                "ts": (start + timedelta(seconds=i // 4)).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "tool": chance.choice(("Read", "Bash", "Edit", "Grep")),
                "exit": "1" if bad else "0",
                "success": "false" if bad else "true",
                "version": str(session * 20 * 120 // max(1, records * 3)),
                "session": f"session-{session:07d}",
            }
            if output:
                record["output"] = (WORDS * 3)[:200] if output == "clean" else shown(chance, bad)
            marks = None if pretty else (",", ":")
            dumped = json.dumps(record, indent=2 if pretty else None, separators=marks)
            stream.write(dumped)
            stream.write("\n")


def spent(command: list[str], source: Path | None = None) -> Spent:
    """Return a process's CPU time and peak memory, and the document that it prints."""
    with tempfile.TemporaryFile() as out, (source or Path(os.devnull)).open("rb") as given:
        child = subprocess.Popen(command, stdin=given, stdout=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        document = json.loads(out.read())
    assert child.returncode == 0, command
    return Spent(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, document)


def best(rounds: int, command: list[str], source: Path | None = None) -> Spent:
    return min((spent(command, source) for _ in range(rounds)), key=lambda each: each.seconds)


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "executions.jsonl")
        for label, options in (
            ("without outputs", {}),
            ("with outputs of 200 bytes", {"output": "clean"}),
            ("with outputs of 200 bytes, one in ten a failure", {"output": "mixed"}),
            ("pretty-printed", {"pretty": True}),
        ):
            write(path, records, **options)
            size = path.stat().st_size
            score = [*FOURSCORE, "score", str(path), "--per", "version", "--json"]
            ours = best(rounds, score)
            counts = ours.document["counts"]
            print(f"{label}: {records:,} records, {size / 1e6:,.0f} MB, best of {rounds}")
            show("fourscore score", records, size, ours)
            jq = best(1, JQ, path)
            show("jq, counting only", records, size, jq)
            assert (counts["tool_calls"], counts["succeeded"]) == (
                jq.document["calls"],
                jq.document["ok"],
            )
            print(f"  {jq.seconds / ours.seconds:.1f} times as fast\n")
        write(path, records)
        whole = spent([*FOURSCORE, "score", str(path), "--json"])
        write(path, records // 4)
        quarter = spent([*FOURSCORE, "score", str(path), "--json"])
        print(f"memory: {whole.megabytes:.0f} MB, for a quarter {quarter.megabytes:.0f} MB")


def show(name: str, records: int, size: int, each: Spent) -> None:
    rate = f"{records / each.seconds:>10,.0f} records/s {size / 1e6 / each.seconds:>5,.0f} MB/s"
    print(f"  {name:18} {each.seconds:6.2f} s  {rate}  {each.megabytes:5.0f} MB")


if __name__ == "__main__":
    main()
