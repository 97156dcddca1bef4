"""The tree as lines: each version in its place, with what a reader sees of it at once."""

from collections.abc import Iterator, Mapping
from typing import Any

from fourscore.evolve.decision import Decision
from fourscore.evolve.events import Decided
from fourscore.evolve.folder import Evolution
from fourscore.evolve.version_tree import Family
from fourscore.report.evolution_page.steps import Steps
from fourscore.report.run_page.detail import short

#: What the drawing of a decision needs.
DRAWN = ("accepted", "delta", "low", "high", "n", "old", "new")


def lines_of(
    evolution: Evolution,
    family: Family,
    steps: Steps,
    gists: Mapping[int, tuple[str, str] | None],
) -> Iterator[dict[str, Any]]:
    """`fold` numbers the failures of one parent, which stand together."""
    history = evolution.history
    kept = history.kept(evolution.settings.keep)
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
                "strategy": short(version.strategy),
                "risk": version.risk,
                "score": rounded(version.score),
                "n": version.n,
                "gist": gists.get(number),
                "decision": brief(decided[0]) if decided else None,
            }


def brief(event: Decided) -> dict[str, Any]:
    return {"against": event.against, "result": event.result, **numbers(event.decision)}


def numbers(decision: Decision) -> dict[str, Any]:
    return {name: rounded(getattr(decision, name)) for name in DRAWN}


def rounded(value: float | None) -> float | None:
    """No reader needs more, and the page is half as large."""
    return round(value, 4) if isinstance(value, float) else value
