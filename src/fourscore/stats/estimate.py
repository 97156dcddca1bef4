"""A number that says of how many it is, and how sure."""

import msgspec


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """`value` and `interval` are None where they cannot be told; n is always known."""

    value: float | None
    interval: tuple[float, float] | None
    n: int


def unknown(n: int) -> Figure:
    return Figure(value=None, interval=None, n=n)
