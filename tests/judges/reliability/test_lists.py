"""The shipped lists are sound: known kinds, no host twice, nothing that cannot match."""

import re

import pytest

from rubrica.judges.reliability.entries import rate_entry
from rubrica.judges.reliability.lexicon import words
from rubrica.judges.reliability.listing import groups, shipped
from rubrica.judges.reliability.question import about

KINDS = {"primary", "secondary", "unreliable", "maker", "wire"}


def test_hosts_stand_once_and_can_match() -> None:
    seen: set[str] = set()
    for group, entries in list(groups("hosts.txt")):
        assert group.kind in KINDS
        assert group.field in ("", "software", "space", "sport")
        assert group.reason
        for entry in entries:
            assert entry == entry.casefold(), entry
            assert not entry.startswith("www."), entry
            assert re.fullmatch(r"[a-z0-9.-]+(?:/\S+)?", entry), entry
            assert entry not in seen, entry
            seen.add(entry)
    assert len(seen) > 3500
    assert len(shipped()) > 3000


@pytest.mark.parametrize("name", ["works.txt", "names.txt", "platforms.txt"])
def test_other_lists_have_known_kinds(name: str) -> None:
    assert all(group.kind in KINDS and entries for group, entries in list(groups(name)))


def test_lists_that_rules_ask_for_exist() -> None:
    for name in ("software", "space", "sport", "elsewhere", "generic", "weighs", "deeds", "posts"):
        assert words(name)


@pytest.mark.parametrize(
    ("entry", "kind", "enough"),
    [
        (
            "青蒿素结构研究协作组. 一种新型的倍半萜内酯[J]. 科学通报, 1977, 22(3): 142.",
            "primary",
            True,
        ),
        ("Tu Y. The discovery of artemisinin. Nat Med. 2011;17(10):1217-1220.", "primary", True),
        ("国家统计局. 2023年国民经济和社会发展统计公报. 2024.", "primary", True),
        ("World Health Organization. Global status report on road safety 2023.", "primary", True),
        ("WHO", "primary", False),
        ("同济大学数学系. 高等数学[M]. 高等教育出版社, 2014.", "secondary", True),
        ("王某. 某地新闻[N]. 人民日报, 2020-01-01.", "secondary", True),
        ("Knuth D. The Art of Computer Programming. 3rd ed. Addison-Wesley.", "secondary", True),
        ("Trust me, an expert told me so", "unreliable", False),
    ],
)
def test_entries_without_an_address(entry: str, kind: str, enough: bool) -> None:
    group, looked_up = rate_entry(entry)
    assert (group.kind, looked_up) == (kind, enough)


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("How do I do it? Sources please.", True),
        ("Please cite studies.", True),
        ("Give official links.", True),
        ("Link your sources.", True),
        ("Tell me your sources", True),
        ("请附来源。", True),
        ("请引用权威机构。", True),
        ("有依据吗？", True),
        ("多给一些来源。", True),
        ("What are the main sources of vitamin D?", False),
        ("Where is the source code of this function?", False),
        ("维生素D的主要来源有哪些？", False),
        ("请问这条河的来源在哪里？", False),
        ("How tall is it?", False),
    ],
)
def test_whether_a_question_wants_sources(question: str, wants: bool) -> None:
    assert about(question).wants is wants
