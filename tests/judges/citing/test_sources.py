"""What an answer may cite, and which source a citation means."""

import json
from typing import Any

import pytest

from rubrica.core import Case, CaseError, ToolCall, Trace
from rubrica.judges.citing.find import citations, references
from rubrica.judges.citing.resolve import resolve
from rubrica.judges.citing.sources import MOST_SOURCES, Source, sources_of


def given(*sources: dict[str, Any]) -> list[Source]:
    return list(sources_of(Case(input="x", expected={"sources": list(sources)}), Trace()))


def brought(result: Any, arguments: Any = None) -> list[Source]:
    step = ToolCall(name="search", arguments=arguments, result=result)
    return list(sources_of(Case(input="x"), Trace(output="https://invented.org", steps=(step,))))


def meant(text: str, sources: list[Source]) -> list[str | None]:
    listed = references(text)
    found = [resolve(one, listed, sources) for one in citations(text)]
    return [(one.source.id or one.source.url) + "!" * one.flawed if one else None for one in found]


def test_sources_of_the_case_keep_what_readers_do_not_check() -> None:
    (source,) = given({"id": 1, "url": "u", "text": "t", "author": ["A", "B"], "year": 2020})
    assert source == Source("1", "u", "t", "", "A; B", "2020", "", "case")


def test_malformed_sources_are_the_cases_fault() -> None:
    with pytest.raises(CaseError):
        given({"id": 1, "text": 5})
    with pytest.raises(CaseError):
        sources_of(Case(input="x", expected={"sources": "none"}), Trace())


@pytest.mark.parametrize(
    "result",
    [
        {"url": "https://a.org", "title": "T", "text": "words"},
        [{"link": "https://a.org", "title": "T", "snippet": "words"}],
        {"results": [{"href": "https://a.org", "title": "T", "content": "words"}]},
        json.dumps({"data": [{"url": "https://a.org", "title": "T", "body": "words"}]}),
    ],
)
def test_sources_of_tools(result: Any) -> None:
    assert brought(result) == [Source("", "https://a.org", "words", "T", "", "", "", "trace")]


def test_a_fetched_page_in_plain_text_has_the_address_that_was_asked_for() -> None:
    (source,) = brought("The page.", {"url": "https://a.org/p"})
    assert (source.url, source.text) == ("https://a.org/p", "The page.")


def test_hits_in_plain_text() -> None:
    found = brought("A title\nhttps://a.org\nwords\n\nAnother\nhttps://b.org\nmore")
    assert [source.url for source in found] == ["https://a.org", "https://b.org"]


def test_nothing_to_find_is_nothing_found() -> None:
    results: tuple[Any, ...] = (None, "", 5, True, [], {}, [[[[[[[["deep"]]]]]]]], "{broken")
    for result in results:
        assert all("invented" not in source.url for source in brought(result))


def test_what_tools_bring_back_is_bounded() -> None:
    many = [{"url": f"https://a.org/{n}", "text": "x" * 9000} for n in range(5000)]
    found = brought(many)
    assert len(found) <= MOST_SOURCES
    assert sum(len(source.text) for source in found) <= 400_000


def test_by_number() -> None:
    sources = given({"id": 1, "text": "a"}, {"id": "2", "text": "b"})
    assert meant("So [1][2][3].", sources) == ["1", "2", None]


def test_by_position_where_there_are_no_ids() -> None:
    assert meant("So [2].", given({"url": "a"}, {"url": "b"})) == ["b"]
    assert meant("So [2][3].", given({"id": "x"}, {"id": "y"})) == ["y!", None]


@pytest.mark.parametrize(
    ("cited", "same"),
    [
        ("http://a.org/p", True),
        ("https://www.A.org/p/", True),
        ("https://a.org/p?utm_source=x&fbclid=1#top", True),
        ("https://a.org/p/index.html", True),
        ("https://a.org/p?id=2", False),
        ("https://a.org/p/q", False),
        ("https://b.org/p", False),
        ("https://a.org.evil.com/p", False),
        ("https://evil.com/?x=https://a.org/p", False),
    ],
)
def test_by_address(cited: str, same: bool) -> None:
    found = meant(f"So {cited} here", given({"url": "https://a.org/p", "text": "t"}))
    assert found == [("https://a.org/p" if same else None)]


def test_by_doi() -> None:
    sources = given({"id": 1, "url": "https://doi.org/10.1000/ABC.1"})
    assert meant("So (doi:10.1000/abc.1).", sources) == ["1"]
    assert meant("So https://publisher.org/doi/10.1000/abc.1", sources) == ["1"]


AUTHORS = (
    {"id": "lin", "author": "Lin, Y.; Frey, C. B.; Wu, L.", "year": 2023},
    {"id": "li", "author": "李敏；周洋", "year": 2022},
    {"id": "who", "author": "World Health Organization", "year": 2021},
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Lin et al. (2023) found it.", "lin"),
        ("So (Lin et al., 2022).", None),
        ("So (Frey, 2023).", None),
        ("So (Linden, 2023).", None),
        ("如此（李敏等，2022）。", "li"),
        ("如此（李敏敏，2022）。", None),
        ("So (World Health Organization, 2021).", "who"),
        ("So (WHO, 2021).", "who!"),
    ],
)
def test_by_author_and_year(text: str, expected: str | None) -> None:
    assert meant(text, given(*AUTHORS)) == [expected]


def test_by_reference_list() -> None:
    sources = given({"id": "a", "url": "https://a.org", "title": "On tides", "text": "t"})
    assert meant("So [1][2].\n\nReferences\n[1] https://a.org/\n[2] https://b.org", sources) == [
        "a",
        None,
    ]
    assert meant("So [1].\n\nReferences\n[1] Smith: On Tides. 2020", sources) == ["a"]


def test_the_outputs_own_numbering_wins_over_ids() -> None:
    sources = given({"id": 1, "url": "https://a.org"}, {"id": 2, "url": "https://b.org"})
    text = "So [1].\n\n[1] https://b.org"
    assert meant(text, sources) == ["2"]


def test_a_name_that_is_not_the_id_is_a_flaw() -> None:
    sources = given(
        {"id": "dg-2022", "title": "中国居民膳食指南", "year": 2022},
        {"id": "w", "author": "世界卫生组织"},
    )
    assert meant("如此【膳食指南，2022】。又【世卫组织】。", sources) == ["dg-2022!", "w!"]


def test_what_the_agent_itself_wrote_is_no_source() -> None:
    note = "The WHO says that rates fell by half since 2010: https://www.who.int/x"
    assert brought(note, {"thought": note}) == []
    assert brought({"saved": True, "content": note}, {"path": "a.md", "content": note}) == []
    assert brought(f"Noted: {note}", note) == []
    assert [one.url for one in brought(note, {"query": "rates"})] == ["https://www.who.int/x"]
    long = "a question that is so long that it could well be a whole text"
    assert [one.text for one in brought("Rates fell.", {"query": long})] == ["Rates fell."]
