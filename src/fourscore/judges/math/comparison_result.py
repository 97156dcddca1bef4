"""What the fast path returns: equal, different or unknown, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Equivalence(Enum):
    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"  # ask Math-Verify


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Equivalence
    reason: str


def equal(reason: str) -> Decision:
    return Decision(Equivalence.EQUAL, reason)


def different(reason: str) -> Decision:
    return Decision(Equivalence.DIFFERENT, reason)


def unknown(reason: str) -> Decision:
    return Decision(Equivalence.UNKNOWN, reason)
