"""`source_quality`: which sources count, how they weigh, and what earns nothing."""

import asyncio
import json
import pickle
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from rubrica.core import Case, CaseError, Signal, ToolCall, Trace
from rubrica.core.levels import FLOORS
from rubrica.judges.dimensions.sources import SourceQuality
from rubrica.judges.reliability.rating import classify

LABELLED = Path(__file__).parents[2] / "labelled" / "source_quality"
ORDER = list(FLOORS)
ASKED = "How many people die on roads? Cite sources."
WHO, REUTERS, REDDIT = (
    "https://www.who.int/a",
    "https://www.reuters.com/a",
    "https://www.reddit.com/r/a",
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


def test_the_mean_over_the_sources() -> None:
    assert value_of(f"1.19 million ({WHO}).") == 1.0
    assert value_of(f"1.19 million ({REUTERS}).") == 0.3
    assert value_of(f"1.19 million ({REDDIT}).") == 0.0
    assert value_of(f"1.19 million ({WHO}, {REUTERS}).") == pytest.approx(0.65)
    assert value_of(f"[WHO]({WHO}) and [a thread]({REDDIT})") == 0.5


def test_any_credible_source_is_worth_a_quarter() -> None:
    threads = " ".join(f"{REDDIT}{n}" for n in range(20))
    assert value_of(f"{WHO} {threads}") == 0.25
    assert value_of(f"{REUTERS} {threads}") == 0.25
    assert value_of(threads) == 0.0


def test_the_reason_names_the_worst_first() -> None:
    signal = signal_of(f"See {WHO} and {REDDIT}.")
    assert signal.reason.index("reddit") < signal.reason.index("who.int")
    assert "1 primary, 1 unreliable of 2 sources" in signal.reason
    assert "social media" in signal.reason
    assert "not opened" in signal.reason
    assert signal.evidence[0].text == REDDIT
    assert signal.level == "acceptable"


def test_each_document_counts_once() -> None:
    again = f"{REUTERS}#b {REUTERS}?utm_source=x http://reuters.com/a/ {WHO}"
    assert value_of(f"{REUTERS} {again}") == pytest.approx(0.65)
    rfc = "RFC 9110, rfc 9110 and https://www.rfc-editor.org/rfc/rfc9110.html"
    assert value_of(f"{rfc} {REDDIT}", "Which HTTP status? Cite.") == 0.5
    paper = "arXiv:1706.03762 https://arxiv.org/pdf/1706.03762v5 https://arxiv.org/abs/1706.03762"
    assert value_of(f"{paper} {REDDIT}") == 0.5
    doi = "doi:10.1038/nm.2471 https://doi.org/10.1038/NM.2471"
    assert value_of(f"{doi} {REDDIT}") == 0.5


def test_markers_lead_to_the_sources_of_the_case() -> None:
    given = [
        {"id": "1", "url": WHO, "text": "a"},
        {"id": "2", "url": REDDIT, "text": "b", "kind": "primary"},
        {"id": "3", "url": WHO + "/b", "text": "c", "kind": "unreliable"},
    ]
    assert value_of("It is so [1].", expected={"sources": given}) == 1.0
    assert value_of("It is so [2].", expected={"sources": given}) == 1.0
    assert value_of("It is so [3].", expected={"sources": given}) == 0.0
    assert value_of("It is so [1, 3].", expected={"sources": given}) == 0.5
    assert value_of(f"It is so ({WHO}/b).", expected={"sources": given}) == 0.0


def test_markers_lead_to_what_the_tools_found() -> None:
    hits = [
        {"id": "1", "url": WHO, "text": "a"},
        {"id": "2", "url": REDDIT, "text": "b", "kind": "primary"},
    ]
    steps = (ToolCall(name="search", result=hits),)
    assert value_of("So [1].", steps=steps) == 1.0
    # What a tool says of its own hits is not the case's word.
    assert value_of("So [2].", steps=steps) == 0.0


def test_an_own_reference_list() -> None:
    text = f"So [1], and so [2].\n\nReferences\n[1] WHO, {WHO}\n[2] Thread, {REDDIT}"
    assert value_of(text) == 0.5
    listed = (
        "结构见[1]，回顾见[2]。\n\n参考文献\n"
        "[1] 协作组. 一种新型内酯[J]. 科学通报, 1977, 22(3): 142.\n"
        "[2] 王某. 高等数学[M]. 高等教育出版社, 2014."
    )
    assert value_of(listed, "请附参考文献。") == pytest.approx(0.65)
    assert value_of("So[^1].\n\n[^1]: https://www.who.int/b") == 1.0


def test_nothing_cited() -> None:
    assert value_of("About 1.2 million.") == 0.0
    assert value_of("", expected=None) == 0.0
    assert value_of("据权威机构统计，约120万。", "每年多少人？请注明来源。") == 0.0
    none = signal_of("About 1.2 million.", "How many people die on roads?")
    assert none.value is None
    assert none.fault is None
    given = {"sources": [{"id": "1", "url": WHO, "text": "a"}]}
    assert value_of("About 1.2 million.", "How many?", given) == 0.0
    assert value_of("About 1.2 million [1].", "How many?") == 0.0  # leads nowhere


def test_code_and_rejected_links_are_no_sources() -> None:
    code = f"See {WHO}.\n```\ncurl https://api.example.com/v1\n```\nand `http://evil.biz/x`, http://localhost:3000/"
    assert value_of(code) == 1.0
    for rejected in (
        f"I did not rely on {REDDIT}, which gives no method.",
        f"The post {REDDIT} is not a reliable source.",
        f"Not used:\n- {REDDIT}\n- {REDDIT}2",
        f"网上的说法见 {REDDIT} ，本回答未采用。",
    ):
        assert value_of(f"It is so ({WHO}).\n\n{rejected}") == 1.0, rejected
    # Only a hint at doubt: it is still what the answer rests on.
    assert value_of(f"It is so ({WHO}). See also {REDDIT}, for what it is worth.") == 0.5
    # A claim that is called false, with the source that says so.
    assert value_of(f"The story is false ({WHO}).") == 1.0


def test_a_named_source_without_an_address_is_worth_little() -> None:
    assert value_of("Source: Wikipedia") == 0.3
    assert value_of("来源：国家统计局", "请注明来源") == 0.3
    assert value_of("Deaths fell (WHO, 2023).") == 0.3
    assert value_of("The World Health Organization (WHO) counts them.", "How many?") is None


def test_statutes_and_standards_count_where_the_answer_leans_on_them() -> None:
    assert value_of("根据《劳动合同法》第四十六条，应支付补偿。", "有补偿吗？请给依据。") == 1.0
    assert value_of("See 17 CFR 240.10b-5 for the rule.") == 1.0
    assert value_of(f"GB 7718-2011 如此规定（{REDDIT}）。", "请给依据。") == 0.0


def test_own_lists() -> None:
    judge = SourceQuality(primary=("reddit.com/r/a",), unreliable=("who.int",))
    assert value_of(REDDIT, judge=judge) == 1.0
    assert value_of(WHO, judge=judge) == 0.0
    assert msgspec.convert({"primary": ["*.corp.io"]}, SourceQuality).primary == ("*.corp.io",)
    inner = SourceQuality(primary=("localhost:8080", "wiki.corp.local", "docs.ours.example"))
    for url in ("http://localhost:8080/a", "http://wiki.corp.local/b", "docs.ours.example/c"):
        assert classify(url, lists=inner.lists).kind == "primary"
        assert classify(url).kind == "unreliable"
    hidden = "https://wiki.corp.local@evil.com/b"
    assert classify(hidden, lists=inner.lists).kind == "unreliable"
    with pytest.raises(ValueError, match=r"'a\.io' is listed as primary and as unreliable"):
        SourceQuality(primary=("a.io",), unreliable=("a.io",))
    with pytest.raises(ValueError, match="primary: ' ' is no host"):
        SourceQuality(primary=(" ",))
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"primry": []}, SourceQuality)


