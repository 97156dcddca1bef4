"""Nothing that others wrote commands a terminal: hostile text in every field of every input.

OSC 52 replaces the clipboard, in its seven-bit and its eight-bit (C1) form; a bidirectional
override hides what follows it; square brackets are markup for rich.
"""

import copy
import csv
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from fourscore.cli.main import main
from fourscore.core import Case, Trace, judge
from fourscore.evolve.folder import Evolution
from fourscore.formats.plain_text import escape_controls, escape_json, make_printable
from fourscore.monitor.monitor import ProductionMonitor
from fourscore.monitor.settings import JudgingSettings
from fourscore.report.run_panel import print_run
from fourscore.report.terminal import PlainConsole
from fourscore.stores.run import RunInfo
from fourscore.stores.sqlite import Store
from fourscore.test.run import summarize_run

from .command import run_fourscore

EVIL = "\x1b]52;c;aGk=\x07\x9d52;c;aGk=\x9c\u202e[bold red]x[/] \x7f\r"
COMMANDS_A_TERMINAL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
RUBRIC = {"name": "doubling", "pass_threshold": 0.5, "dimensions": {"right": {"judge": "math"}}}
CASE = {"id": "c1", "input": "1 + 1?", "expected": "2", "tags": ["a"], "metadata": {"level": 1}}
LABELLED = {**CASE, "output": "\\boxed{2}", "label": True}
ROW = {
    "task": {"task_id": "t", "main_query": "q", "metadata": {"answer": "2"}},
    "output": {"metadata": {"final_answer": "\\boxed{2}"}},
}
SAMPLE = {"main_query": "q", "metadata": {"answer": "a", "score": 8}}
CONFIG = {
    "fourscore": {"cases": "cases.jsonl", "rubric": "rubric.yaml", "agent": "agent.py:answer"}
}
SINKS = {"sinks": [{"kind": "log"}]}
RECORD = {"ts": "2026-01-05T10:00:00Z", "tool": "Read", "exit": "1", "session": "s", "error": "e"}
HOOK = {
    "hook_event_name": "PostToolUse",
    "session_id": "s",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_response": {"stdout": "x", "exit_code": 1},
}
MESSAGES = {
    "messages": [
        {"role": "user", "content": "q"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "r"},
        {"role": "assistant", "content": "done"},
    ]
}
TRANSCRIPT = {
    "type": "assistant",
    "sessionId": "s",
    "timestamp": "2026-01-05T10:00:00Z",
    "message": {"role": "assistant", "content": [{"type": "text", "text": "hi"}]},
}
SPANS = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "traceId": "0" * 31 + "1",
                            "spanId": "0" * 15 + "1",
                            "name": "chat",
                            "startTimeUnixNano": "1",
                            "endTimeUnixNano": "2",
                            "attributes": [
                                {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}
                            ],
                        }
                    ]
                }
            ]
        }
    ]
}
INSPECT = {
    "status": "success",
    "eval": {"task": "t", "model": "m"},
    "samples": [{"id": 1, "epoch": 1, "input": "q", "output": {"completion": "a"}, "messages": []}],
}
SUMMARY = {"execution": {"tool_calls": 3, "errors": 1, "duration_seconds": 5}}


