"""Text that others wrote, made safe to print: no character in it can command a terminal."""

import logging
import re

from fourscore.core.secrets import hide_secrets

#: Control codes (C0, DEL, C1), bidirectional overrides, line separators, invisible characters and
#: lone surrogates. A terminal obeys the first; the others make text look like something else.
_UNSAFE = (
    "\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f"
)
_CONTROL = re.compile(f"[{_UNSAFE}]")
#: The same without the ends of lines and tabs, for text of several lines.
_CONTROL_IN_LINES = re.compile(f"(?![\n\t])[{_UNSAFE}]")


def make_printable(text: str, longest: int = 2000) -> str:
    """Return foreign text on one line, shortened, with control characters escaped."""
    return escape_controls(text if len(text) <= longest else f"{text[: longest - 1]}…")


def escape_controls(text: str, *, lines: bool = False) -> str:
    r"""Return the text with control characters as escapes (`\x1b`); `lines` keeps lines and tabs.

    Printed raw, OSC 52 would replace the reader's clipboard, and others clear or forge a report.
    """
    if text.isprintable():
        return text
    return (_CONTROL_IN_LINES if lines else _CONTROL).sub(_escape, text)


def escape_json(text: bytes) -> bytes:
    r"""Return JSON with the control characters that encoders leave raw as `\u009d`."""
    if text.isascii() and b"\x7f" not in text:
        return text
    return _CONTROL_IN_LINES.sub(_escape_in_json, text.decode()).encode()


class PlainFormatter(logging.Formatter):
    """Formats a log record for the stderr of a command."""

    def __init__(self) -> None:
        super().__init__("fourscore: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        return escape_controls(hide_secrets(super().format(record)), lines=True)


def _escape(found: re.Match[str]) -> str:
    return repr(found[0])[1:-1]


def _escape_in_json(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
