"""`fourscore monitor …`: what is shown, what is written, and the exit codes."""

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fourscore.cli.main import main
from fourscore.core import Case, Trace, judge
from fourscore.formats.cases import CaseFile
from fourscore.formats.yaml_file import write_section
from fourscore.judges.rubric_file import read_rubric
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.settings import JudgingSettings, PrivacySettings
from fourscore.monitor.status import monitor_document
from fourscore.report.monitor_panel import show_status
from fourscore.report.monitor_watch import make_view, pass_rate_buckets, sparkline, view_document
from fourscore.stores.monitor import MonitorStore

#: Hostile text that an agent may write.
EVIL = "[bold red]owned[/] [link=http://evil]x[/link] \x1b[31m\x07\n"
CUT = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


@judge
def fine(case: Case, trace: Trace) -> bool:
    if trace.answer == "broken":
        raise RuntimeError("the model is down")
    return trace.answer.startswith("good")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fill(good: int, bad: int = 0, broken: int = 0, name: str = "default", **more: object) -> None:
    """Into ./monitor.db, in few transactions."""
    settings: dict[str, Any] = {"rubric": fine, "store": "monitor.db", "name": name, **more}
    settings["judging"] = JudgingSettings(workers=1)
    with ProductionMonitor(1.0, **settings) as monitor:
        for output, n in (("good", good), (f"bad {EVIL}", bad), ("broken", broken)):
            for number in range(n):
                id_ = f"{output.split()[0]}-{number}"
                monitor.observe(f"What is {number}? {EVIL}", output, id=id_, tags=["a", EVIL])
            assert monitor.flush(120)


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    found: dict[str, object] = json.loads(out)
    return found


