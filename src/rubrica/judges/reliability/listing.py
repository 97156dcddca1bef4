"""Lists of hosts and works by kind: the shipped ones, and those of a configuration."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

Kind = Literal["primary", "secondary", "unreliable"]
_HERE = Path(__file__).parent
_PORT = re.compile(r":\d{1,5}\Z")


class Group(NamedTuple):
    """Hosts of one kind: `maker` and `wire` depend on the question, see `rating.py`."""

    kind: str
    field: str
    reason: str


class Entry(NamedTuple):
    """One line of a list under its host: what the path begins with, and the group."""

    path: str
    below: bool  # only what stands below the host, as in *.example.org
    group: Group


Table = Mapping[str, tuple[Entry, ...]]


class Lists(NamedTuple):
    """A configuration's own hosts; they win over the shipped list."""

    primary: tuple[str, ...] = ()
    secondary: tuple[str, ...] = ()
    unreliable: tuple[str, ...] = ()


def groups(name: str) -> Iterator[tuple[Group, list[str]]]:
    """The groups of a data file: a heading `kind field: reason`, and its entries indented."""
    entries: list[str] = []
    for line in (_HERE / name).read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] == " ":
            entries += line.split()
            continue
        head, _, reason = line.partition(":")
        kind, _, field = head.partition(" ")
        entries = []
        yield Group(kind, field.strip(), reason.strip()), entries


@cache
def shipped() -> Table:
    """The hosts that come with the package."""
    return _table(
        (entry, group) for group, entries in list(groups("hosts.txt")) for entry in entries
    )


@lru_cache(maxsize=64)
def own(lists: Lists) -> Table:
    """The hosts of a configuration."""
    return _table(
        (entry, Group(kind, "", f"listed as {kind} in the configuration"))
        for kind in Lists._fields
        for entry in getattr(lists, kind)
    )


def _table(entries: Iterable[tuple[str, Group]]) -> Table:
    table: dict[str, list[Entry]] = {}
    for text, group in entries:
        below = text.startswith("*.")
        host, slash, path = _plain(text.removeprefix("*.")).partition("/")
        table.setdefault(host, []).append(Entry(slash + path.rstrip("/"), below, group))
    return {
        host: tuple(sorted(found, key=lambda entry: (-len(entry.path), not entry.below)))
        for host, found in table.items()
    }


def _plain(entry: str) -> str:
    entry = entry.strip().casefold().split("://", 1)[-1].removeprefix("www.")
    host, slash, path = entry.partition("/")
    return _PORT.sub("", host) + slash + path


def look_up(table: Table, host: str, path: str) -> Group | None:
    """The group of the longest match, by whole labels: who.int.evil.biz is not who.int."""
    suffix, below = host, False
    path = path.casefold()
    while suffix:
        for entry in table.get(suffix, ()):
            if (below or not entry.below) and _begins(path, entry.path):
                return entry.group
        suffix, below = suffix.partition(".")[2], True
    return None


def _begins(path: str, prefix: str) -> bool:
    """By whole segments; an entry that ends in a star, by characters."""
    if prefix.endswith("*"):
        return path.startswith(prefix[:-1])
    return path.startswith(prefix) and path[len(prefix) : len(prefix) + 1] in ("", "/")
