"""An evolution as a document: what `--json` prints and the terminal shows."""

from typing import Any

import msgspec

from fourscore.evolve.folder import Evolution
from fourscore.evolve.history import Version


def version_document(evolution: Evolution, version: Version) -> dict[str, Any]:
    document: dict[str, Any] = msgspec.to_builtins(version)
    number = version.number
    file = evolution.file_of(number).relative_to(evolution.path)
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
            name: msgspec.to_builtins(record) for name, record in sorted(history.record.items())
        },
        "may_mutate": {
            risk: evolution.may_mutate(risk)._asdict() for risk in ("low", "medium", "high")
        },
        "must_roll_back": evolution.must_roll_back()._asdict(),
    }
