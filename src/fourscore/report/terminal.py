"""Printing for people: one console on stdout, and panels that become plain lines on a pipe."""

import sys
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel

#: Columns below which there are no frames, only lines.
NARROWEST = 60
#: Columns beyond which lines are hard to read.
WIDEST = 110


def make_console() -> Console:
    """Return a console on stdout; on a pipe it writes plain lines of any length, no colours."""
    out = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if out.is_terminal:
        out.width = min(out.width, WIDEST)
    else:
        out.width = 10_000
    return out


def print_panel(out: Console, title: str, parts: Sequence[RenderableType], colour: str) -> None:
    """Print a panel on a terminal that is wide enough, else plain lines."""
    if out.is_terminal and out.width >= NARROWEST:
        out.print(Panel(Group(*parts), title=title, border_style=colour, padding=(1, 2)))
        return
    with out.capture() as captured:
        out.print(title)
        out.print(Group(*parts))
    out.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
