"""What is a citation, and what only looks like one."""

import time

import pytest

from rubrica.judges.citing.find import citations, references
from rubrica.judges.citing.references import reference_list, runs


def markers(text: str) -> list[tuple[str, str]]:
    found = citations(text)
    assert all(0 <= one.start < one.end <= len(text) for one in found)
    return [(one.form, one.marker) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It opened in 2008 [1].", [("number", "1")]),
        ("So [2][3].", [("number", "2"), ("number", "3")]),
        ("So [1, 2] and 【3，4】.", [("number", n) for n in "1234"]),
        ("So [1-3].", [("number", n) for n in "123"]),
        ("开通【1†source】。", [("number", "1")]),
        ("So (source 2).", [("number", "2")]),
        ("So[^a].", [("footnote", "a")]),
        ("见[公告](https://a.cn/x_(y))。", [("link", "https://a.cn/x_(y)")]),
        ("See https://a.org/x?y=1.", [("url", "https://a.org/x?y=1")]),
        ("网址（https://a.cn/x）。", [("url", "https://a.cn/x")]),
        ("See doi:10.1000/xyz.1.", [("doi", "doi:10.1000/xyz.1")]),
        ("So (Smith, 2020).", [("author_year", "Smith, 2020")]),
        (
            "So (Smith & Lee, 2020; Third et al., 2019).",
            [("author_year", "Smith & Lee, 2020"), ("author_year", "Third et al., 2019")],
        ),
        ("Smith et al. (2020) found it.", [("author_year", "Smith et al., 2020")]),
        (
            "如此（张伟，2021；李敏等，2022）。",
            [("author_year", "张伟, 2021"), ("author_year", "李敏等, 2022")],
        ),
        ("张伟（2021）认为如此。", [("author_year", "张伟, 2021")]),
        ("So it is [smith-2020].", [("name", "smith-2020")]),
        ("Tides are high at full moon¹.", [("number", "1")]),
    ],
)
def test_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert markers(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Use `v[1]` here.",
        "```py\nx = rows[1]\n```\ndone",
        "rows[1] = 2",
        "The list has five items, so a[7] does not exist.",
        "<!-- as shown in [1] --> Nothing else.",
        "- [x] done\n- [ ] open",
        "![a picture](https://a.org/p.png)",
        "The law (2020) was new.",
        "In [0, 1] it holds.",
        "It was [sic] so.",
        "A room of 30 m².",
        "In [2020] it was.",
        "Later (May 2020) and (since 2019).",
    ],
)
def test_not_found(text: str) -> None:
    assert markers(text) == []


def test_several_in_one_bracket_share_its_place() -> None:
    first, second = citations("So it is [1, 2].")
    assert (first.start, first.end) == (second.start, second.end) == (9, 15)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So [1].\n\n[1] https://a.org", {"1": "https://a.org"}),
        ("So [1].\n\nReferences:\n1. Smith. A title.\n2. https://b.org", {"1", "2"}),
        ("如此[1]。\n\n参考文献\n[1] 张伟. 题目. 2021", {"1": "张伟. 题目. 2021"}),
        ("So[^a].\n\n[^a]: https://a.org", {"a": "https://a.org"}),
        ("So.\n\n## Sources\n- https://a.org\n- https://b.org", {"#1", "#2"}),
        ("So [1].\n\nSources: [1][2]", set()),
        ("References to this are rare [1].", set()),
    ],
)
def test_references(text: str, expected: dict[str, str] | set[str]) -> None:
    found = references(text)
    assert found == expected if isinstance(expected, dict) else set(found) == expected


def test_entries_one_below_another_are_one_piece() -> None:
    text = "So [1].\n\n[1] https://a.org\n[2] https://b.org\n\n[3] https://c.org"
    first, second = runs(reference_list(text))
    assert text[slice(*first)] == "[1] https://a.org\n[2] https://b.org"
    assert text[slice(*second)] == "[3] https://c.org"


def test_entries_are_no_citations() -> None:
    text = "So [1].\n\nReferences\n[1] https://a.org (Smith, 2020)\n[2] https://b.org"
    assert markers(text) == [("number", "1")]


@pytest.mark.parametrize(
    "piece",
    [
        "[",
        "[[1]",
        "(A, ",
        "[a](http://x(",
        "http://",
        "`",
        "` a",
        "```\n",
        "10.1234/",
        "Ab ",
        "张、",
        "[1-999]",
        "[^a]: x\n",
        "References:\n",
        "![a](",
        "(Smith, 2020; ",
        "。¹",
        "- [ ] ",
    ],
)
def test_hostile_text_is_read_in_time(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    began = time.process_time()
    citations(text)
    assert time.process_time() - began < 3
