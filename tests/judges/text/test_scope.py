"""Denials in other words than not, what is said of some only, and signs that are no words."""

import pytest

from rubrica.judges.text.sentences import sentences
from rubrica.judges.text.support import verdict

SUPPORTED = [
    ("The bridge has not been built.", "The bridge has yet to be built."),
    ("The router does not support IPv6.", "The router lacks IPv6 support."),
    ("There is not enough staff.", "The hospital lacks staff."),
    ("The region suffers from a lack of water.", "The region lacks water."),
    ("The service is not free.", "The service is anything but free."),
    ("The drug is safe for adults.", "The drug is safe for adults but not for children."),
    ("The museum is closed on Mondays.", "The museum is open every day except Monday."),
    ("All trains ran.", "All trains ran except for one, which was cancelled."),
    ("Visitors pay a fee.", "All visitors except children pay a fee."),
    ("The drug has been approved.", "Only recently has the drug been approved."),
    ("Admins can delete files.", "Only admins can delete files."),
    ("Only staff may enter the lab.", "Entry to the lab is restricted to staff."),
    ("Only staff may enter the lab.", "The lab is open only to staff."),
    ("Staff may enter the lab.", "Entry to the lab is restricted to staff."),
    ("The species lives in the rainforest.", "The species is restricted to the rainforest."),
    ("Entry costs £5.", "Entry costs £5 and is restricted to adults."),
    ("Members may bring a friend.", "Entry is restricted to adults; members may bring a friend."),
    ("Access is restricted.", "Access to the area is restricted."),
    ("只有正式会员可以投票。", "投票仅限正式会员。"),
    ("优惠为期三天。", "优惠为期三天，仅限新用户。"),
    ("只有正式会员可以投票。", "只有正式会员才能投票。"),
    ("非会员不能免费退货。", "只有会员才可以免费退货。"),
    ("博物馆周一闭馆。", "除周一外,博物馆每天开放。"),
    ("The dose was too low.", "If it had been higher, it would have worked; the dose was too low."),
    ("The function returns None.", "It returns None."),
    ("The lookup takes O(log n) time.", "The lookup takes O( log n ) time."),
    ("The engine is written in C++.", "It is written in C++."),
    ("The engine is written in C.", "The engine is written in C and assembly."),
    ("Marie Curie won the prize.", "Curie won the prize."),
    ("Marie Curie won the prize.", "Madame Curie won the prize."),
    ("J. K. Rowling wrote the book.", "Joanne Rowling wrote the book."),
    ("The office is in New York.", "The office is in New York City."),
]
NOT_SUPPORTED = [
    ("The drug has been approved.", "The drug has yet to be approved."),
    ("The router supports IPv6.", "The router lacks IPv6 support."),
    ("The service is free.", "The service is anything but free."),
    ("The drug is safe for children.", "The drug is safe for adults but not for children."),
    ("The bug was fixed in the update.", "The bug is still present in the update."),
    ("The bug has been fixed.", "The bug remains unfixed."),
    ("Vaccines cause autism.", "A blogger claims that vaccines cause autism, which is wrong."),
    ("Vaccines cause autism.", "Some say vaccines cause autism."),
    ("Sales grew by 12%.", "If sales had grown by 12%, a bonus would have been paid."),
    ("The museum is open on Mondays.", "The museum is open every day except Monday."),
    ("All users can delete files.", "Only admins can delete files."),
    ("Only full members may vote.", "Voting is open to everyone."),
    ("Non-members may vote.", "Voting is restricted to full members."),
    ("Guests may enter the lab.", "Entry to the lab is restricted to staff."),
    ("Only staff may enter the lab.", "Anyone may enter the lab."),
    ("Only staff may enter the lab.", "The lab is open to the public."),
    ("只有正式会员可以投票。", "所有会员都可以投票。"),
    ("只有正式会员可以投票。", "任何人都可以投票。"),
    ("非会员可以免费退货。", "只有会员才可以免费退货。"),
    ("博物馆周一开放。", "除周一外,博物馆每天开放。"),
    ("药要饭前吃。", "药要饭后吃。"),
    ("The function returns None.", "The function returns True."),
    ("The lookup takes O(log n) time.", "The lookup takes O(n) time."),
    ("The engine is written in C++.", "The engine is written in C."),
    ("The engine is written in C.", "The engine is written in C#."),
    ("Marie Curie won the prize.", "Pierre Curie won the prize."),
    ("The office is in New York.", "The office is in York."),
]

ONLY = [
    ("Voting is restricted to full members.", "supported"),
    ("Voting is limited to full members.", "supported"),
    ("Voting is reserved for full members.", "supported"),
    ("The vote is open only to full members.", "supported"),
    ("Only full members can vote.", "supported"),
    ("All full members may vote, and nobody else.", "supported"),
    ("Full members may vote; others may not.", "supported"),
    ("All members may vote.", "contradicted"),
    ("Anyone may vote.", "contradicted"),
    ("Voting is not restricted to full members.", "contradicted"),
]


def kind(claim: str, text: str) -> str:
    return verdict(claim, sentences(text), "What is known of it?").kind


@pytest.mark.parametrize(("claim", "text"), SUPPORTED)
def test_supported(claim: str, text: str) -> None:
    assert kind(claim, text) == "supported"


@pytest.mark.parametrize(("claim", "text"), NOT_SUPPORTED)
def test_not_supported(claim: str, text: str) -> None:
    assert kind(claim, text) != "supported"


@pytest.mark.parametrize("question", ["Do all members get a vote?", "Who may vote?", ""])
@pytest.mark.parametrize(("text", "found"), ONLY)
def test_some_only(text: str, found: str, question: str) -> None:
    assert verdict("Only full members may vote.", sentences(text), question).kind == found


def test_what_some_say_denies_nothing() -> None:
    claim = "Vaccines do not cause autism."
    assert kind(claim, "Some say vaccines cause autism; studies find no link.") != "contradicted"