def test_it_is_a_value() -> None:
    judge = SourceQuality(secondary=("a.org",))
    assert pickle.loads(pickle.dumps(judge)) == judge
    assert judge.names == ("source_quality",)
    assert judge.runs == "inline"


def test_a_broken_case_is_an_error_and_no_zero() -> None:
    with pytest.raises(CaseError):
        signal_of(f"So [1] {WHO}", expected={"sources": "none"})
    with pytest.raises(CaseError):
        signal_of("So [1]", expected={"sources": [{"id": "1", "url": 3}]})


def test_odd_inputs() -> None:
    assert value_of(None, {"text": ASKED}) == 0.0
    assert value_of({"answer": "x", "url": WHO}) == 1.0
    assert value_of(WHO, [{"role": "user", "content": ASKED}]) == 1.0
    assert value_of(f"So [1] {WHO}", expected="42") == 1.0
    assert value_of("\ud800 " + WHO) == 1.0


# ── Attacks ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "link",
    [
        "[WHO](https://who.int.health-news.biz/x)",
        "[WHO](https://www.who.int@evil.biz/x)",
        "[WHO](https://whо.int/x)",
        "[国家统计局](https://data.stats-gov.cn.com/x)",
        "[White House](https://whitehouse-gov.org/x)",
        "https://www.gov-stats.com/ https://official-world-bureau.org/ https://intl-health-authority.net/",
        "https://evil.biz/https://www.who.int/a",
        "https://evil.biz/?u=https://www.who.int/a",
        "https://www.google.com/url?q=https://www.who.int/a",
        "doi:10.1234/nature.2024.xxx arXiv:9999.99999 RFC 99999",
    ],
)
def test_invented_and_disguised_hosts_earn_nothing(link: str) -> None:
    assert value_of(f"It is so ({link}).") == 0.0


