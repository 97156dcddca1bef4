"""Documents that readers have to survive: valid ones, changed in their structure and their bytes.

A change replaces, repeats or removes a part of a valid document, nests it deeply, or puts an odd
value, number, key or encoding into it. What a reader accepts, or refuses by an error of this
package, is fine; any other exception, a long time or much memory is not.
"""

import csv
import gzip
import io
import json
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from hypothesis import settings

from fourscore.core import FourscoreError

#: Seconds of CPU for one small document: far more than any needs, whatever else runs.
PATIENCE = 30
#: Megabytes by which the process may grow while it reads documents of some kilobytes.
GROWTH = 400

Read = Callable[[Path], object]


class Raw(str):
    """A piece of text that stands in a document as it is."""

    __slots__ = ()


class Pairs(list[Any]):
    """An object as a list of keys and values, so that a key can occur twice."""


NUMBERS = ("NaN", "Infinity", "-Infinity", "1e999", "-0", "9" * 25, "9" * 5000, "0." + "1" * 5000)
ODD_JSON = (
    *NUMBERS,
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"\\u0000"',
    '"\\u003a"',
    "'x'",
    "",
    "{",
    "]",
)
ODD_YAML = (
    *("&a [1]", "*a", "!!bool maybe", "!!int ''", "!!float x", "!!binary x", "!!map x", "!x y"),
    *("<<", "=", "~", "2024-01-31", "0x" + "f" * 5000, "1:1", ".nan", "yes", "| x", "? x", "&a *a"),
    *('"\\UFFFFFFFF"', "%x", "@x", "`x", "- x", "{<<: *a}", "{<<: {a: 1}, a: 2}", "{? [1] : 2}"),
    *("{[1]: 2}", "{1: 2, true: 3}", "&a {b: *a}", "!!str {a: 1}", "!!seq {a: 1}", "!!null x"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 2**63, 10**30, 0.5, -1e308, 5e-324),
    *("", " ", "\0", "\n", "x" * 3000, "\u202e\x1b]52;c;YQ==\x07", "\U0001f600", "1", "nan"),
    *("é" * 50, "2026-01-05T10:00:00Z", "9999-99-99", "1e400", "-5", "{}", "9" * 5000, "١٢"),
    *([], {}, [[]], [None], {"": ""}, {"a": {"b": {"c": []}}}, ["x"] * 300),
)
KEYS = ("", "id", "\0", "a.b", "[0]", "x" * 2000, "\ud800", "type", "key:", "1", "<<")
#: A parser of YAML in Python takes a second for the last.
DEPTHS = (3, 60, 105, 150, 2000)


def make_pairs(value: Any) -> Any:
    """Return a document with its objects as `Pairs`."""
    if isinstance(value, dict):
        return Pairs([key, make_pairs(item)] for key, item in value.items())
    return [make_pairs(item) for item in value] if isinstance(value, list) else value


def dump(value: Any, indent: str = "") -> str:
    """Return a document as JSON, with its raw pieces as they are."""
    if isinstance(value, Raw):
        return str(value)
    space = f"\n{indent}" if indent else ""
    if isinstance(value, Pairs):
        items = [f"{json.dumps(key)}: {dump(item, indent)}" for key, item in value]
        between, end = f",{space or ' '}", space.rstrip(" ")
        return "{" + space + between.join(items) + end + "}"
    if isinstance(value, list):
        return f"[{', '.join(dump(item, indent) for item in value)}]"
    return json.dumps(value)


def _holders(value: Any) -> Iterator[tuple[list[Any], int]]:
    """Yield every place in a document: a list that holds a value, and the position in it."""
    if isinstance(value, list):
        for position, item in enumerate(value):
            if isinstance(value, Pairs):
                yield item, 1
                yield from _holders(item[1])
            else:
                yield value, position
                yield from _holders(item)


def change(random: Random, root: list[Any], form: str) -> None:
    """Change one place of a document, in place."""
    holder, position = random.choice(list(_holders(root)))
    value = holder[position]
    how = random.randint(0, 7)
    if how == 0:
        holder[position] = make_pairs(random.choice(VALUES))
    elif how == 1:
        holder[position] = Raw(random.choice(ODD_JSON + ODD_YAML if form == "yaml" else ODD_JSON))
    elif how == 2:
        depth = random.choice(DEPTHS[:-1] if form == "yaml" else DEPTHS)
        left, right = random.choice([("[", "]"), ('{"a":', "}")])
        holder[position] = Raw(left * depth + dump(value) + right * depth)
    elif how == 3:
        other, where = random.choice(list(_holders(root)))
        holder[position] = deepcopy(other[where])
    elif how == 4:
        holder[position] = Raw(repr(random.uniform(-1, 1) * 10 ** random.randint(-320, 308)))
    elif isinstance(value, Pairs) and value:
        chosen = random.randint(0, len(value) - 1)
        if how == 5:
            del value[chosen]
        elif how == 6:  # the same key again, spelt otherwise or not
            value.append([value[chosen][0], deepcopy(random.choice([None, 1, "x"]))])
        else:
            value[chosen][0] = random.choice(KEYS)
    elif isinstance(value, list) and value:
        value.append(deepcopy(value[0])) if how == 6 else value.pop()
    else:
        holder[position] = [value] if how == 6 else None


