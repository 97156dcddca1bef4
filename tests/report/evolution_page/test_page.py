"""The lineage as a file: what it holds, how large it is, and that nothing in it is markup."""

import base64
import hashlib
import json
import re
import tracemalloc
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import main
from fourscore.evolve.folder import Evolution
from fourscore.report.evolution_page.diff import CHARACTERS, LINES, changes


def test_headline_data(garden: Any, read: Any) -> None:
    garden.grow()
    head = read(garden.report()).head
    assert (head["name"], head["source"]) == ("prompts", "prompt.md")
    assert (head["active"]["number"], head["best"], head["versions"]) == (2, 2, 7)
    assert (head["decisions"], head["accepted"], head["promoted"]) == (5, 3, 2)
    assert head["expected_false"] == pytest.approx(4 * 0.05)
    assert head["without_level"] == 1
    assert head["refused"] == 1
    assert head["refusals"][0]["reason"] == "{language} is gone"
    (back,) = head["rollbacks"]
    assert (back["left"], back["to"], back["rule"]) == (5, 2, "error_rate")
    assert back["why"] == "60% of the cases failed, 50% are allowed"
    held = head["held_out"]
    assert (held["old"], held["new"], held["low"], held["high"]) == (44.0, 88.5, 30.25, 58.75)
    assert held["words"].startswith("version 2 against 1: +44.50 points")
    assert head["rule"]["looks"] == list(garden.evolution.settings.plan.sizes)


def test_tree_lines(garden: Any, read: Any) -> None:
    garden.grow()
    lines = {line["number"]: line for line in read(garden.report()).lines}
    order = [(line["number"], line["depth"]) for line in read(garden.report()).lines]
    assert order == [(1, 0), (2, 0), (3, 1), (4, 1), (5, 1), (6, 2), (7, 1)]
    statuses = ["retired", "active", "rejected", "branch", "retired", "rejected", "candidate"]
    assert [lines[n]["status"] for n in range(1, 8)] == statuses
    assert [n for n in lines if lines[n]["rolled_back"]] == [5]
    assert [n for n in lines if lines[n]["best"]] == [2]
    assert lines[1]["archived"]
    assert not lines[2]["archived"]
    assert lines[3]["fold"] is not None
    assert lines[4]["fold"] is None
    decision = lines[2]["decision"]
    assert (decision["old"], decision["new"], decision["delta"]) == (45.0, 92.5, 47.5)
    assert 0 < decision["low"] < 47.5 < decision["high"]
    assert (lines[3]["strategy"], lines[3]["risk"]) == ("persona_adjust", "high")
    assert lines[3]["gist"] == ["+", "Be rude."]
    assert lines[1]["gist"] is None


def test_version_details(garden: Any, read: Any) -> None:
    garden.grow()
    details = read(garden.report()).details
    assert sorted(details) == [1, 2, 3, 4, 5, 6, 7]
    (decision,) = details[2]["decisions"]
    for name in ("rule", "reason", "delta", "low", "high", "n", "look", "looks", "level", "why"):
        assert name in decision
    assert decision["against"] == 1
    assert "changes" not in details[1]
    assert details[1]["text"].startswith("Answer in {language}.")
    assert "text" not in details[3]
    assert details[5]["executions"][0][1:] == [30.0, 0.6, 20]
    assert [each["kind"] for each in details[5]["others"]] == ["rollback"]
    assert [each["kind"] for each in details[2]["others"]] == ["return"]
    assert details[7]["decisions"] == []


def test_same_folder_gives_same_bytes(garden: Any) -> None:
    garden.grow()
    assert garden.report().read_bytes() == garden.report().read_bytes()


def test_report_of_new_evolution(garden: Any, read: Any) -> None:
    page = read(garden.report())
    assert page.head["held_out"] is None
    assert page.head["course"] == []
    assert [line["number"] for line in page.lines] == [1]


def test_ignores_foreign_held_out_note(garden: Any, read: Any) -> None:
    garden.evolution.add_note("held_out", {"first": "x"})
    garden.evolution.add_note("refused", {"reason": ["not", 1, "text"]})
    head = read(garden.report()).head
    assert head["held_out"] is None
    assert head["refusals"][0]["reason"] == "['not', 1, 'text']"


# Nothing is markup

HOSTILE = "</script><script>window.pwned = 1</script><img src=x onerror=alert(1)> & \u2028 -->"


class Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)