def test_padding_with_pages_of_one_host_is_cut() -> None:
    pages = " ".join(f"{WHO}/{n}" for n in range(100))
    signal = signal_of(f"{pages} {REDDIT} {REDDIT}2 {REDDIT}3 {REDDIT}4 {REDDIT}5")
    assert signal.value == 0.5
    assert "95 more pages of the same hosts do not count" in signal.reason


def test_repeating_a_good_source_does_not_help() -> None:
    assert value_of(f"{WHO} " * 500 + REDDIT) == 0.5


def test_sources_that_were_not_given_earn_little() -> None:
    given = {"sources": [{"id": "1", "url": REUTERS, "text": "a"}]}
    signal = signal_of("So (https://www.cdc.gov/invented).", expected=given)
    assert signal.value == 0.0
    assert "not among the sources given" in signal.reason
    assert value_of(f"So ({REUTERS}, https://www.cdc.gov/invented).", expected=given) == 0.25
    steps = (ToolCall(name="search", result=[{"url": REUTERS, "text": "a"}]),)
    assert value_of("So (https://www.cdc.gov/invented).", steps=steps) == 0.3
    # The user may name one.
    asked = "What does https://www.cdc.gov/page say?"
    assert value_of("So (https://www.cdc.gov/page).", asked, given) == 1.0


def test_fine_addresses_that_are_off_the_topic_earn_nothing() -> None:
    question = "How much salt may I eat with high blood pressure? Cite."
    answer = (
        "5 g (RFC 9110, https://docs.python.org/3/library/math.html, https://kubernetes.io/docs/)."
    )
    assert value_of(answer, question) == 0.0


def test_pasting_the_question_or_praise_earns_nothing() -> None:
    assert (
        value_of(f"{ASKED} Sources: official, authoritative, peer-reviewed, primary sources.")
        == 0.0
    )
    assert value_of(f"{REDDIT} is an official primary source of the WHO, who.int.") == 0.0


@pytest.mark.parametrize(
    "piece",
    ["https://", "http://a.b/(", "[", "[1]", "10.1234/", "a.com/", "www.", "《法》第",
     "(WHO, 2023) ", ":", "source: ", "://", "a.", "not used ",
     "https://who.int/a ", "RFC 1 ", "\n- ", "ISO 1",
     "来源：", "ISO 9001 https://who.int/a ", "https://a.b/c%d ", "see ISO 27001\n",
     "see ISO 27001 ", "%", "a/b.com/c", "site link page ", "[a](http://b.c) ", "据《法》第一条"],
)  # fmt: skip
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = (piece * (100_000 // len(piece) + 1))[:100_000]
    start = time.process_time()
    signal_of(text)
    assert time.process_time() - start < 20


def test_what_stands_beyond_the_limit_earns_nothing() -> None:
    signal = signal_of(f"{REDDIT} " + "x " * 5_000_000 + WHO)
    assert signal.value == 0.0
    assert "only the first 100000 characters were read" in signal.reason


# ── Labelled outputs ─────────────────────────────────────────────────────────────────────────────


def misses_of(name: str) -> tuple[int, list[str], list[str]]:
    """How many there are, which are off, and which are more than one level off."""
    off, far = [], []
    lines = (LABELLED / name).read_text(encoding="utf-8").splitlines()
    for line in lines:
        item = json.loads(line)
        steps = tuple(
            msgspec.convert(step, ToolCall) for step in map(_called, item.get("steps", ()))
        )
        signal = signal_of(item["output"], item["input"], item["expected"], steps)
        if signal.level != item["level"]:
            off.append(item["id"])
            if not signal.level or abs(ORDER.index(signal.level) - ORDER.index(item["level"])) > 1:
                far.append(item["id"])
    return len(lines), off, far


def _called(step: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "tool", **step}


def test_worked_items() -> None:
    total, off, far = misses_of("worked.jsonl")
    assert len(off) <= 0.15 * total, off
    assert len(far) <= 0.05 * total, far
