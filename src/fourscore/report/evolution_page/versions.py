"""The versions on the page: a line of the tree for each, and its details when it is opened."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from fourscore.evolve.folder import Evolution
from fourscore.evolve.lineage import VersionTree
from fourscore.evolve.log import Decided
from fourscore.report.evolution_page.diff import Changes, changes
from fourscore.report.evolution_page.history import WORDS, PageHistory, numbers, rounded
from fourscore.report.run_page.detail import shorten


def make_tree_lines(
    evolution: Evolution,
    family: VersionTree,
    steps: PageHistory,
    first_changes: Mapping[int, tuple[str, str] | None],
) -> Iterator[dict[str, Any]]:
    """Yield the lines of the tree; failures of one parent have the same `fold` number."""
    history = evolution.history
    kept = history.find_kept(evolution.settings.keep)
    for fold, row in enumerate(family.rows()):
        for number in row.numbers:
            version = history.versions[number]
            decided = steps.decisions(number)[-1:]
            yield {
                "number": number,
                "depth": row.depth,
                "fold": fold if row.failed else None,
                "parent": version.parent,
                "status": version.status,
                "best": number == history.best,
                "archived": number not in kept,
                "rolled_back": number in steps.left and number != history.active,
                "strategy": shorten(version.strategy),
                "risk": version.risk,
                "score": rounded(version.score),
                "n": version.n,
                "gist": first_changes.get(number),
                "decision": brief(decided[0]) if decided else None,
            }


def brief(event: Decided) -> dict[str, Any]:
    return {"against": event.against, "result": event.result, **numbers(event.decision)}


#: Characters of a text that is shown as it is.
TEXT = 20_000


class VersionDetails:
    """Makes the details of versions; `first_changes` has the first line each added or removed."""

    def __init__(self, evolution: Evolution, steps: PageHistory) -> None:
        self._evolution, self._steps = evolution, steps
        history = evolution.history
        self._whole = {min(history.versions), history.active, history.best}
        self._text = lru_cache(4)(evolution.text)
        self.first_changes: dict[int, tuple[str, str] | None] = {}

    def make(self, number: int) -> dict[str, Any]:
        version = self._evolution.version(number)
        document: dict[str, Any] = {
            "at": version.at,
            "why": shorten(version.why, WORDS),
            "file": str(self._evolution.find_file(number).relative_to(self._evolution.path)),
            "digest": version.digest,
            "decisions": [_decision(event) for event in self._steps.decisions(number)],
            "executions": [
                [each.at, rounded(each.score), rounded(each.error_rate), each.n]
                for each in self._steps.executions(number)
            ],
            "others": self._steps.others(number),
        }
        if version.parent is not None:
            old, new = self._text(version.parent), self._text(number)
            found = changes(old, new)
            document["changes"] = msgspec.to_builtins(found)
            self.first_changes[number] = _gist(found)
        if number in self._whole:
            text = self._text(number)
            document["text"], document["length"] = text[:TEXT], len(text)
        return document


def _gist(found: Changes) -> tuple[str, str] | None:
    for sign in "+-":
        for line in found.lines:
            text = "".join(text for text, _ in line.pieces).strip().lstrip("-*•#> ")
            if line.sign == sign and text:
                return sign, shorten(text)
    return None


def _decision(event: Decided) -> dict[str, Any]:
    document = msgspec.to_builtins(event.decision)
    document = {key: rounded(value) for key, value in document.items()}
    document |= {
        "reason": shorten(event.decision.reason),
        "why": shorten(event.decision.why, WORDS),
    }
    return {"at": event.at, "against": event.against, "result": event.result, **document}
