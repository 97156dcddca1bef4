"""The lineage of the versions, as a tree and as the documents that `--json` prints.

The line from the first version to the active one has depth 0; everything tried beside it is
indented. Failed versions without descendants are grouped by parent, so that they do not hide the
others.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from fourscore.evolve.folder import Evolution
from fourscore.evolve.history import History, Version

#: The statuses of versions that failed.
FAILED = ("rejected", "withdrawn")


class Row(NamedTuple):
    """One version, or several failed ones of one parent; `depth` is 0 on the trunk."""

    depth: int
    numbers: tuple[int, ...]
    failed: bool = False


class VersionTree:
    """The versions by parent. At most `most` are shown: first, active and best, then the newest.

    Versions that did not fail are preferred.
    """

    def __init__(self, history: History, most: int | None = None) -> None:
        self._versions: Mapping[int, Version] = history.versions
        self.shown = _shown(history, most)
        self.left_out = len(history.versions) - len(self.shown)
        self.trunk = set(self._line(history.active))
        self._children: dict[int, list[int]] = {}
        for number in sorted(self.shown):
            parent = self.parent(number)
            if parent is not None:
                self._children.setdefault(parent, []).append(number)

    def parent(self, number: int) -> int | None:
        """Return the nearest ancestor that is shown."""
        found = self._versions[number].parent
        while found is not None and found not in self.shown:
            found = self._versions[found].parent
        return found

    def rows(self) -> Iterator[Row]:
        waiting = [(0, min(self._versions))]
        while waiting:
            depth, number = waiting.pop()
            yield Row(depth, (number,))
            children = self._children.get(number, [])
            failed = tuple(child for child in children if self._is_failed_leaf(child))
            if failed:
                yield Row(depth + 1, failed, failed=True)
            onward = [child for child in children if child in self.trunk]
            aside = [child for child in children if child not in failed and child not in onward]
            waiting += [(depth, child) for child in onward]
            waiting += [(depth + 1, child) for child in reversed(aside)]

    def _is_failed_leaf(self, number: int) -> bool:
        return self._versions[number].status in FAILED and number not in self._children

    def _line(self, number: int) -> Iterator[int]:
        found: int | None = number
        while found is not None:
            yield found
            found = self._versions[found].parent


def _shown(history: History, most: int | None) -> set[int]:
    numbers = sorted(history.versions)
    if most is None or len(numbers) <= most:
        return set(numbers)
    held = {numbers[0], history.active, history.best}
    lasting = [n for n in numbers if history.versions[n].status not in FAILED and n not in held]
    failed = [n for n in numbers if history.versions[n].status in FAILED and n not in held]
    held.update([*failed, *lasting][len(held) - most :])
    return held


def format_ranges(numbers: Iterable[int]) -> str:
    """Return numbers as ranges: `3, 5 to 9, 12`."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number])
    return ", ".join(" to ".join(map(str, each)) for each in found)


def version_document(evolution: Evolution, version: Version) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(version)
    number = version.number
    file = evolution.find_file(number).relative_to(evolution.path)
    document.update(file=str(file), best=number == evolution.history.best)
    return document


def status_document(evolution: Evolution) -> dict[str, Any]:
    history = evolution.history
    pending = evolution.pending
    return {
        "folder": str(evolution.path),
        "active": version_document(evolution, evolution.active),
        "best": history.best,
        "branches": list(history.branches),
        "pending": None if pending is None else version_document(evolution, pending),
        "versions": len(history.versions),
        "executions": len(history.executions),
        "decisions": len(history.decisions),
        "accepted": history.accepted,
        "expected_false": round(history.expected_false, 6),
        "strategies": {
            name: msgspec.to_builtins(record)
            for name, record in sorted(history.strategy_records.items())
        },
        "may_mutate": {
            risk: evolution.may_mutate(risk)._asdict() for risk in ("low", "medium", "high")
        },
        "must_roll_back": evolution.must_roll_back()._asdict(),
    }


def lineage_document(evolution: Evolution) -> list[dict[str, Any]]:
    """Return a document per version, each after its parent, in the order of the printed tree."""
    history = evolution.history
    decided = {each.version: each for each in history.decisions}
    found = []
    for row in VersionTree(history).rows():
        for number in row.numbers:
            document = version_document(evolution, history.versions[number])
            last = decided.get(number)
            decision = None if last is None else msgspec.to_builtins(last.decision)
            document.update(depth=row.depth, failed=row.failed, decision=decision)
            found.append(document)
    return found
