"""A progress bar on stderr, if stderr is a terminal."""

import sys
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


class Progress:
    """Show how many bytes of `total` are done; None is an unknown total."""

    def __init__(self, total: int | None) -> None:
        self._total = total
        self._bar: Bar | None = None
        self._task: Any = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                TextColumn,
                TimeRemainingColumn,
                TransferSpeedColumn,
            )
            from rich.progress import Progress as Bar

            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                DownloadColumn(),
                TransferSpeedColumn(),
                TimeRemainingColumn(),
            )
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("reading", total=self._total)
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self, doing: str, done: int) -> None:
        if self._bar is not None:
            self._bar.update(self._task, advance=done, description=doing)

    def restart(self) -> None:
        if self._bar is not None:
            self._bar.reset(self._task, total=self._total)
