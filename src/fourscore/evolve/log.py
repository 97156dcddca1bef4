"""`log.jsonl`: the events of an evolution, one type each and one JSON line each.

The log is the source of truth. Each line is one complete step, on disk before anything else is
done, so a log that ends after any line is consistent; all other files are derived from it.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from fourscore.core import DataError
from fourscore.core.numbers import check_finite
from fourscore.evolve import atomic_files as files
from fourscore.evolve.decision import Decision
from fourscore.evolve.limits import Risk
from fourscore.formats.json_keys import check_undecoded
from fourscore.formats.validation import explain_json_error

Number = Annotated[int, Meta(ge=1)]
Result = Literal["promoted", "rejected", "branched"]
#: The subjects of `Noted` events.
REFUSED, HELD_OUT = "refused", "held_out"


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="event"):
    """An event; `at` is its time in UTC, to the second: 2026-01-31T14:22:33Z."""

    at: str

    def __post_init__(self) -> None:
        parse_time(self.at)


class Started(Event, frozen=True, kw_only=True, tag="init"):
    """The evolution began with its first version."""

    version: Literal[1] = 1
    digest: str
    source: str = ""


class Proposed(Event, frozen=True, kw_only=True, tag="candidate"):
    """A candidate was proposed."""

    version: Number
    parent: Number
    digest: str
    strategy: str
    risk: Risk
    why: str = ""


class Decided(Event, frozen=True, kw_only=True, tag="decision"):
    """A candidate or a branch was compared with `against`; `result` is what became of it."""

    version: Number
    against: Number
    decision: Decision
    result: Result


class Withdrawn(Event, frozen=True, kw_only=True, tag="withdrawal"):
    """A candidate was withdrawn without a decision."""

    version: Number
    why: str = ""


class Executed(Event, frozen=True, kw_only=True, tag="execution"):
    """A version was run on n cases: the mean score, 0 to 100, and the share of failed cases."""

    version: Number
    score: float
    error_rate: float = 0.0
    n: Annotated[int, Meta(ge=1)] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        check_finite("score", self.score, 0, 100)
        check_finite("error_rate", self.error_rate, 0, 1)


class Promoted(Event, frozen=True, kw_only=True, tag="promotion"):
    """A person made a version active."""

    version: Number
    why: str = ""


class RolledBack(Event, frozen=True, kw_only=True, tag="rollback"):
    """An earlier version became active again in place of `left`."""

    version: Number
    left: Number
    reason: str = ""
    why: str = ""


class Noted(Event, frozen=True, kw_only=True, tag="note"):
    """A note that changes no version, such as a refused proposal."""

    about: str
    data: dict[str, Any] = {}


AnyEvent = Started | Proposed | Decided | Withdrawn | Executed | Promoted | RolledBack | Noted
_DECODER: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
_ENCODER = msgspec.json.Encoder()


def parse_time(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise ValueError(f"at: {text[:40]!r} is no time like 2026-01-31T14:22:33Z")
    return found


def format_time(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def encode_event(event: AnyEvent) -> bytes:
    return _ENCODER.encode(event) + b"\n"


def decode_event(line: bytes, path: Path, number: int) -> AnyEvent:
    """Return the event of a line; for an invalid line raise a `DataError` with its number."""
    file = str(path)
    try:
        event = _DECODER.decode(line)
        check_undecoded(line)
        return event
    except DataError as error:
        raise DataError(error.message, file=file, line=number, field=error.field) from None
    except msgspec.ValidationError as error:
        message, field = explain_json_error(error, line, AnyEvent)
        raise DataError(message, file=file, line=number, field=field) from None
    except (msgspec.DecodeError, RecursionError) as error:
        message = f"not a JSON object on one line: {error}"
        raise DataError(message, file=file, line=number) from None
    except UnicodeDecodeError:
        raise DataError("not UTF-8", file=file, line=number) from None


class Log:
    """The log file: read line by line, extended by whole lines."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def events(self) -> Iterator[tuple[int, AnyEvent]]:
        """Yield the events with their line numbers. An unfinished last line is no event."""
        with self.path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.endswith(b"\n"):
                    yield number, decode_event(line, self.path, number)

    def append(self, event: AnyEvent) -> None:
        """Write one line; it is on disk when this returns."""
        files.append(self.path, encode_event(event))
