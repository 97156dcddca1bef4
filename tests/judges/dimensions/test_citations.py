"""Citations of an output: where they are, which sentence they support, and their source."""

from typing import Any

import pytest
from tests.linear import assert_linear

from fourscore.core import Case, Trace
from fourscore.judges.dimensions.citation_accuracy import CitationAccuracy
from fourscore.judges.dimensions.citations import parse_citations, read_citations
from fourscore.judges.dimensions.hosts import rate_address
from fourscore.judges.dimensions.source_quality import SourceQuality


def targets(text: str) -> list[str]:
    return [one.target for one in parse_citations(text) if one.form != "word"]


def statements(text: str) -> list[str]:
    return [one.statement for one in parse_citations(text)]


def meant(text: str, *sources: dict[str, Any]) -> list[str | None]:
    case = Case(input="x", expected={"sources": list(sources)})
    links = read_citations(case, Trace(output=text)).links
    return [(one.id or one.url) if one else None for _, one in links]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("So [1].", ["1"]),
        ("So [1, 2][4-6].", ["1", "2", "4", "5", "6"]),
        ("如此【1】，又【2】。", ["1", "2"]),
        ("So 【3†L1-L2】 and [Source 2] and [来源1].", ["3", "2", "1"]),
        ("So.[^a] So.[^2]", ["a", "2"]),
        ("So [@smith; @lee].", ["smith", "lee"]),
        ("See [it](https://a.org/x_(y)).", ["https://a.org/x_(y)"]),
        ("See (https://a.org/t), https://b.org/q?x=1.", ["https://a.org/t", "https://b.org/q?x=1"]),
        ("见https://a.org/t。又见 www.b.org/x。", ["https://a.org/t", "www.b.org/x"]),
        ("So (DOI 10.1000/x) and (www.a.org).", ["https://doi.org/10.1000/x", "www.a.org"]),
        ("So doi:10.1000/abc.1, arXiv:1706.03762.",
         ["https://doi.org/10.1000/abc.1", "https://arxiv.org/abs/1706.03762"]),
        ("So (Smith & Lee, 2020; Wu et al., 2019).", ["Smith, 2020", "Wu, 2019"]),
        ("如此（李敏等，2022）。", ["李敏, 2022"]),
        ("So [1-999].", [str(n) for n in range(1, 13)]),
    ],
)  # fmt: skip
def test_finds_citations(text: str, found: list[str]) -> None:
    assert targets(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "```\nx = a[1]  # https://a.org\n```",
        "~~~\n[1]",
        "`a[1]`",
        "![image](https://a.org/t.png)",
        "<!-- [1] -->",
        "<think>It is in [1].</think> So it is.",
        "[ ] todo, [x] done, [0], [draft]",
        "It was built (in March 2020) and (see below).",
        "",
    ],
)
def test_code_thinking_and_plain_brackets_cite_nothing(text: str) -> None:
    assert targets(text) == []


def test_finds_the_sentence_of_each_citation() -> None:
    assert statements("It opened in 1889 [1]. It is tall.") == ["It opened in 1889."]
    assert statements("It opened in 1889. [1][2] It is tall [3].") == [
        "It opened in 1889.", "It opened in 1889.", "It is tall.",
    ]  # fmt: skip
    assert (
        statements("It opened in 1889 [1] and is 330 m tall (https://a.org).")
        == ["It opened in 1889 and is 330 m tall."] * 2
    )  # several markers share their sentence
    assert statements("It opened in 1889.[1] It is tall.[2]It is red.")[:1] == [
        "It opened in 1889."
    ]
    assert statements("It is tall.\n\n[1] Its `f(x)` is red.") == ["Its `f x ` is red."]
    assert statements("Yes. [The city](https://a.org) says so.") == ["The city says so."]
    assert statements("对。[市政府](https://a.org)说[1](https://a.org)。") == ["市政府 说。"] * 2
    assert statements("铁塔于1889年落成【1】。") == ["铁塔于1889年落成。"]


def test_a_reference_list_has_no_statements() -> None:
    assert statements("It is so.\n\nSources: [1][2]") == ["", ""]
    assert statements("It is so.\n\n## Sources\n- https://a.org\n- Smith. https://b.org") == [
        "",
        "",
    ]
    assert statements("It is so.\n\n[1]: https://a.org\n\nIt is red [1].") == ["", "", "It is red."]


LISTED = "\n\nReferences\n[1] https://a.org/\n2. Smith: On Tides. doi:10.1000/x\n"


def test_a_reference_list_maps_numbers_to_urls() -> None:
    a = {"id": "a", "url": "https://a.org"}
    b = {"id": "b", "url": "https://doi.org/10.1000/X"}
    assert meant(f"So [1][2][3].{LISTED}", a, b) == ["a", "b", None]
    assert meant("So [^x].\n\n[^x]: See https://a.org", a) == ["a"]
    assert meant("So [1].\n\n[1] https://b.org\n[2] https://a.org", {**a, "id": "1"}) == [None]
    assert meant("如此[1]。\n\n参考文献：\n[1] https://a.org", a) == ["a"]


def test_resolves_by_number_id_position_and_url() -> None:
    numbered = ({"id": 1, "url": "https://a.org/p"}, {"id": "2", "text": "b"})
    assert meant("So [1][2][3].", *numbered) == ["1", "2", None]
    assert meant("So http://www.a.org/p/#x and https://a.org/q", *numbered) == ["1", None]
    assert meant("So [2][3].", {"url": "a"}, {"url": "b"}) == ["b", None]
    assert meant("So [doc-a] [draft].", {"id": "doc-A"}) == ["doc-A"]


def test_resolves_by_author_and_year() -> None:
    lin = {"id": "lin", "author": "Lin, Y.; Frey, C. B.", "year": 2023}
    li = {"id": "li", "author": "李敏；周洋", "year": 2022}
    text = "It is so (Lin et al., 2022; Linden, 2023; see Lin & Frey, 2023a)."
    assert meant(text, lin, li) == [None, None, "lin"]
    assert meant("如此（李敏等，2022）。", lin, li) == ["li"]


PIECES = [
    "[", "[ ", "[1", "[1]", "[1](", "[[1]](https://a.org)", "[1-999]", "[^a] ", "[^a]: b\n", "(",
    "（", "(Smith, 2020) ", "Smith (2020) ", "“", '"', '"a b c', "「", "http://", "https://a.org/",
    "www.", "://", "doi:10.1234/", "10.1234/a ", "arXiv:1706.03762 ", "`", "```\n", "~~~ ", "1",
    "1.", "1. a\n", "a", "A ", " ", "\n",
    "不", "是。", "【", "[1] https://a.org\n", "References\n", "- ", "#", "\t", "…", "<!--", "a,",
    "The tower opened in 1889 [1]. ", "x [1] ", "\u200b", "é", "％", "\\",
]  # fmt: skip


def judge_citations(text: str) -> None:
    case = Case(input="Cite.", expected={"sources": [{"id": 1, "text": "The tower is tall."}]})
    trace = Trace(output=text)
    parse_citations(trace.answer)
    for judge in (CitationAccuracy(), SourceQuality()):
        with pytest.raises(StopIteration):
            judge.judge(case, trace).send(None)


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("head", ["", "[ "])
def test_time_is_linear_in_repeated_characters(piece: str, head: str) -> None:
    rate_address("https://a.io")  # reads the public suffix list, once
    assert_linear(judge_citations, piece, 6_000, 48_000, head)