def test_status_exits_with_1_at_a_warning_or_worse(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(5)
    assert main(["monitor", "status", "--json"]) == 0
    found = document(capsys)
    assert (found["status"], found["exit_code"]) == ("insufficient_data", 0)
    fill(60, name="other")
    assert main(["monitor", "status", "--json", "--name", "other"]) == 0
    assert document(capsys)["status"] == "healthy"
    fill(0, 60, name="third")
    assert main(["monitor", "status", "--json"]) == 1
    found = document(capsys)
    assert (found["status"], found["exit_code"]) == ("critical", 1)
    assert [one["name"] for one in found["monitors"]] == ["default", "other", "third"]  # type: ignore[attr-defined]


def test_bad_arguments_exit_with_2(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["monitor", "status"]) == 2
    assert "monitor.db" in capsys.readouterr().err
    fill(5)
    assert main(["monitor", "status", "--name", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
    assert main(["monitor", "watch", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["exit_code"] == 2
    fill(5, name="second")
    assert main(["monitor", "watch", "--once"]) == 2
    assert "default, second" in capsys.readouterr().err
    with pytest.raises(SystemExit) as caught:
        main(["monitor", "status", "--loud"])
    assert caught.value.code == 2


@pytest.mark.parametrize("width", [50, 80, 140])
def test_untrusted_text_is_not_interpreted_as_markup(folder: Path, width: int) -> None:
    fill(60, 40, 30)
    with MonitorStore("monitor.db", make=False) as store:
        one = monitor_document(store, "default")
        watched = view_document(store, "default")
        from fourscore.monitor.alerts import make_local_notice

        notices = {
            "default": [
                make_local_notice("default", each) for each in store.outbox.alerts("default")
            ]
        }
    for colours in (True, False):
        out = Console(file=io.StringIO(), width=width, force_terminal=colours, markup=False)
        found = {"store": "monitor.db", "status": "critical", "monitors": [one]}
        show_status(found, notices, to=out)
        out.print(make_view(watched, out))
        text = out.file.getvalue()  # type: ignore[attr-defined]
        plain = CUT.sub("", text)
        assert "\x07" not in plain
        assert "\x1b" not in plain  # an agent's own would be left
        assert "[bold" in plain
        assert all(len(line) <= width for line in plain.splitlines())
        assert "the judge is failing" in plain


def test_status_prints_one_line_per_fact(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(60, 40, 30)
    assert main(["monitor", "status"]) == 1
    out = capsys.readouterr().out
    assert re.search(r"^status +critical since", out, re.MULTILINE)
    assert "130 of 130 observed: 100 scored, 30 judge error" in out
    assert "the judge is broken, not the agent" in out
    assert re.search(r"^overall +critical", out, re.MULTILINE)
    assert "no sink was notified" in out
    assert "fourscore monitor promote bad-" in out
    assert main(["monitor", "alerts", "--limit", "3"]) == 0
    out = capsys.readouterr().out
    assert out.count("how sure") == 3
    assert main(["monitor", "alerts", "--open", "--json"]) == 0
    alerts = document(capsys)["alerts"]
    assert {one["open"] for one in alerts} == {True}  # type: ignore[attr-defined]
    assert "judge" in {one["stream"] for one in alerts}  # type: ignore[attr-defined]


def test_watch_shows_the_pass_rate_line_and_the_worst_interactions(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(60, 40)
    assert main(["monitor", "watch", "--once", "--json"]) == 0
    found = document(capsys)
    line = found["line"]
    assert isinstance(line, list)
    assert [rate for rate, _, _ in line] == [1.0] * 12 + [0.0] * 8
    worst = found["worst_recent"]
    assert isinstance(worst, list)
    assert worst[0]["id"] == "bad-39"
    assert main(["monitor", "watch", "--once"]) == 0
    out = capsys.readouterr().out
    assert "████████████▁▁▁▁▁▁▁▁" in out
    assert "bad-39" in out


@pytest.mark.parametrize("terminal", [True, False])
def test_watch_updates_until_interrupted(folder: Path, terminal: bool) -> None:
    fill(30, 3)
    command = str(Path(sys.executable).with_name("fourscore"))
    asked = [command, "monitor", "watch", "--every", "0.1"]
    reader, writer = pty.openpty() if terminal else os.pipe()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "80", "LINES": "30"}
    with subprocess.Popen(asked, stdout=writer, stdin=writer, env=environment) as process:
        os.close(writer)
        seen = b""
        while seen.count(b"monitor default") < 2:
            seen += os.read(reader, 65536)
        process.send_signal(signal.SIGINT)
        with suppress(OSError):  # how a terminal ends whose other side has gone
            while part := os.read(reader, 65536):
                seen += part
        assert process.wait() == 0
    os.close(reader)
    assert (b"\x1b[?1049l" in seen) == terminal  # the screen that was there before is back
    assert b"\x1b[31m\x07" not in seen


def test_ingest_scores_a_file_of_spans(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = {"gen_ai.operation.name": "chat", "gen_ai.prompt": "2+2?"}
    spans = [
        {
            "traceId": f"{number:032x}",
            "spanId": f"{number:016x}",
            "name": "chat",
            "startTimeUnixNano": "1700000000000000000",
            "attributes": [
                {"key": key, "value": {"stringValue": text}}
                for key, text in {**found, "gen_ai.completion": "\\boxed{4}"}.items()
            ],
        }
        for number in (1, 2, 3)
    ]
    line = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    Path("spans.jsonl").write_text(f"{line}\n")
    Path("rubric.yaml").write_text("dimensions:\n  structure: {judge: completeness}\n")
    asked = ["monitor", "ingest", "spans.jsonl", "--rubric", "rubric.yaml"]
    assert main([*asked, "--json"]) == 0
    done = document(capsys)
    assert (done["planned"], done["ingested"], done["broken"]) == (3, 3, 0)
    assert done["traces"] == {"scored": 3}
    Path("spans.jsonl").write_text(f"{line}\noops\n")
    assert main(asked) == 3
    captured = capsys.readouterr()
    assert "4 spans: 0 new, 0 twice, 3 late, 0 beyond a full trace, 1 broken" in captured.out
    assert "spans.jsonl:2: not JSON" in captured.err
    assert main([*asked, "--judge", "math"]) == 2
    assert main(["monitor", "ingest", "spans.jsonl", "--set", "a=1"]) == 2
    assert main(["monitor", "ingest", "none.jsonl"]) == 2


def test_sparkline_bars_and_colours() -> None:
    assert list(pass_rate_buckets([], 10)) == []
    text = sparkline([(1.0, 5, 0.0), (0.8, 5, 0.0), (0.5, 5, 0.0)], 0.85, 0.7)
    assert text.plain == "█▅▁"
    assert [span.style for span in text.spans] == ["green", "yellow", "red"]


def test_metrics_prints_prometheus_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(30)
    assert main(["monitor", "metrics"]) == 0
    assert "# TYPE fourscore_monitor_status gauge" in capsys.readouterr().out
    assert main(["monitor", "metrics", "--json"]) == 2


def test_promoted_interaction_is_a_case_that_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(30, 3)
    assert main(["monitor", "promote", "bad-1", "--to", "cases.jsonl", "--json"]) == 0
    assert document(capsys) == {"file": "cases.jsonl", "line": 1, "case": "bad-1"}
    assert main(["monitor", "promote", "bad-2", "--to", "cases.jsonl"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "cases.jsonl:2: bad-2\n"
    assert "no `expected` yet" in captured.err
    first, _ = CaseFile("cases.jsonl").cases()
    assert first.input == f"What is 1? {EVIL}"
    assert set(first.tags) >= {"a"}
    found = first.metadata["promoted"]
    assert (found["monitor"], found["interaction"], found["score"]) == ("default", "bad-1", 0.0)
    assert found["output"].startswith("bad ")
    Path("agent.py").write_text("def answer(input):\n    return 'an answer to it'\n")
    lines = ["from fourscore import judge", "@judge", "def said(case, trace):", "    return True"]
    Path("checks.py").write_text("\n".join(lines))
    Path("rubric.yaml").write_text("dimensions:\n  said: {judge: checks.py->said}\n")
    asked = ["--agent", "agent.py:answer", "--rubric", "rubric.yaml", "--json"]
    done = subprocess.run(
        [Path(sys.executable).with_name("fourscore"), "run", "--cases", "cases.jsonl", *asked],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ran = json.loads(done.stdout)
    assert (ran["total_tests"], ran["passed"]) == (2, 2)


def test_promote_refuses_the_same_interaction_twice(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(30, 3)

    def promote(id_: str) -> int:
        return main(["monitor", "promote", id_, "--to", "cases.jsonl"])

    assert promote("bad-1") == 0
    before = Path("cases.jsonl").read_bytes()
    assert promote("bad-1") == 2
    assert "cases.jsonl:1: 'bad-1' is in the file already" in capsys.readouterr().err
    assert promote("good-1") == 2  # the same question, of another interaction
    assert "has the same input" in capsys.readouterr().err
    assert Path("cases.jsonl").read_bytes() == before
    Path("cases.jsonl").write_bytes(b'{"id": "bad-2", "input": "x"}')  # no end of line
    assert promote("bad-2") == 2
    assert "another case has the id" in capsys.readouterr().err
    assert promote("bad-1") == 0
    assert [case.id for case in CaseFile("cases.jsonl").cases()] == ["bad-2", "bad-1"]


def test_promote_needs_a_stored_text(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(3, privacy=PrivacySettings(keep_text=None))
    assert main(["monitor", "promote", "good-1", "--to", "cases.jsonl"]) == 2
    assert "expired" in capsys.readouterr().err
    assert main(["monitor", "promote", "nobody", "--to", "cases.jsonl"]) == 2
    assert "no interaction 'nobody'" in capsys.readouterr().err
    assert not Path("cases.jsonl").exists()
    fill(3, name="kept")
    asked = ["monitor", "promote", "good-1", "--name", "kept", "--to"]
    assert main([*asked, "cases.csv"]) == 2
    assert ".jsonl" in capsys.readouterr().err
    assert main([*asked, "no/such/cases.jsonl"]) == 2


def test_deliver_sends_due_alerts_and_exits(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(0, 60)
    Path("monitor.yaml").write_text(
        "sinks:\n  log:\n  hook:\n    kind: webhook\n    url: http://127.0.0.1:9\n"
    )
    assert main(["monitor", "deliver", "--json"]) == 3
    found = document(capsys)
    assert found["exit_code"] == 3
    counts = found["monitors"]["default"]  # type: ignore[index]
    assert counts["sent"] > 0
    assert counts["failed"] == 1
    Path("monitor.yaml").write_text("sinks:\n  log:\n")
    assert main(["monitor", "deliver"]) == 0
    assert "0 sent, 0 failed" in capsys.readouterr().out
    assert main(["monitor", "status"]) == 1
    assert "hook sent 0, failed 1" in capsys.readouterr().out
    assert main(["monitor", "alerts"]) == 0
    assert "1 attempts failed: 127.0.0.1:9: no connection" in capsys.readouterr().out
    assert main(["monitor", "deliver", "--config", "no.yaml"]) == 2


def test_corrected_rate_needs_a_calibration_of_this_rubric(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(50, 10)
    Path("rubric.yaml").write_text("dimensions:\n  right: {judge: math}\n")
    asked = ["monitor", "status", "--calibration", "rubric.yaml"]
    assert main(asked) == 2
    assert "has no calibration" in capsys.readouterr().err
    calibration = {
        "judge": read_rubric("rubric.yaml").provenance.rubric, "data": "d", "date": "2026-01-02",
        "n": 100, "sensitivity": {"right": 45, "of": 50}, "specificity": {"right": 40, "of": 50},
    }  # fmt: skip
    write_section("rubric.yaml", "calibration", calibration)
    assert main([*asked, "--json"]) == 0
    found = document(capsys)["monitors"][0]["pass_rate_corrected"]  # type: ignore[index]
    assert found["value"] == pytest.approx((50 / 60 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert main(asked) == 0
    assert re.search(r"^corrected +90\.5% .*100 labels", capsys.readouterr().out, re.MULTILINE)
    write_section("rubric.yaml", "calibration", {**calibration, "judge": "another"})
    assert main(asked) == 2
    assert "has changed since its calibration" in capsys.readouterr().err


def test_dashboard_files_are_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["monitor", "dashboard", "--out", "grafana"]) == 0
    assert capsys.readouterr().out == "grafana/dashboard.json\ngrafana/rules.yaml\n"
    assert main(["monitor", "dashboard", "--out", "grafana", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["files"]) == 2