def mutate(value: Any, path: tuple[Any, ...] = ()) -> Iterator[Callable[[Any], Any]]:
    """Functions that put the hostile text into each place of a document, as value and as key."""

    def put(change: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
        def apply(document: Any) -> Any:
            found = copy.deepcopy(document)
            at = found
            for step in path[:-1]:
                at = at[step]
            change(at, path[-1])
            return found

        return apply

    if path:
        yield put(lambda at, key: at.__setitem__(key, EVIL))
        yield put(lambda at, key: at.__setitem__(key, {EVIL: EVIL}))
        yield put(lambda at, key: at.__setitem__(key, [EVIL, 7]))
        if isinstance(path[-1], str):
            yield put(lambda at, key: at.__setitem__(EVIL, at.pop(key)))
            yield put(lambda at, key: at.__setitem__(EVIL, EVIL))
    for key, item in value.items() if isinstance(value, dict) else ():
        yield from mutate(item, (*path, key))
    for position, item in enumerate(value) if isinstance(value, list) else ():
        yield from mutate(item, (*path, position))


def as_lines(document: Any) -> str:
    return json.dumps(document) + "\n"


def as_list(document: Any) -> str:
    return json.dumps([document], ensure_ascii=False)


def as_raw(document: Any) -> str:
    """Not JSON: the control characters are raw in the file."""
    return as_lines(document).replace(json.dumps(EVIL)[1:-1], EVIL)


def as_csv(document: Any) -> str:
    out = io.StringIO()
    table = csv.writer(out)
    table.writerow(document)
    table.writerow(v if isinstance(v, str) else f"json:{json.dumps(v)}" for v in document.values())
    return out.getvalue()


RUN = ["run", "--rubric", "rubric.yaml", "--agent", "agent.py:answer", "--dry-run", "--cases"]
CALIBRATE = ["calibrate", "--judge", "math", "--labels"]
ATTACK = ["attack", "--judge", "math", "--per-family", "1"]
LEARN = ["rubric", "learn", "--dry-run", "--model", "openai:m", "--base-url", "http://127.0.0.1:9"]
MONITOR = ["monitor", "deliver", "--store", "monitor.db"]
#: The command for a file, the document in it, and how it is written.
INPUTS: dict[str, tuple[list[str], str, Any, Callable[[Any], str]]] = {
    "cases.jsonl": (RUN, "cases.jsonl", CASE, as_lines),
    "cases.json": (RUN, "cases.json", CASE, as_list),
    "cases.yaml": (RUN, "cases.yaml", CASE, lambda d: json.dumps([d])),
    "cases.csv": (RUN, "cases.csv", CASE, as_csv),
    "raw cases": (RUN, "cases.jsonl", CASE, as_raw),
    "raw yaml": (RUN, "cases.yaml", CASE, as_raw),
    "labels": (CALIBRATE, "labels.jsonl", LABELLED, as_lines),
    "labels in csv": (CALIBRATE, "labels.csv", LABELLED, as_csv),
    "attacked": ([*ATTACK, "--labels"], "l.jsonl", LABELLED, as_lines),
    "rows": (["judge", "--judge", "math", "--workers", "1", "--data"], "r.jsonl", ROW, as_lines),
    "samples": ([*LEARN, "--data"], "s.jsonl", SAMPLE, as_lines),
    "rubric": ([*RUN[:1], *RUN[3:], "cases.jsonl", "--rubric"], "r.yaml", RUBRIC, as_lines),
    "config": (["run", "--dry-run"], "config.yaml", CONFIG, as_lines),
    "judge config": (["judge", "--data", "rows.jsonl"], "config.yaml", CONFIG, as_lines),
    "sinks": ([*MONITOR, "--config"], "sinks.yaml", SINKS, as_lines),
    **{
        name: (["score", "--skip-broken"] if skip else ["score"], "log.jsonl", document, write)
        for name, document, write, skip in (
            ("executions", RECORD, as_lines, False),
            ("execution list", RECORD, as_list, False),
            ("broken executions", RECORD, lambda d: as_lines(d) + as_raw(d) * 2, True),
            ("hooks", HOOK, as_lines, False),
            ("hook list", HOOK, as_list, False),
            ("messages", MESSAGES, as_lines, False),
            ("transcript", TRANSCRIPT, as_lines, False),
            ("inspect", INSPECT, as_lines, False),
            ("summary", SUMMARY, as_lines, False),
            ("summary in yaml", SUMMARY, lambda d: "# \n" + as_lines(d), False),
        )
    },
}  # fmt: skip

#: Inputs whose errors name known fields only, or that are read without an error.
UNQUOTED = {"raw cases", "raw yaml", "samples", "config", "judge config", "messages", "transcript"}
UNQUOTED |= {"inspect", "summary", "summary in yaml", "spans", "spans to ingest"}


def call(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints; it may refuse its input, and may not crash."""
    capsys.readouterr()
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(str(ended.code))
    out, err = capsys.readouterr()
    assert code in (0, 1, 2, 3), (code, out, err)
    assert "Traceback" not in out + err
    found = COMMANDS_A_TERMINAL.search(out + err)
    assert found is None, (words, out, err)
    if "--json" in words and out:
        json.loads(out)
    return out + err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text("def answer(asked): return '\\\\boxed{2}'\n")
    Path("rubric.yaml").write_text(json.dumps(RUBRIC))
    Path("cases.jsonl").write_text(as_lines(CASE))
    Path("rows.jsonl").write_text(as_lines(ROW))
    return tmp_path


@pytest.mark.parametrize("name", INPUTS)
def test_no_field_of_a_file_reaches_the_terminal_raw(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, file, document, write = INPUTS[name]
    if "monitor.db" in words:
        fill_monitor()
    quoted = 0
    for change in mutate(document):
        Path(file).write_text(write(change(document)))
        quoted += "52;c;" in call([*words, file], capsys)
        if "judge" not in words:
            call([*words, file, "--json"], capsys)
    assert quoted or name in UNQUOTED, "no message quoted the text: the test sees nothing"


@judge
def fine(case: Case, trace: Trace) -> bool:
    if "x" not in trace.answer:
        raise RuntimeError(EVIL)
    return False


def fill_monitor() -> None:
    settings: dict[str, Any] = {"judging": JudgingSettings(workers=1)}
    with ProductionMonitor(1.0, rubric=fine, store="monitor.db", name=EVIL, **settings) as monitor:
        for number in range(80):
            monitor.observe(EVIL, EVIL, id=f"{EVIL}{number}", tags=[EVIL])
        assert monitor.flush(120)


def test_no_field_of_a_monitor_reaches_the_terminal_raw(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill_monitor()
    one = f"{EVIL}0"
    for words in (
        ["status"],
        ["alerts"],
        ["watch", "--once"],
        ["metrics"],
        ["promote", one, "--to", "new.jsonl"],
        ["promote", EVIL, "--to", "new.jsonl"],
        ["status", "--name", EVIL],
        ["status", "--store", EVIL],
    ):
        name = [] if "--name" in words else ["--name", EVIL]
        call(["monitor", *words, *name], capsys)
        if words[0] != "metrics":
            call(["monitor", *words, *name, "--json"], capsys)


def test_no_field_of_a_run_reaches_the_terminal_raw(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("agent.py").write_text(
        f"EVIL = {EVIL!r}\ndef answer(asked):\n    if 'crash' in asked: raise ValueError(EVIL)\n"
        "    return {'output': EVIL, 'steps': [{'name': EVIL, 'arguments': {EVIL: EVIL}}]}\n"
    )
    Path("rubric.yaml").write_text(
        json.dumps({**RUBRIC, "name": EVIL, "dimensions": {EVIL: {"judge": "math"}}})
    )
    evil = {"expected": EVIL, "tags": [EVIL], "complexity": EVIL, "metadata": {EVIL: EVIL}}
    cases = [{"id": EVIL, "input": EVIL, **evil}, {"id": "2", "input": "crash", **evil}]
    Path("cases.jsonl").write_text("".join(map(as_lines, cases)))
    printed = ""
    for extra in ([], ["--json"], ["--gate", "pass_rate>=0.9"]):
        done = run_fourscore(
            *RUN[:5], "--cases", "cases.jsonl", "--name", EVIL, "--label", "a=1", *extra
        )
        assert done.returncode in (0, 1, 3), done.stderr
        assert COMMANDS_A_TERMINAL.search(done.stdout + done.stderr) is None
        printed += done.stdout
    assert "52;c;" in printed
    with Store(".fourscore/runs.db") as store:
        first, second = (info.id for info in store.runs()[:2])
    for words in (
        ["runs"],
        ["show", first],
        ["show", first, EVIL],
        ["show", first, "2"],
        ["show", EVIL],
        ["show", first, "--scores", EVIL],
        ["label", first, EVIL, "pass", "--who", EVIL, "--note", EVIL],
        ["show", first, EVIL],
        ["compare", first, second],
        ["compare", first, EVIL],
        ["rescore", first, "--rubric", "rubric.yaml"],
        ["calibrate", "--run", first],
        ["evolve", "decide", first, second],
        ["runs", "--store", EVIL],
        [*RUN[:5], "--cases", "cases.jsonl", "--resume", EVIL],
        [*RUN[:5], "--cases", "cases.jsonl", "--resume", first, "--retry", EVIL],
        [*RUN[:5], "--cases", "cases.jsonl", "--resume", first, "--name", "other"],
    ):
        call(words, capsys)
        call([*words, "--json"], capsys)


def test_no_field_of_an_evolution_reaches_the_terminal_raw(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("prompt.md").write_text(f"Answer.\n{EVIL}\n")
    call(["evolve", "init", "--prompt", "prompt.md"], capsys)
    with Evolution(folder / "evolution") as evolution:
        evolution.add(f"{EVIL}\n", strategy=EVIL, risk="low", why=EVIL)
    actions = [["status"], ["versions"], ["versions", "1"], ["versions", "2"], ["history"]]
    for words in actions:
        call(["evolve", *words], capsys)
        call(["evolve", *words, "--json"], capsys)
    log = Path("evolution/log.jsonl")
    events = log.read_text().splitlines()
    for change in mutate(json.loads(events[-1])):
        log.write_text("\n".join([*events[:-1], json.dumps(change(json.loads(events[-1])))]) + "\n")
        call(["evolve", "history"], capsys)
    log.write_text("\n".join(events) + "\n")
    settings = Path("evolution/evolution.yaml")
    settings.write_text(json.dumps({EVIL: EVIL}))
    call(["evolve", "status"], capsys)


@pytest.mark.parametrize(
    "words",
    [
        [EVIL],
        ["run", EVIL],
        ["run", f"--{EVIL}"],
        ["run", "--repeats", EVIL],
        [*RUN, EVIL],
        [*RUN[:3], "--agent", EVIL, "--cases", "cases.jsonl"],
        [*RUN, "cases.jsonl", "--filter", EVIL],
        [*RUN, "cases.jsonl", "--filter", f'id == "{EVIL}'],
        [*RUN, "cases.jsonl", "--gate", EVIL],
        [*RUN, "cases.jsonl", "--where", EVIL],
        [*RUN, "cases.jsonl", "--budget", EVIL],
        ["judge", "--judge", EVIL, "--data", "rows.jsonl"],
        ["judge", "--judge", f"{EVIL}->x", "--data", "rows.jsonl"],
        ["judge", "--judge", "math", "--set", f"{EVIL}=1", "--data", "rows.jsonl"],
        ["judge", "--judge", "math", "--set", f"match={EVIL}", "--data", "rows.jsonl"],
        ["judge", "--judge", "math", "--data", EVIL],
        ["score", EVIL],
        ["schema", EVIL],
        ["init", f"{EVIL}/x"],
        ["evolve", "status", "--dir", EVIL],
        ["monitor", EVIL],
        ["calibrate", "--judge", "math", "--labels", EVIL],
        ["serve", "--judge", EVIL],
        ["attack", "--judge", "math", "--family", EVIL],
        ["rubric", "learn", "--data", EVIL, "--model", EVIL],
        ["completion", EVIL],
    ],
)
def test_no_word_of_a_command_line_is_echoed_raw(
    words: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(words, capsys)
    call([*words, "--json"], capsys)


def test_panels_of_a_terminal_have_only_our_own_colours(folder: Path) -> None:
    with Store("runs.db") as store:
        info = store.start(RunInfo(name=EVIL, agent=EVIL, rubric_fingerprint="r"))
        document = {**summarize_run(store, info.id), "gates": [{"met": False, "reason": EVIL}]}
    console, file = PlainConsole(), io.StringIO()
    vars(console).update(
        vars(
            Console(
                file=file, force_terminal=True, width=100, markup=False, color_system="standard"
            )
        )
    )
    print_run(info, document, to=console)
    console.print(EVIL)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())
    assert COMMANDS_A_TERMINAL.search(shown) is None
    assert shown.count("[bold red]x[/]") == 3  # not read as markup, in the title either


def test_all_printing_goes_through_one_module() -> None:
    """`sys.stdout.write` and `print` would print raw what others wrote."""
    source = Path(__file__).parents[2] / "src/fourscore"
    allowed = {"report/streams.py", "formats/atomic_file.py"}
    for folder in ("cli", "report", "server", "monitor", "labels", "train", "formats", "evolve"):
        for path in (source / folder).rglob("*.py"):
            name = path.relative_to(source).as_posix()
            if name in allowed or "_files/" in name:
                continue
            raw = re.findall(
                r"sys\.std(?:out|err)\.(?:buffer\.)?write|(?<![.\w])print\(", path.read_text()
            )
            assert not raw, f"{name}: print with fourscore.report.streams"


def test_escapes_what_a_terminal_obeys_and_nothing_else() -> None:
    for text in (
        "plain",
        "日本語　全角",
        "é\u0301",
        "می\u200cخواهم",
        "👩\u200d💻",
        "a\u00a0b",
        '\\"',
    ):
        assert escape_controls(text) == make_printable(text) == text
    assert escape_controls("a\nb\tc") == "a\\nb\\tc"
    assert escape_controls("a\nb\tc\x1b", lines=True) == "a\nb\tc\\x1b"
    assert make_printable("x" * 50, 10) == "x" * 9 + "…"
    for number in range(0x110000):
        sign = chr(number)
        if COMMANDS_A_TERMINAL.match(sign):
            assert escape_controls(sign).isascii()
            raw = json.dumps({sign: sign}, ensure_ascii=False).encode()
            assert COMMANDS_A_TERMINAL.search(escape_json(raw).decode()) is None
            assert json.loads(escape_json(raw)) == {sign: sign}
