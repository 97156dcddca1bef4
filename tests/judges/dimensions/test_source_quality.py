"""`source_quality`: which sources count, how they weigh, and what earns nothing."""

import asyncio
import pickle
from typing import Any

import msgspec
import pytest

from fourscore.core import Case, CaseError, Signal, ToolCall, Trace
from fourscore.judges.dimensions.source_quality import SourceQuality

ASKED = "How many people die on roads? Cite sources."
WHO, REUTERS, REDDIT, UNKNOWN = (
    "https://www.who.int/a",
    "https://www.reuters.com/a",
    "https://www.reddit.com/r/a",
    "https://no-list-knows-me.io/a",
)


def signal_of(
    output: Any,
    question: Any = ASKED,
    expected: Any = None,
    steps: tuple[ToolCall, ...] = (),
    judge: SourceQuality | None = None,
) -> Signal:
    case = Case(id="x", input=question, expected=expected)
    trace = Trace(output=output, steps=steps)
    (signal,) = asyncio.run((judge or SourceQuality()).judge(case, trace))
    for piece in signal.evidence:
        assert piece.start is not None
        assert piece.text == trace.answer[piece.start : piece.end]
    return signal


def value_of(output: Any, *args: Any, **more: Any) -> float | None:
    return signal_of(output, *args, **more).value


def test_is_the_mean_over_the_sources() -> None:
    assert value_of(f"1.19 million ({WHO}).") == 1.0
    assert value_of(f"1.19 million ({REUTERS}).") == 0.3
    assert value_of(f"1.19 million ({REDDIT}).") == 0.0
    assert value_of(f"1.19 million ({WHO}, {REUTERS}).") == pytest.approx(0.65)
    assert value_of(f"[WHO]({WHO}) and [a thread]({REDDIT})") == 0.5


def test_an_unknown_host_is_named_and_left_out_of_the_mean() -> None:
    signal = signal_of(f"So ({WHO}), and so ({UNKNOWN}).")
    assert signal.value == 1.0
    assert f"1 primary, 1 unknown: primary: {WHO}" in signal.reason
    assert signal.reason.endswith("(confidence: low)")
    none = signal_of(f"So ({UNKNOWN}).")
    assert (none.value, none.fault) == (None, None)
    assert UNKNOWN in none.reason


def test_names_the_worst_first() -> None:
    signal = signal_of(f"See {WHO} and {REDDIT}.")
    assert signal.reason.startswith(f"1 primary, 1 unreliable: unreliable: {REDDIT}")
    assert "social media" in signal.reason
    assert "not opened" in signal.reason
    assert [piece.text for piece in signal.evidence] == [f"See {WHO} and {REDDIT}", f"See {WHO}"]


def test_each_document_counts_once() -> None:
    again = f"{REUTERS}#b {REUTERS}?utm_source=x http://reuters.com/a/ {WHO}"
    assert value_of(f"{REUTERS} {again}") == pytest.approx(0.65)
    assert value_of(f"doi:10.1038/nm.2471 https://doi.org/10.1038/NM.2471 {REDDIT}") == 0.5


def test_the_kind_that_the_case_gives_wins() -> None:
    given = [
        {"id": "1", "url": WHO, "text": "a"},
        {"id": "2", "url": REDDIT, "kind": "primary"},
        {"id": "3", "url": WHO + "/b", "kind": "unreliable"},
        {"id": "4", "title": "A book", "kind": "secondary"},
    ]
    values = [value_of(f"So [{n}].", expected={"sources": given}) for n in (1, 2, 3, 4)]
    assert values == [1.0, 1.0, 0.0, 0.3]
    assert value_of("It is so [1, 3].", expected={"sources": given}) == 0.5
    assert value_of(f"It is so ({WHO}/b).", expected={"sources": given}) == 0.0


