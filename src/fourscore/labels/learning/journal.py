"""What a learning run has found out and decided, a line each, beside the file it will write.

Every verdict is appended when it is known, with what it cost. A run that was killed reads them and
goes on: nothing that stands here is asked again, whether there is a cache or not, and what was
spent before counts. Of calls that were under way when it was killed nobody knows what they took:
as many as there may have been count like the others. The first line says which run it is; the
journal of another is put aside.
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
    """`path` None keeps it in memory. `resumed` is how many findings were there before, `lost` how
    many calls at the most were under way when earlier runs broke off; of this one, `at_a_time`."""

    def __init__(self, path: Path | None, about: str, at_a_time: int = 1) -> None:
        self.path, self.about = path, about
        self.lost = self._under_way = 0
        self._known: dict[str, Any] = {}
        self.usage = Usage()
        self.resumed = 0
        self._file: int | None = None
        if path is not None:
            self._file = self._opened(path)
            self.resumed = len(self._known)
            self._write({"what": "open", "at_a_time": at_a_time})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._file is not None:
            if kind is None or issubclass(kind, Exception):  # all calls have ended
                self._write({"what": "close"})
            os.close(self._file)
            self._file = None

    @property
    def spent(self) -> Usage:
        """What runs before this one took, with what is lost, as far as anyone can tell."""
        known = self.usage
        each = self.lost / known.calls if known.calls else 0.0
        return known + Usage(
            calls=self.lost,
            input_tokens=round(known.input_tokens * each),
            output_tokens=round(known.output_tokens * each),
            dollars=known.dollars * each,
        )

    def __contains__(self, key: str) -> bool:
        return key in self._known

    def get(self, key: str) -> Any:
        return self._known[key]

    def put(self, key: str, what: str, value: Any, usage: Usage) -> None:
        """Note what was found, and what it cost."""
        self._known[key] = value
        self.usage += usage
        cost = [usage.calls, usage.input_tokens, usage.output_tokens, usage.dollars]
        self._write({"what": what, "key": key, "value": value, "cost": cost})

    def paid(self, what: str, usage: Usage) -> None:
        """Note what cost something and gave nothing."""
        self.usage += usage
        cost = [usage.calls, usage.input_tokens, usage.output_tokens, usage.dollars]
        self._write({"what": what, "cost": cost})

    def decide(self, what: str, told: Mapping[str, Any]) -> None:
        """A decision, for people; it follows from the findings and is not read again."""
        self._write({"what": what, "decided": dict(told)})

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._file is not None:
            os.write(self._file, _ENCODER.encode(line) + b"\n")

    def _opened(self, path: Path) -> int:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = _locked(path)
            if not self._read(path, file):
                path.replace(path.with_name(f"{path.name}.old"))
                os.close(file)
                file = _locked(path)
                self._read(path, file)
        except OSError as error:
            raise DataError(error.strerror or "cannot be written", file=str(path)) from None
        return file

    def _read(self, path: Path, file: int) -> bool:
        """Take over what stands in it; False where it is another run's."""
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
                self._take(line)
            self.lost += self._under_way
        except (msgspec.DecodeError, ValueError, KeyError, TypeError):
            self._known, self.usage, self.lost = {}, Usage(), 0
            return False
        return True

    def _take(self, line: dict[str, Any]) -> None:
        if line["what"] == "open":
            self.lost += self._under_way  # the one before was not closed
            self._under_way = line["at_a_time"]
        elif line["what"] == "close":
            self._under_way = 0
        if "key" in line:
            self._known[line["key"]] = line["value"]
        if "cost" in line:
            calls, read, written, dollars = line["cost"]
            self.usage += Usage(
                calls=calls, input_tokens=read, output_tokens=written, dollars=dollars
            )


def _locked(path: Path) -> int:
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        message = "another process is learning into it: wait for it, or stop it"
        raise DataError(message, file=str(path)) from None
    return file


def make_key(*parts: Any) -> str:
    """What a finding is known by: everything that it depends on."""
    return digest(list(parts))[:24]
