"""`log.jsonl`: the steps of an evolution, a line each, on disk before anything else is done."""

from collections.abc import Iterator
from copy import copy
from pathlib import Path

from fourscore.core import DataError
from fourscore.evolve import files
from fourscore.evolve.events import AnyEvent, event_of, line_of
from fourscore.evolve.history import History


class Log:
    def __init__(self, path: Path) -> None:
        self.path = path

    def events(self) -> Iterator[tuple[int, AnyEvent]]:
        """With the number of their line. A last line without an end is no step."""
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.endswith(b"\n"):
                    yield number, event_of(line, self.path, number)

    def read(self) -> History:
        """What it comes to; a `DataError` at the line that cannot follow those before it."""
        history = History()
        for number, event in self.events():
            try:
                history.add(event)
            except ValueError as error:
                field, _, message = str(error).partition(": ")
                raise DataError(message, file=str(self.path), line=number, field=field) from None
        if not history.lines:
            message = f"it is empty; fourscore evolve init {self.path.parent} begins one"
            raise DataError(message, file=str(self.path))
        return history

    def append(self, event: AnyEvent, history: History) -> History:
        """The history with this step; one that cannot follow leaves nothing behind."""
        line = line_of(event)
        longer = _copied(history)
        longer.add(event_of(line, self.path, history.lines + 1))  # as it will be read again
        files.append(self.path, line)
        return longer


def _copied(history: History) -> History:
    twin = copy(history)
    for name, value in vars(history).items():
        if isinstance(value, dict | list):
            setattr(twin, name, value.copy())
    return twin
