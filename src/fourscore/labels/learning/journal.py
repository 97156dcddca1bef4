"""The journal of a learning run: every verdict and decision, one JSON line each.

A verdict is appended when it is known, with its usage. A run that was killed reads the journal and
continues: nothing in it is asked again, with or without a cache, and what was spent counts. The
usage of calls that were running when it was killed is unknown: as many as there may have been count
like the average call. The first line identifies the run; the journal of another run is renamed to
`.old`.
"""

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from fourscore.core import DataError, Usage, digest

VERSION = 1
_ENCODER = msgspec.json.Encoder()


class Journal:
    """The findings of a run, in a file, or in memory if `path` is None.

    `resumed`: findings that were there before. `lost`: most calls that were running when earlier
    runs were killed. `at_a_time`: most calls that this run makes at once.
    """

    def __init__(self, path: Path | None, about: str, at_a_time: int = 1) -> None:
        self.path, self.about = path, about
        self.lost = self._running = 0
        self._known: dict[str, Any] = {}
        self.usage = Usage()
        self.resumed = 0
        self._file: int | None = None
        if path is not None:
            self._file = self._open(path)
            self.resumed = len(self._known)
            self._write({"what": "open", "at_a_time": at_a_time})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._file is not None:
            if kind is None or issubclass(kind, Exception):  # no call is running any more
                self._write({"what": "close"})
            os.close(self._file)
            self._file = None

    @property
    def spent(self) -> Usage:
        """What was used so far, with an estimate for lost calls."""
        known = self.usage
        share = self.lost / known.calls if known.calls else 0.0
        return known + Usage(
            calls=self.lost,
            input_tokens=round(known.input_tokens * share),
            output_tokens=round(known.output_tokens * share),
            dollars=known.dollars * share,
        )

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def get(self, key: str) -> Any:
        return self._known[key]

    def put(self, key: str, what: str, value: Any, usage: Usage) -> None:
        """Append a finding with its usage."""
        self._known[key] = value
        self.usage += usage
        cost = [usage.calls, usage.input_tokens, usage.output_tokens, usage.dollars]
        self._write({"what": what, "key": key, "value": value, "cost": cost})

    def add_usage(self, what: str, usage: Usage) -> None:
        """Append the usage of a call that gave no finding."""
        self.usage += usage
        cost = [usage.calls, usage.input_tokens, usage.output_tokens, usage.dollars]
        self._write({"what": what, "cost": cost})

    def note(self, what: str, decision: Mapping[str, Any]) -> None:
        """Append a decision for people to read; it follows from the findings and is not read."""
        self._write({"what": what, "decided": dict(decision)})

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is not None:
            os.write(self._file, _ENCODER.encode(line) + b"\n")

    def _open(self, path: Path) -> int:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = _open_locked(path)
            if not self._read(path, file):
                path.replace(path.with_name(f"{path.name}.old"))
                os.close(file)
                file = _open_locked(path)
                self._read(path, file)
        except OSError as error:
            raise DataError(error.strerror or "cannot be written", file=str(path)) from None
        return file

    def _read(self, path: Path, file: int) -> bool:
        """Read the findings; return False if the journal belongs to another run."""
        text = path.read_bytes()
        end = text.rfind(b"\n") + 1
        if end < len(text):  # the last line was cut off by a kill
            os.ftruncate(file, end)
        lines = text[:end].splitlines()
        if not lines:
            header = {"journal": VERSION, "run": self.about}
            os.write(file, _ENCODER.encode(header) + b"\n")
            return True
        try:
            found = [msgspec.json.decode(line) for line in lines]
            if found[0] != {"journal": VERSION, "run": self.about}:
                return False
            for line in found[1:]:
                self._read_line(line)
            self.lost += self._running
        except (msgspec.DecodeError, ValueError, KeyError, TypeError, RecursionError):
            self._known, self.usage, self.lost = {}, Usage(), 0
            return False
        return True

    def _read_line(self, line: dict[str, Any]) -> None:
        if line["what"] == "open":
            self.lost += self._running  # the one before was not closed
            self._running = line["at_a_time"]
        elif line["what"] == "close":
            self._running = 0
        if "key" in line:
            self._known[line["key"]] = line["value"]
        if "cost" in line:
            calls, read, written, dollars = line["cost"]
            self.usage += Usage(
                calls=calls, input_tokens=read, output_tokens=written, dollars=dollars
            )


def _open_locked(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        message = "another process is learning into it: wait for it, or stop it"
        raise DataError(message, file=str(path)) from None
    return file


def make_key(*parts: Any) -> str:
    """Return the key of a finding: a digest of everything that it depends on."""
    return digest(list(parts))[:24]