BYTES = (
    *(b"\xef\xbb\xbf", b"\0", b"\xff", b"\xed\xa0\x80", b"\r", b"\r\n", b"\n", b'"', b"\\", b","),
    *(b"}", b"{", b"[", b":", b"\t", b"#", b"&a ", b"*a", b"---\n", b"\\u003a", b"\\ud800", b" "),
    *(
        b"{" * 300,
        b"[" * 300,
        b"\xe2\x80\xa8",
        b"%YAML 1.1\n---\n",
        b"}\n{",
        b"?" * 50,
        b"- " * 200,
    ),
)


def spoil(random: Random, text: bytes) -> bytes:
    """Change the bytes of a document in one place, or all of them."""
    how = random.randint(0, 9)
    start = random.randint(0, len(text))
    end = min(len(text), start + random.randint(0, 40))
    if how <= 3:
        return text[:start] + random.choice(BYTES) + text[start:]
    if how == 4:
        return text[:start]
    if how == 5:
        return text[:start] + text[end:]
    if how == 6:
        return text[:end] + text[start:]
    if how == 7:
        return text[:start] + random.randbytes(random.randint(0, 8)) + text[end:]
    if how == 8:
        return b"\xef\xbb\xbf" + text
    codec = random.choice(["utf-16", "utf-32", "utf-8-sig", "gzip"])
    plain = text.decode("utf-8", "replace")
    return gzip.compress(text) if codec == "gzip" else plain.encode(codec)


def make_document(random: Random, seeds: Sequence[Any], form: str) -> bytes:
    """Return a changed document; `form` is json, jsonl, yaml or csv."""
    root = [make_pairs(random.choice(seeds))]
    for _ in range(random.randint(0, 3)):
        change(random, root, form)
    text = encode(root[0], form, indent=random.choice(["", "", " "]))
    for _ in range(random.choice([0, 0, 1, 2])):
        text = spoil(random, text)
    return text


def encode(value: Any, form: str, indent: str = "") -> bytes:
    """Return a document as a file has it."""
    rows = value if isinstance(value, list) and not isinstance(value, Pairs) else [value]
    if form == "csv":
        out = io.StringIO()
        writer = csv.writer(out)
        for row in rows:
            cells = row if isinstance(row, list) else [row]
            writer.writerow([cell if isinstance(cell, str) else dump(cell) for cell in cells])
        return out.getvalue().encode("utf-8", "surrogatepass")
    if form == "jsonl":
        return "".join(dump(row, indent) + "\n" for row in rows).encode("utf-8", "surrogatepass")
    return dump(value, indent).encode("utf-8", "surrogatepass")


def fuzz(read: Read, seeds: Sequence[Any], form: str, path: Path) -> None:
    """Read changed documents: as many as the profile of hypothesis says, or for FUZZ_SECONDS.

    A long search goes on after a failure, and reports one document for each kind of failure.
    """
    longest = float(os.environ.get("FUZZ_SECONDS", "0"))
    first = time.time_ns() if longest else 0
    count, accepted, failures = 0, 0, dict[str, bytes]()
    before, began = _peak(), time.monotonic()
    while count < settings().max_examples or time.monotonic() - began < longest:
        text = make_document(Random(first + count), seeds, form)
        count += 1
        try:
            accepted += survives(read, text, path)
        except Exception as error:
            error.add_note(f"the document: {text!r}")
            if not longest:
                raise
            failures.setdefault("".join(traceback.format_exception(error)[-3:-1]), text)
    grown = _peak() - before
    found = "".join(f"\n{place}{text!r}" for place, text in failures.items())
    sys.stdout.write(f"{count} documents, {accepted} accepted, {grown:.0f} MB{found}\n")
    assert not failures
    assert grown < GROWTH


def survives(read: Read, text: bytes, path: Path) -> bool:
    """Read a document; return whether it was accepted. Only our own errors may refuse it."""
    path.write_bytes(text)
    with bounded_time():
        try:
            read(path)
        except FourscoreError:
            return False
    return True


@contextmanager
def bounded_time() -> Iterator[None]:
    """Fail where the code inside takes more than `PATIENCE` seconds of CPU."""

    def fail(_signal: int, _frame: FrameType | None) -> None:
        raise AssertionError(f"a small document took more than {PATIENCE} s of CPU")

    before = signal.signal(signal.SIGVTALRM, fail)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
