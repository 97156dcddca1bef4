"""A tool call while a log is being read: begun, and perhaps not yet answered."""

from typing import Any

import msgspec


class OpenCall(msgspec.Struct, kw_only=True):
    """What is known of it so far."""

    name: str
    arguments: Any
    result: Any = None
    exit_code: int | None = None
    error: str | None = None
