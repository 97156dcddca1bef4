"""Splits cases into those that `inform` mutations, `decide` about them, or are held out (`hold`).

The part of a case depends only on the digest of its id. So it stays the same when other cases are
added, and a case that informed a mutation never decides about one.
"""

from collections.abc import Iterable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from fourscore.core import Case, digest
from fourscore.core.numbers import check_finite

Part = Literal["inform", "decide", "hold"]
Share = Annotated[float, Meta(ge=0, le=1)]
_DIGITS = 13  # of 16 hexadecimal digits, as many as a float holds


class Shares(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The share of the cases in each part; together 1."""

    inform: Share = 0.3
    decide: Share = 0.5
    hold: Share = 0.2

    def __post_init__(self) -> None:
        for field in self.__struct_fields__:
            check_finite(field, getattr(self, field), 0, 1)
        if abs(self.inform + self.decide + self.hold - 1) > 1e-9:
            raise ValueError("inform, decide and hold: expected shares that sum to 1")
        if not self.decide:
            raise ValueError("decide: expected a share above 0")


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """The cases of each part, in an order that is independent of the file."""

    inform: tuple[Case, ...]
    decide: tuple[Case, ...]
    hold: tuple[Case, ...]


def compute_position(case_id: str) -> float:
    """Return the position of a case between 0 and 1, from the digest of its id."""
    return int(digest(["part", case_id])[:_DIGITS], 16) / float(16**_DIGITS)


def find_part(case_id: str, shares: Shares | None = None) -> Part:
    shares = shares or Shares()
    place = compute_position(case_id)
    if place < shares.inform:
        return "inform"
    return "decide" if place < shares.inform + shares.decide or not shares.hold else "hold"


def make_order_key(case_id: str) -> str:
    """Return the sort key of a case."""
    return digest(["order", case_id])


def split(cases: Iterable[Case], shares: Shares | None = None) -> Split:
    parts: dict[Part, list[Case]] = {"inform": [], "decide": [], "hold": []}
    for case in sorted(cases, key=lambda case: make_order_key(case.id)):
        parts[find_part(case.id, shares)].append(case)
    return Split(
        inform=tuple(parts["inform"]), decide=tuple(parts["decide"]), hold=tuple(parts["hold"])
    )
