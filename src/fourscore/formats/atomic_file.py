"""Writes a file completely or not at all: the old one stays until the new one is complete."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from fourscore.core import DataError


@contextmanager
def open_atomic(name: str) -> Iterator[BinaryIO]:
    """Open a file for writing (`-`: stdout) that replaces the old one only when all is written."""
    if name == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(name).resolve()  # replace the target of a link, not the link
    try:
        if name.startswith("/dev/") or (target.exists() and not target.is_file()):
            # A pipe, /dev/null or /dev/stdout cannot be replaced: write to it directly.
            with Path(name).open("ab") as stream:
                yield stream
            return
        handle, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise DataError(error.strerror or "cannot be written", file=name) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(draft).chmod(0o666 & ~mask)
        Path(draft).replace(target)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
