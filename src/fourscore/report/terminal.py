"""Panels for people: one console on stdout, and panels that become plain lines on a pipe."""

import sys
from collections.abc import Iterable, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.panel import Panel
from rich.segment import Segment
from rich.text import Text

from fourscore.core.secrets import hide_known
from fourscore.formats.plain_text import escape_controls

#: Columns below which there are no frames, only lines.
NARROWEST = 60
#: Columns beyond which lines are hard to read.
WIDEST = 110


class PlainConsole(Console):
    """A console that escapes the control characters of every text, and reads no markup in it."""

    def __init__(self) -> None:
        super().__init__(file=sys.stdout, highlight=False, markup=False, emoji=False)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for text, style, control in super().render(renderable, options):
            yield Segment(
                text if control else escape_controls(hide_known(text), lines=True), style, control
            )


def make_console() -> Console:
    """Return a console on stdout; on a pipe it writes plain lines of any length, no colours."""
    out = PlainConsole()
    if out.is_terminal:
        out.width = min(out.width, WIDEST)
    else:
        out.width = 10_000
    return out


def print_panel(out: Console, title: str, parts: Sequence[RenderableType], colour: str) -> None:
    """Print a panel on a terminal that is wide enough, else plain lines."""
    if out.is_terminal and out.width >= NARROWEST:
        # As a string, the title would be read as markup.
        head = Text(title)
        out.print(Panel(Group(*parts), title=head, border_style=colour, padding=(1, 2)))
        return
    with out.capture() as captured:
        out.print(title)
        out.print(Group(*parts))
    out.file.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())
