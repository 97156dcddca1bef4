"""What stands above and below the tree: where it stands, what the held-out cases say, the rules."""

from typing import Any

from fourscore.evolve.folder import Evolution
from fourscore.evolve.version_tree import Family
from fourscore.report.evolution_page.lines import numbers, rounded
from fourscore.report.evolution_page.steps import Steps
from fourscore.report.run_page.detail import short

#: Strategies in the table, and decisions in the drawing: the newest.
STRATEGIES, DRAWN = 100, 400


def headline(evolution: Evolution, family: Family, steps: Steps) -> dict[str, Any]:
    """A JSON value whose size has a limit."""
    history, settings = evolution.history, evolution.settings
    active, held = evolution.active, steps.held_out
    record = sorted(history.record.items(), key=lambda each: (-each[1].tried, each[0]))
    return {
        "name": short(evolution.path.resolve().name),
        "source": short(history.versions[1].why),
        "begun": steps.begun,
        "newest": steps.newest,
        "active": {"number": active.number, "score": rounded(active.score), "n": active.n},
        "best": history.best,
        "versions": len(history.versions),
        "left_out": family.left_out,
        "decisions": len(history.decisions),
        "accepted": history.accepted,
        "promoted": sum(each.result == "promoted" for each in history.decisions),
        "expected_false": rounded(history.expected_false),
        "without_level": sum(each.decision.level is None for each in history.decisions),
        "held_out": None if held is None else {**held.document(), "words": held.words},
        "course": [
            {"version": each.version, "result": each.result, **numbers(each.decision)}
            for each in history.decisions[-DRAWN:]
        ],
        "strategies": [[short(name), one.tried, one.accepted] for name, one in record[:STRATEGIES]],
        "refused": steps.refused,
        "refusals": list(steps.refusals)[::-1],
        "returned": steps.returned,
        "rollbacks": list(steps.rollbacks)[::-1],
        "rule": {
            "rule": settings.rule,
            "budget": settings.budget,
            "looks": list(settings.plan.sizes),
            "level": settings.level,
            "margin": settings.margin,
        },
    }
