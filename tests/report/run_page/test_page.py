"""The report as a file: what it holds, how large it is, and that nothing in it is markup."""

import asyncio
import base64
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tracemalloc
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import Case, Evidence, Fault, Message, Score, Signal, Status, ToolCall, Trace
from fourscore.core.rubric import Dimension, Rubric
from fourscore.judges.math import MathJudge
from fourscore.report import run_page as report
from fourscore.report.run_page.compressed_blocks import BlockWriter, escape_markup
from fourscore.report.run_page.detail import count_utf16_units, locate_evidence
from fourscore.test.run import summarize_run


def scored(value: float, *signals: Signal, reason: str = "") -> Score:
    return Score(
        status=Status.SCORED,
        value=value,
        passed=value >= 0.7,
        reward=value,
        signals=signals,
        reason=reason,
    )


def row(n: int, value: float = 1.0, output: Any = "It is so.", *signals: Signal) -> Any:
    case = Case(id=f"c{n}", input=f"question {n}", expected="so", tags=("a", "b")[: n % 3])
    return case, Trace(output=output, seconds=0.5), scored(value, *signals)


def noise(seed: int, size: int) -> str:
    """Text that hardly packs."""
    return base64.b64encode(random.Random(seed).randbytes(size * 3 // 4)).decode()


class Elements(HTMLParser):
    """The start tags of a page, as a browser's parser would see them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.attributes += attrs


def test_headline_holds_the_figures_of_the_summary(shelf: Any, read: Any) -> None:
    dimension = Signal(name="right", value=0.8, level="good")
    fault = Trace(fault=Fault("error", "boom"))
    broken = Score(status=Status.AGENT_ERROR, value=0.0, passed=False, reward=0.0)
    rows = [row(n, 1.0 if n % 4 else 0.2, "yes", dimension) for n in range(8)]
    rows.append((Case(id="x", input="?"), fault, broken))
    shelf.put(rows, name="nightly", agent="a.py:f", agent_version="2", git_commit="abc",
              cases_digest="d1", labels={"branch": "main"}, planned=10)  # fmt: skip
    page = read(shelf.report())
    document = summarize_run(shelf.store, "run-1")
    summary = page.head["summary"]
    for key in ("pass_rate", "pass_rate_interval", "average_score", "statuses", "total_tests"):
        assert summary[key] == document[key]
    assert summary["planned"] == 10 == sum(summary["statuses"].values())
    run = page.head["run"]
    assert (run["agent"], run["agent_version"], run["git_commit"]) == ("a.py:f", "2", "abc")
    assert (run["cases_digest"], run["labels"]) == ("d1", [["branch", "main"]])
    (right,) = page.head["dimensions"]
    assert (right["mean"], right["n"], right["level"]) == (0.8, 8, "good")
    assert right["levels"] == [["good", 8]]
    failed, passed = page.head["bins"]
    assert (sum(failed), sum(passed), failed[4], passed[19]) == (3, 6, 2, 6)
    assert page.head["notes"] == []
    assert len(page.lines) == len(page.details) == 9
    assert page.details[8, 1]["fault"] == ["error", "boom"]


def test_level_of_a_mean_follows_the_rubric(shelf: Any, read: Any) -> None:
    shelf.put([row(1, 1.0, "yes", Signal(name="right", value=0.8, level="fine"))])
    own = Dimension(name="right", judge=MathJudge(), levels={"fine": 0.7, "bad": 0.0})
    page = read(shelf.report(rubric=Rubric(name="r", dimensions=(own,))))
    assert page.head["dimensions"][0]["level"] == "fine"
    assert read(shelf.report()).head["dimensions"][0]["level"] == ""


def test_report_of_the_same_run_has_the_same_bytes(shelf: Any) -> None:
    shelf.put([row(n, n / 10) for n in range(10)])
    assert shelf.report().read_bytes() == shelf.report().read_bytes()
    assert [path.name for path in shelf.folder.glob("*report*")] == ["report.html"]


def test_policy_allows_scripts_by_digest_and_no_request(shelf: Any) -> None:
    shelf.put([row(n) for n in range(3)])
    text = shelf.report().read_text()
    (policy,) = re.findall(r'Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    for part in (style, script):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    attributes = Elements(text).attributes
    assert not [name for name, _ in attributes if name.startswith("on") or name == "style"]
    links = [value for name, value in attributes if name in ("href", "src", "action")]
    assert links == ["data:,", "#cases"]
    assert "innerHTML" not in script
    assert "url(#hatch)" in style
    assert style.count("url(") == 1


@pytest.mark.parametrize("many", [1, 400])
def test_texts_of_a_run_never_become_markup(shelf: Any, many: int) -> None:
    """Neither in plain blocks nor in packed ones."""
    evil = "</script><script>alert(1)</script><!-- <script> ]]> &lt; \u2028\u2029\x00"
    signal = Signal(name=evil, value=0.5, level=evil, reason=evil)
    case = Case(id=evil, input=evil, expected={evil: evil}, tags=(evil,), complexity=evil)
    rows = [(case, Trace(output=evil * 9), scored(0.5, signal, reason=evil))]
    rows += [row(n, 0.1, noise(n, 1000)) for n in range(many)]
    shelf.put(rows, name=evil, agent=evil, labels={evil: evil})
    text = shelf.report().read_bytes().decode()
    seen = Elements(text).seen
    scripts = 2 + len(re.findall(r'class="(?:line|case)"', text))
    assert seen.count("script") == scripts
    template = Path(str(report.__file__)).with_name("page.html").read_text()
    assert set(seen) <= {*Elements(template).seen, "script", "style"}
    data = re.findall(r'<script type="[^"]+"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert not [body for body in data if set(body) & set("<>&\u2028\u2029\x00")]


def test_escaped_json_decodes_to_the_same_value() -> None:
    value = "</script> & \u2028\u2029 <!-- \\u003c"
    assert json.loads(escape_markup(json.dumps(value, ensure_ascii=False))) == value


@pytest.mark.parametrize(
    ("evidence", "text", "found"),
    [
        (Evidence(text="two", start=4, end=7), "one two two", (4, 7)),
        (Evidence(text="two", start=8, end=11), "one two two", (8, 11)),
        (Evidence(text="two", start=5, end=8), "one two two", (4, 7)),
        (Evidence(text="two"), "one two", (4, 7)),
        (Evidence(text="two", start=99, end=102), "one two", (4, 7)),
        (Evidence(text="three", start=0, end=5), "one two", None),
        (Evidence(text="", start=0, end=0), "one two", None),
    ],
)
def test_locates_evidence_in_a_text(evidence: Evidence, text: str, found: Any) -> None:
    assert locate_evidence(evidence, text) == found


def test_positions_are_counted_in_utf16_units() -> None:
    assert count_utf16_units("a😀b😀c", [0, 1, 2, 3, 4, 5]) == {0: 0, 1: 1, 2: 3, 3: 4, 4: 6, 5: 7}
    assert count_utf16_units("aéb", [3, 1]) == {3: 3, 1: 1}


def test_evidence_is_a_mark_or_a_quotation(shelf: Any, read: Any) -> None:
    output = "😀 The moon is cheese."
    pieces = (
        Evidence(text="moon", start=6, end=10),
        Evidence(text="cheese", field="answer"),
        Evidence(text="nowhere", start=0, end=7),
        Evidence(text="search(q)", field="steps", step=1),
        Evidence(text="question", field="input", start=0, end=8),
        Evidence(text="12", field="environment.score"),
    )
    signal = Signal(name="right", value=0.1, evidence=pieces)
    case, _, score = row(1, 0.1, output, signal)
    steps = (Message(role="user", content="?"), ToolCall(name="search", arguments={"q": "moon"}))
    shelf.put([(case, Trace(output=output, steps=steps), score)])
    detail = read(shelf.report()).details[0, 1]
    assert detail["marks"] == {"output": [[7, 11, 1], [15, 21, 2]], "input": [[0, 8, 5]]}
    (first, _, third, fourth, _, sixth) = detail["signals"][0]["evidence"]
    assert first == {"k": 1, "step": None, "in": "output"}
    assert (third["text"], third["why"]) == ("nowhere", "not found there")
    assert (fourth["step"], fourth["text"]) == (1, "search(q)")
    assert (sixth["field"], sixth["text"]) == ("environment.score", "12")
    assert detail["steps"][1] == {"name": "search", "arguments": "q: moon"}


def test_shows_the_judged_answer_beside_the_whole_output(shelf: Any, read: Any) -> None:
    case, _, score = row(1)
    trace = Trace(output={"long": "story"}, metadata={"final_answer": "42"})
    shelf.put([(case, trace, score)])
    detail = read(shelf.report()).details[0, 1]
    assert (detail["output"], detail["whole"]) == ("42", '{"long":"story"}')


def test_shows_the_labels_of_people(shelf: Any, read: Any) -> None:
    shelf.put([row(1)])
    shelf.store.label("run-1", "c1", 1, who="ana", verdict="fail", note="no")
    assert read(shelf.report()).details[0, 1]["labels"] == [["ana", "fail", "no", False]]


def test_report_keeps_its_size_limit_and_names_what_is_missing(shelf: Any, read: Any) -> None:
    """Failures are detail at length, the rest in brief, and no row is lost."""
    rows = [row(n, 0.1 if n % 10 == 0 else 1.0, noise(n, 20_000)) for n in range(400)]
    shelf.put(rows)
    limit = 4_000_000
    path = shelf.report(limit=limit)
    assert path.stat().st_size < limit
    page = read(path)
    assert len(page.lines) == len(page.details) == 400
    failures = [page.details[n, 1]["output"] for n in range(0, 400, 10)]
    assert all(isinstance(output, str) for output in failures[1:])  # whole
    cut = page.details[1, 1]["output"]
    assert cut["of"] == 20_000
    assert len(cut["cut"]) < 20_000
    assert any("are cut" in note for note in page.head["notes"])


def test_small_run_is_not_truncated(shelf: Any, read: Any) -> None:
    """Though its first row packs far better than the others."""
    rows = [row(0, 0.1, "W" * 20_000)]
    rows += [row(n, 0.1 if n % 2 else 1.0, noise(n, 20_000)) for n in range(1, 150)]
    shelf.put(rows)
    page = read(shelf.report())
    assert len(page.details) == 150
    assert page.head["notes"] == []


@pytest.mark.parametrize(
    "kind", ["long", "many tags", "many dimensions", "large names", "steps", "evidence", "wide"]
)
def test_report_of_any_run_keeps_its_size_limit(shelf: Any, read: Any, kind: str) -> None:
    """Each in its own way: nothing grows without end."""
    big, rows = noise(7, 60_000), []
    for n in range(120):
        case, trace, score = row(n, 0.1 if n % 2 else 0.9)
        if kind == "long":
            trace = Trace(output=noise(n, 300_000))
        elif kind == "wide":
            trace = Trace(output="語" * 300_000)
        elif kind == "many tags":
            case = Case(id=f"c{n}", input="?", tags=tuple(f"{n}-{i}" * 30 for i in range(300)))
        elif kind == "many dimensions":
            names = [f"{i}" * 50 for i in range(1, 400)]
            score = scored(0.1, *(Signal(name=name, value=0.5, reason="x" * 90) for name in names))
        elif kind == "large names":
            signal = Signal(name=f"s{big}", value=0.3, level=big, reason=big)
            case = Case(id=f"{n}{big}", input=big, tags=(big,), complexity=big, expected=[big])
            score = scored(0.1, signal, reason=big)
        elif kind == "steps":
            some = big[:800]
            call = ToolCall(name=some, arguments={"q": some}, result=some, error=some)
            trace = Trace(output="yes", steps=(call,) * 300)
        elif kind == "evidence":
            evidence = tuple(Evidence(text=big[i : i + 600]) for i in range(2000))
            score = scored(0.1, Signal(name="s", value=0.1, evidence=evidence))
        rows.append((case, trace, score))
    labels = {f"{i}{big}": big for i in range(50)} if kind == "large names" else {}
    shelf.put(rows, name=big, agent=big, labels=labels)
    limit = 2_500_000
    path = shelf.report(limit=limit)
    assert path.stat().st_size < limit
    page = read(path)
    assert len(page.lines) == 120
    assert page.details
    if len(page.details) < 120:
        assert any("without details" in note for note in page.head["notes"])


def test_a_table_that_does_not_fit_keeps_failures_first(shelf: Any, read: Any) -> None:
    rows = [row(n, 0.1 if n > 2700 else 1.0) for n in range(3000)]
    rows = [
        (Case(id=noise(n, 110), input=noise(-n, 90)), *rest) for n, (_, *rest) in enumerate(rows)
    ]
    shelf.put(rows)
    page = read(shelf.report(limit=2_000_000))
    kept = [line[0] for line in page.lines]
    assert len(kept) < 3000
    assert set(range(2701, 3000)) <= set(kept)
    assert page.head["rows"] == 3000
    assert any("do not fit into the table" in note for note in page.head["notes"])
    assert sum(map(sum, page.head["bins"])) == 3000


def test_memory_does_not_grow_with_the_run(shelf: Any) -> None:
    """60 MB of outputs, of which the file may take 1.5 MB."""
    shelf.put([row(n, 0.1, noise(n % 50, 60_000)) for n in range(1000)])
    document = summarize_run(shelf.store, "run-1")
    tracemalloc.start()
    try:
        shelf.report(limit=3_000_000, document=document)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12_000_000


@pytest.mark.parametrize("size", [10, 5_000])
@pytest.mark.parametrize("room", [0, 5_000, 300_000, 3_000_000])
def test_blocks_keep_their_size_limit(room: int, size: int) -> None:
    blocks = BlockWriter(room)
    lines = [json.dumps(noise(n, size)).encode() for n in range(600)]
    taken = [line for n, line in enumerate(lines) if blocks.add((n, 1), line)]
    done = blocks.close()
    assert sum(block.size for block in done) <= room
    assert sum(block.lines for block in done) == len(taken)


def test_reports_the_scores_of_another_rubric(shelf: Any, read: Any) -> None:
    shelf.put([row(1, 1.0)])

    async def again() -> None:
        with shelf.store.writer("run-1") as writer:
            await writer.put_score("c1", 1, "judge-2", scored(0.25))

    asyncio.run(again())
    assert read(shelf.report()).lines[0][8] == 1.0
    page = read(shelf.report(judge="judge-2"))
    assert (page.lines[0][8], page.head["run"]["rubric"]) == (0.25, "judge-2")


def test_row_without_a_score_is_shown_as_not_judged(shelf: Any, read: Any) -> None:
    shelf.put([row(1)])
    page = read(shelf.report(judge="judge-9"))
    assert (page.lines[0][6], page.lines[0][7]) == ("not judged", None)
    assert page.head["summary"]["pass_rate"] is None


def test_run_without_rows_gives_a_report(shelf: Any, read: Any) -> None:
    shelf.put([])
    page = read(shelf.report())
    assert (page.lines, page.head["summary"]["planned"]) == ([], 0)


def test_show_writes_the_report_from_the_command_line(tmp_path: Path, read: Any) -> None:
    case = {"id": "c1", "input": "1 + 1?", "expected": "2", "output": "It is \\boxed{2}"}
    (tmp_path / "cases.jsonl").write_text(json.dumps(case) + "\n")
    (tmp_path / "rubric.yaml").write_text("name: sums\ndimensions:\n  right: {judge: math}\n")
    fourscore = str(Path(sys.executable).with_name("fourscore"))
    words = ["run", "--cases", "cases.jsonl", "--rubric", "rubric.yaml", "--agent", "recorded"]
    for line in ([*words, "--store", "r.db", "--out", "a.html"],
                 ["show", "2", "--store", "r.db", "--out", "b.html"]):  # fmt: skip
        done = subprocess.run(
            [fourscore, *line], cwd=tmp_path, capture_output=True, text=True, check=False,
            env={**os.environ},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    for name in ("a.html", "b.html"):
        page = read(tmp_path / name)
        assert page.lines[0][2] == "c1"
        assert page.head["dimensions"][0]["name"] == "right"
        assert page.head["summary"]["pass_rate"] == 1.0
