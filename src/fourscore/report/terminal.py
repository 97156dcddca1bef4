"""The terminal: one console for what people read, and foreign text made harmless for it."""

import sys
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.panel import Panel

#: Columns below which there are no frames, only lines.
NARROWEST = 60
#: Columns beyond which lines are hard to read.
WIDEST = 110


def console() -> Console:
    """On stdout; on a pipe plain lines of any length, without colours."""
    out = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    if out.is_terminal:
        out.width = min(out.width, WIDEST)
    else:
        out.width = 10_000
    return out


def framed(out: Console, title: str, parts: Sequence[RenderableType], colour: str) -> None:
    """A panel on a terminal that is wide enough, elsewhere lines."""
    if out.is_terminal and out.width >= NARROWEST:
        out.print(Panel(Group(*parts), title=title, border_style=colour, padding=(1, 2)))
        return
    with out.capture() as captured:
        out.print(title)
        out.print(Group(*parts))
    out.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
