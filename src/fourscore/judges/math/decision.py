"""What the fast path returns: a verdict and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    EQUAL = "equal"
    DIFFERENT = "different"
    UNKNOWN = "unknown"  # ask Math-Verify


@dataclass(frozen=True, slots=True)
class Decision:
    verdict: Verdict
    reason: str


def equal(reason: str) -> Decision:
    return Decision(Verdict.EQUAL, reason)


def different(reason: str) -> Decision:
    return Decision(Verdict.DIFFERENT, reason)


def unknown(reason: str) -> Decision:
    return Decision(Verdict.UNKNOWN, reason)