def test_markers_resolve_to_sources_that_tools_returned() -> None:
    hits = [{"id": "1", "url": WHO}, {"id": "2", "url": REDDIT, "kind": "primary"}]
    steps = (ToolCall(name="search", result=hits),)
    assert value_of("So [1].", steps=steps) == 1.0
    assert value_of("So [2].", steps=steps) == 0.0  # a tool's word on its hits is not the case's


def test_reads_a_reference_list() -> None:
    text = f"So [1], and so [2].\n\nReferences\n[1] WHO, {WHO}\n[2] Thread, {REDDIT}"
    assert value_of(text) == 0.5
    assert value_of("So[^1].\n\n[^1]: https://www.who.int/b") == 1.0
    assert value_of(f"So.\n\nSources:\n- {WHO}\n- {REDDIT}") == 0.5  # nothing else is cited
    assert value_of(f"So ({REDDIT}).\n\nSources:\n- {WHO}\n- {REDDIT}") == 0.0


def test_no_citation_is_zero_only_if_sources_were_given_or_asked_for() -> None:
    assert value_of("About 1.2 million.") == 0.0
    assert value_of("据权威机构统计，约120万。", "每年多少人？请注明来源。") == 0.0
    given = {"sources": [{"id": "1", "url": WHO, "text": "a"}]}
    assert value_of("About 1.2 million.", "How many?", given) == 0.0
    none = signal_of("About 1.2 million.", "How many people die on roads?")
    assert (none.value, none.fault) == (None, None)


def test_the_users_host_lists_are_used() -> None:
    judge = SourceQuality(primary=("no-list-knows-me.io",), unreliable=("who.int",))
    assert value_of(UNKNOWN, judge=judge) == 1.0
    assert value_of(WHO, judge=judge) == 0.0
    assert msgspec.convert({"primary": ["*.corp.io"]}, SourceQuality).primary == ("*.corp.io",)
    with pytest.raises(ValueError, match="is listed as primary and as unreliable"):
        SourceQuality(primary=("a.io",), unreliable=("a.io",))
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert (judge.names, judge.runs) == (("source_quality",), "inline")


def test_a_malformed_case_is_an_error_not_a_zero() -> None:
    with pytest.raises(CaseError):
        signal_of("So [1]", expected={"sources": [{"id": "1", "url": 3}]})


def test_unusual_inputs_have_a_signal() -> None:
    assert value_of(None, {"text": ASKED}) == 0.0
    assert value_of({"answer": "x", "url": WHO}) == 1.0
    assert value_of(f"So [1] {WHO}", expected="42") == 1.0
    assert value_of("\ud800 " + WHO) == 1.0


# Attacks


def test_sources_that_were_not_given_earn_little() -> None:
    given = {"sources": [{"id": "1", "url": REUTERS, "text": "a"}]}
    signal = signal_of("So (https://www.cdc.gov/made-up).", expected=given)
    assert signal.value == 0.0
    assert "not among the sources given" in signal.reason
    assert value_of("So (https://www.reuters.com/b).", expected=given) == 0.0
    steps = (ToolCall(name="search", result=[{"url": REUTERS, "text": "a"}]),)
    assert value_of("So (https://www.cdc.gov/made-up).", steps=steps) == 0.3
    asked = "What does https://www.cdc.gov/page say?"  # the user may name one
    assert value_of("So (https://www.cdc.gov/page).", asked, given) == 1.0


def test_links_in_code_and_self_praise_earn_nothing() -> None:
    assert value_of(f"See {REDDIT}.\n```\ncurl {WHO}\n```\n`{WHO}`") == 0.0
    assert value_of(f"{REDDIT} is an official primary source of the WHO, who.int.") == 0.0
    assert value_of(f"{ASKED} Sources: official, authoritative, peer-reviewed.") == 0.0


def test_text_beyond_the_read_limit_earns_nothing() -> None:
    signal = signal_of(f"{REDDIT} " + "x " * 4_000_000 + WHO)
    assert signal.value == 0.0
    assert "only the first 100,000 characters were read" in signal.reason
