"""The one place that prints on stdout and stderr: nothing that others wrote reaches them raw.

Names, keys, answers and reasons come from files, stores and agents. Panels go through
`terminal.make_console`, which escapes them too.
"""

import sys
from typing import Any

import msgspec

from fourscore.core.secrets import hide_in_json, hide_known, hide_secrets
from fourscore.formats.plain_text import escape_controls, escape_json, make_printable

#: Characters of a message: it may quote a key of any length.
LONGEST_MESSAGE = 4000


def print_line(text: str) -> None:
    """Print one line on stdout."""
    sys.stdout.write(f"{escape_controls(hide_known(text))}\n")


def print_text(text: str) -> None:
    """Print text of several lines on stdout, as it is but for its control characters."""
    sys.stdout.write(escape_controls(hide_known(text), lines=True))


def print_json(document: Any) -> None:
    """Print one JSON document on stdout."""
    text = hide_in_json(msgspec.json.encode(document).decode())
    sys.stdout.write(escape_json(text.encode()).decode() + "\n")


def print_message(text: str) -> None:
    """Print one line on stderr."""
    sys.stderr.write(f"{make_printable(hide_secrets(text), LONGEST_MESSAGE)}\n")
    sys.stderr.flush()


def show_progress(line: str = "") -> None:
    """Replace the progress line of a terminal by another one; without one, remove it."""
    sys.stderr.write(f"\r\x1b[K{escape_controls(hide_known(line))}")
    sys.stderr.flush()
