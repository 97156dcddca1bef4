"""A case's part follows from its id alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourscore.core import Case
from fourscore.evolve.split import Shares, compute_position, find_part, split

CASES = [Case(id=f"case {n}", input=n) for n in range(3000)]


def test_parts_have_their_shares() -> None:
    found = split(CASES)
    sizes = [len(part) / len(CASES) for part in (found.inform, found.decide, found.hold)]
    assert sizes == pytest.approx([0.3, 0.5, 0.2], abs=0.03)
    every = [case.id for part in (found.inform, found.decide, found.hold) for case in part]
    assert sorted(every) == sorted(case.id for case in CASES)


def test_adding_cases_keeps_parts() -> None:
    few, many = split(CASES[::7]), split(CASES)
    for name in ("inform", "decide", "hold"):
        ids = {case.id for case in getattr(many, name)}
        assert {case.id for case in getattr(few, name)} <= ids
        order = [case.id for case in getattr(many, name)]
        kept = [case.id for case in getattr(few, name)]
        assert kept == [each for each in order if each in set(kept)]


def test_split_is_independent_of_file_order() -> None:
    assert split(CASES) == split(CASES[::-1])
    assert [case.id for case in split(CASES).decide] != sorted(
        case.id for case in split(CASES).decide
    )


@given(st.text())
def test_every_id_has_one_part(name: str) -> None:
    assert 0 <= compute_position(name) < 1
    assert find_part(name) == find_part(name)
    assert find_part(name, Shares(inform=0, decide=1, hold=0)) == "decide"


def test_rejects_invalid_shares() -> None:
    for shares in ({"inform": 0.5}, {"inform": 0.8, "decide": 0.0}, {"hold": float("nan")}):
        with pytest.raises(ValueError, match=r"inform|decide|hold"):
            Shares(**shares)


def test_parts_of_known_ids_are_stable() -> None:
    """Another digest would turn cases that informed mutations into ones that decide."""
    found = [find_part(f"c{n}") for n in range(8)]
    assert found == GOLDEN


GOLDEN = ["hold", "hold", "hold", "decide", "decide", "decide", "inform", "inform"]
