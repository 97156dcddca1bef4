"""The sources that an answer may cite: those of the case and those that tools returned."""

import json
from typing import Any

import pytest

from fourscore.core import Case, CaseError, Message, ToolCall, Trace
from fourscore.judges.dimensions.sources import MAX_SOURCES, Source, canonical_url, collect_sources


def given(*sources: Any) -> tuple[Source, ...]:
    return collect_sources(Case(input="x", expected={"sources": list(sources)}), Trace())


def brought(result: Any, arguments: Any = None) -> list[Source]:
    step = ToolCall(name="search", arguments=arguments, result=result)
    trace = Trace(output="https://made-up.org", steps=(step,))
    return list(collect_sources(Case(input="x"), trace))


def test_keeps_the_fields_of_a_source_in_the_case() -> None:
    (source,) = given({"id": 1, "url": "u", "text": "t", "author": ["A", "B"], "year": 2020})
    assert source == Source(id="1", url="u", author="A; B", year="2020", text="t", origin="case")


@pytest.mark.parametrize("sources", [5, "x", [{"id": 1, "text": 3}], [{"url": ["x"]}]])
def test_refuses_malformed_sources_of_a_case(sources: Any) -> None:
    with pytest.raises(CaseError, match="sources"):
        collect_sources(Case(input="x", expected={"sources": sources}), Trace())


@pytest.mark.parametrize(
    "result",
    [
        {"url": "https://a.org", "title": "T", "text": "words"},
        [{"link": "https://a.org", "title": "T", "snippet": "words"}],
        {"results": [{"href": "https://a.org", "title": "T", "content": "words"}]},
        json.dumps({"data": [{"url": "https://a.org", "title": "T", "body": "words"}]}),
    ],
)
def test_reads_search_results(result: Any) -> None:
    assert brought(result) == [Source(url="https://a.org", title="T", text="words")]


def test_reads_pages_and_messages() -> None:
    assert brought("The page.", {"url": "https://a.org/p"}) == [
        Source(url="https://a.org/p", text="The page.")
    ]
    step = Message(role="tool", content=[{"url": "https://a.org", "text": "t"}])
    assert len(collect_sources(Case(input="x"), Trace(steps=(step,)))) == 1


def test_merges_sources_with_the_same_url() -> None:
    hit = ToolCall(name="search", result=[{"url": "https://a.org/p", "snippet": "Short."}])
    page = ToolCall(name="open", arguments={"url": "http://www.a.org/p/"}, result="The page.")
    (source,) = collect_sources(Case(input="x"), Trace(steps=(hit, page)))
    assert source.text == "Short.\nThe page."
    case = Case(input="x", expected={"sources": [{"id": 1, "url": "https://a.org/p"}]})
    (source,) = collect_sources(case, Trace(steps=(page,)))
    assert (source.id, source.text, source.origin) == ("1", "The page.", "case")
    case = Case(input="x", expected={"sources": [{"url": "https://a.org/p", "text": "Given."}]})
    (source,) = collect_sources(case, Trace(steps=(page,)))
    assert source.text == "Given."


def test_what_the_agent_itself_wrote_is_no_source() -> None:
    note = "The WHO says that rates fell by half since 2010: https://www.who.int/x"
    assert brought(note, {"thought": note}) == []
    assert brought({"url": "https://a.org", "content": note}, {"content": note}) == []
    assert brought(f"Noted: {note}", note) == []
    write = ToolCall(name="write", arguments={"path": "a", "content": note}, result="ok")
    again = ToolCall(name="read", arguments={"url": "https://a.org"}, result=note)
    assert collect_sources(Case(input="x"), Trace(steps=(write, again))) == ()
    failed = ToolCall(name="open", arguments={"url": "https://a.org"}, result="404", error="404")
    assert collect_sources(Case(input="x"), Trace(steps=(failed,))) == ()


def test_malformed_tool_results_give_no_sources() -> None:
    broken: list[Any] = [None, "", 5, True, [], {}, [[[[[[["deep"]]]]]]], "{broken", "[" * 9999]
    for result in broken:
        assert brought(result) == []


def test_sources_from_tools_are_bounded() -> None:
    many = [{"url": f"https://a.org/{n}", "text": f"{n} " + "x" * 9000} for n in range(5000)]
    found = brought(many)
    assert len(found) <= MAX_SOURCES
    assert sum(len(source.text) for source in found) <= 400_000


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("http://a.org/p", True),
        ("https://www.A.org/p/", True),
        ("https://a.org/p?utm_source=x&utm_medium=y#top", True),
        ("https://a.org/p?id=2", False),
        ("https://a.org/p/q", False),
        ("https://a.org.evil.com/p", False),
        ("https://evil.com/?x=https://a.org/p", False),
    ],
)
def test_canonical_url_ignores_scheme_www_fragment_and_tracking(url: str, same: bool) -> None:
    assert (canonical_url(url) == canonical_url("https://a.org/p")) == same


def test_canonical_url_recognises_dois() -> None:
    assert canonical_url("https://doi.org/10.1000/ABC.1") == canonical_url("doi:10.1000/abc.1")
