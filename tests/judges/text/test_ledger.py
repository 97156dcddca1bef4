"""A ledger of quantities says the same as a comparison with each of them."""

import pytest

from rubrica.judges.text.amount import agrees
from rubrica.judges.text.ledger import distinct, ledger
from rubrica.judges.text.quantities import quantities

MANY = "3 boxes, 40 pens, 41 pens, 400, 1,200 screws, 5 litres, 7 to 9 days, 12 km, $30, 1998"


@pytest.mark.parametrize(
    "claim",
    ["40 pens", "390 nails", "1,201 screws", "about 1,190", "12 km", "€30", "1998", "8 days", "-3"],
)
def test_a_ledger_marks_as_each_comparison_does(claim: str) -> None:
    theirs = quantities(MANY)
    for mine in quantities(claim):
        marks = [agrees(mine, other) for other in theirs]
        expected = True if True in marks else False if False in marks else None
        assert ledger(theirs).mark(mine) is expected


def test_the_year_alone_does_not_state_a_date() -> None:
    (mine,) = quantities("on 4 May 1998")
    assert ledger(quantities("in 1998")).mark(mine) is None


def test_what_comes_again_counts_once() -> None:
    theirs = quantities("3 + 4 = 7, so 3 + 4 + 3 = 10")
    assert [amount.value for amount in distinct(theirs)] == [3, 4, 7, 10]


def test_a_long_list_is_read_and_not_kept() -> None:
    theirs = quantities(", ".join(f"{number} pens" for number in range(1000, 1100)))
    (mine,) = quantities("1,050 pens")
    assert len(theirs) == 100
    assert ledger(theirs).mark(mine) is True
    assert ledger(theirs) is not ledger(theirs)