def test_hostile_text_is_no_markup(garden: Any, read: Any, won: Any, lost: Any) -> None:
    garden.grow()
    plain = Elements(read(garden.report()).text).seen
    for decision in (won, lost):
        garden.tried(f"{HOSTILE}\n{decision.accepted}", decision, why=HOSTILE, strategy=HOSTILE)
    garden.evolution.add_note("refused", {"strategy": HOSTILE, "reason": HOSTILE, "risk": HOSTILE})
    garden.evolution.rollback(2, reason=HOSTILE, why=HOSTILE)
    page = read(garden.report())
    assert Elements(page.text).seen == plain
    assert page.details[8]["why"] == HOSTILE
    assert {line["strategy"] for line in page.lines if line["number"] > 7} == {HOSTILE}
    assert "<img" not in page.text


def test_content_policy_has_hashes_of_script_and_style(garden: Any) -> None:
    text = garden.report().read_text()
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy.startswith("default-src 'none'; ")
    for tag, word in (("script", "script-src"), ("style", "style-src")):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{word} 'sha256-{digest}';" in policy
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text


# Sizes


def test_report_says_what_was_left_out(garden: Any, read: Any, lost: Any) -> None:
    for number in range(12):
        garden.tried(f"{number} " * 200, lost)
    page = read(garden.report(room=2000))
    assert page.head["without"] > 0
    assert page.head["without"] + len(page.details) == 13
    assert len(page.lines) == 13


def test_long_texts_need_little_memory(garden: Any, lost: Any) -> None:
    for number in range(4):
        lines = (f"{number} {line}" for line in range(25_000))
        garden.tried("\n".join(lines), lost)
    tracemalloc.start()
    path = garden.report()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size < 600_000
    assert peak < 40_000_000


# Changes


def document(old: str, new: str) -> list[str]:
    found = changes(old, new)
    return [each.sign + "".join(text for text, _ in each.pieces) for each in found.lines]


def test_diff_has_context_lines() -> None:
    old = "\n".join("abcdefghijkl")
    assert document(old, old.replace("g", "G")) == ["@4", " e", " f", "-g", "+G", " h", " i", "@3"]
    assert document("a", "b") == ["-a", "+b"]
    assert document("a\nb", "a\nb\nc") == ["@2", "+c"] or document("a\nb", "a\nb\nc") == [
        " a",
        " b",
        "+c",
    ]


def test_diff_marks_changed_words() -> None:
    found = changes("Name your sources.", "Name each of your sources.")
    marked = [text for line in found.lines for text, differs in line.pieces if differs]
    assert "".join(marked).strip() == "each of"
    assert (found.added, found.removed) == (1, 1)
    unlike = changes("Name your sources.", "Häufig, aber nicht immer!")
    assert not any(differs for line in unlike.lines for _, differs in line.pieces)


def test_diff_of_equal_texts_is_empty() -> None:
    found = changes("a\nb\nc\nd", "a\nb\nc\nd")
    assert (found.added, found.removed, document("a\nb\nc\nd", "a\nb\nc\nd")) == (0, 0, ["@4"])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\n" * 50_000, "b\n" * 50_000),
        ("x\ny\n" * 200, "x\nz\n" * 200),
        ("a " * 500_000, "b " * 500_000),
        ("\n" * 100_000, "\n" * 99_999),
    ],
    ids=["lines", "alternating", "one line", "empty lines"],
)
def test_diff_has_maximum_size(old: str, new: str) -> None:
    found = changes(old, new)
    assert len(found.lines) <= LINES
    assert sum(len(text) for line in found.lines for text, _ in line.pieces) <= CHARACTERS
    assert found.added + found.removed > 0


def test_diff_shows_or_counts_every_line() -> None:
    found = changes("old\n" * 1000, "new\n" * 3000)
    assert (found.added, found.removed) == (3000, 1000)
    shown = sum(line.sign in "+-" for line in found.lines)
    assert shown + found.left_out == 4000 + 1  # the empty last line, which stayed


# The command


def test_report_command(
    garden: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    garden.grow()
    garden.evolution.close()
    monkeypatch.chdir(tmp_path)
    assert main(["evolve", "report", "prompts"]) == 0
    assert capsys.readouterr().out == "report: lineage.html\n"
    assert Path("lineage.html").read_bytes().startswith(b"<!doctype html>")
    assert main(["evolve", "report", "--dir", "prompts", "--out", "x.html", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == {"report": "x.html", "versions": 7, "active": 2}
    assert main(["evolve", "report", "nowhere"]) == 2
    assert main(["evolve", "report", "prompts", "--out", "no/such/x.html"]) == 2
    assert "no/such/x.html: --out: " in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if "draft" in path.name] == []


def test_report_while_another_process_writes(garden: Any, tmp_path: Path) -> None:
    """Reading takes no lock."""
    garden.grow()
    assert main(["evolve", "report", str(tmp_path / "prompts"), "--out", str(tmp_path / "x")]) == 0
    with Evolution(tmp_path / "prompts", write=False) as reader:
        assert reader.active.number == 2
