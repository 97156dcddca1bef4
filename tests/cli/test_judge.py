"""`fourscore judge` as a command: rows, reward lines and exit codes."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import main

from .command import FOURSCORE
from .command import run_fourscore as fourscore

KEYS = ["task_id", "index", "raw_reward", "is_success", "status", "reason"]


@pytest.fixture(autouse=True)
def _change_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def row(task_id: str, *answers: str, answer: Any = "4", **output: Any) -> dict[str, Any]:
    metadata = {} if answer is None else {"answer": answer}
    outputs = [{"metadata": {"final_answer": text}, **output} for text in answers]
    return {"task": {"task_id": task_id, "metadata": metadata}, "outputs": outputs}


def write(*rows: dict[str, Any] | bytes, path: str = "rows.jsonl") -> str:
    lines = [given if isinstance(given, bytes) else json.dumps(given).encode() for given in rows]
    Path(path).write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def parse_lines(text: str | bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


RIGHT, WRONG = r"\boxed{4}", r"\boxed{5}"


def test_writes_a_line_for_each_output_in_the_order_of_the_input() -> None:
    data = write(row("b", RIGHT, WRONG), row("a", "no box"), row("c", RIGHT, answer=4))
    done = fourscore("judge", "--judge", "math", "--data", data)
    lines = parse_lines(done.stdout)
    assert [list(line) for line in lines] == [KEYS] * 4
    assert [tuple(line.values())[:5] for line in lines] == [
        ("b", 0, 1.0, True, "scored"),
        ("b", 1, 0.0, False, "scored"),
        ("a", 0, 0.0, False, "scored"),
        ("c", 0, 1.0, True, "scored"),
    ]
    assert "no \\boxed" in lines[2]["reason"]
    assert "rows: 3; 4 planned = 4 scored" in done.stderr
    assert done.returncode == 0


def test_keeps_a_reward_that_the_row_has() -> None:
    rows = [
        row("full", WRONG, reward=1.0),
        row("half", RIGHT, reward=0.5),
        row("given", RIGHT, reward=0.2, is_success=True),
        row("none", RIGHT, reward=None),
        row("no reference", RIGHT, answer=None, reward=3),
    ]
    done = fourscore("judge", "--judge", "math", "--data", write(*rows))
    assert [(line["raw_reward"], line["is_success"]) for line in parse_lines(done.stdout)] == [
        (1.0, True),
        (0.5, False),
        (0.2, True),
        (1.0, True),
        (3.0, True),
    ]
    assert done.returncode == 0


def test_a_task_without_a_reference_is_a_judge_error_not_zero() -> None:
    data = write(row("good", RIGHT), row("bad", RIGHT, answer=None), row("last", WRONG))
    done = fourscore("judge", "--judge", "math", "--data", data)
    first, bad, last = parse_lines(done.stdout)
    assert (bad["raw_reward"], bad["is_success"], bad["status"]) == (None, None, "judge_error")
    assert "'bad'" in bad["reason"]
    assert "metadata.answer" in bad["reason"]
    assert (first["raw_reward"], last["raw_reward"]) == (1.0, 0.0)
    assert done.returncode == 3


def test_set_overrides_the_options_of_a_configuration() -> None:
    Path("config.yaml").write_text(
        "ajet:\n  task_judge:\n    judge_protocol: "
        "tutorial.example_countdown.countdown_answer_as_judge->CountdownAnswerAsJudge\n"
    )
    puzzle = {"task": {"task_id": "p", "metadata": {"target": 10, "nums": [2, 3, 4]}}}
    answers = ["<answer>2*3+4</answer>", "<answer>2+3+4</answer>", "no idea"]
    outputs = [{"metadata": {"final_answer": answer}} for answer in answers]
    data = write({**puzzle, "outputs": outputs})
    by_file = fourscore("judge", "config.yaml", "--data", data)
    assert [line["raw_reward"] for line in parse_lines(by_file.stdout)] == [1.0, 0.1, 0.0]
    by_name = fourscore(
        "judge", "--judge", "countdown", "--set", "format_score=0.2", "--data", data
    )
    both = fourscore("judge", "config.yaml", "--set", "format_score=0.2", "--data", data)
    assert [line["raw_reward"] for line in parse_lines(by_name.stdout)] == [1.0, 0.2, 0.0]
    assert by_name.stdout == both.stdout


@pytest.mark.parametrize("way", ["pipe", "file"])
def test_reads_rows_from_stdin(way: str) -> None:
    data = write(row("a", RIGHT), row("b", WRONG))
    words = ["judge", "--judge", "math", "--data", "-"]
    if way == "pipe":
        done = fourscore(*words, input=Path(data).read_text())
    else:
        with Path(data).open("rb") as stream:
            done = fourscore(*words, stdin=stream)
    assert [line["raw_reward"] for line in parse_lines(done.stdout)] == [1.0, 0.0]
    assert done.returncode == 0


def test_a_broken_row_in_a_pipe_ends_with_2_and_leaves_no_file() -> None:
    text = json.dumps(row("a", RIGHT)) + "\n{\n"
    done = fourscore("judge", "--judge", "math", "--data", "-", "--out", "out.jsonl", input=text)
    assert done.returncode == 2
    assert "stdin:2: not a JSON object" in done.stderr
    assert list(Path().iterdir()) == []


MARKS = """
from pathlib import Path
def marks(case, trace):
    Path("called").touch()
    return 1.0
"""


@pytest.mark.parametrize("way", ["path", "redirected"])
def test_a_broken_row_is_found_before_the_first_judge_runs(way: str) -> None:
    Path("marks.py").write_text(MARKS)
    Path("out.jsonl").write_text("precious\n")
    broken = row("c", "x")
    broken["outputs"].append({"reward": "much"})
    data = write(row("a", "x"), b"", row("b", "x"), broken, path="some.jsonl")
    words = ["judge", "--judge", "marks.py->marks", "--out", "out.jsonl", "--data"]
    if way == "path":
        done = fourscore(*words, data)
    else:
        with Path(data).open("rb") as stream:
            done = fourscore(*words, "-", stdin=stream)
    name = data if way == "path" else "stdin"
    assert f"fourscore: {name}:4: outputs[1].reward: expected" in done.stderr
    assert done.returncode == 2
    assert done.stdout == ""
    assert not Path("called").exists()
    assert Path("out.jsonl").read_text() == "precious\n"
    assert {path.name for path in Path().iterdir()} - {"__pycache__"} == {
        "marks.py",
        "out.jsonl",
        "some.jsonl",
    }


@pytest.mark.parametrize("text", [b"", b"\n \r\n\n", b"\xef\xbb\xbf"])
def test_refuses_a_file_without_rows(text: bytes) -> None:
    Path("rows.jsonl").write_bytes(text)
    done = fourscore("judge", "--judge", "math", "--data", "rows.jsonl", "--out", "out.jsonl")
    assert done.returncode == 2
    assert "fourscore: rows.jsonl: the file has no rows" in done.stderr
    assert not Path("out.jsonl").exists()


def test_out_has_the_lines_that_stdout_would_have(capfdbinary: Any) -> None:
    data = write(row("a", RIGHT), row("b", WRONG))
    assert main(["judge", "--judge", "math", "--data", data]) == 0
    shown = capfdbinary.readouterr().out
    Path("out.jsonl").write_text("old")
    assert main(["judge", "--judge", "math", "--data", data, "--out", "out.jsonl"]) == 0
    assert Path("out.jsonl").read_bytes() == shown
    assert capfdbinary.readouterr().out == b""
    assert {path.name for path in Path().iterdir()} == {"rows.jsonl", "out.jsonl"}


def test_json_document_counts_every_output() -> None:
    data = write(row("a", RIGHT, WRONG, "?"), row("b", RIGHT, answer=None))
    done = fourscore("judge", "--judge", "math", "--data", data, "--out", "out.jsonl", "--json")
    document = json.loads(done.stdout)
    assert done.stdout.count("\n") == 1
    assert document["planned"] == sum(document["statuses"].values()) == 4
    assert document["statuses"]["scored"] == document["measured"] == 3
    assert document["statuses"]["judge_error"] == 1
    assert (document["rows"], document["successes"]) == (2, 1)
    assert document["success_rate"] == pytest.approx(1 / 3)
    assert document["mean_reward"] == pytest.approx(1 / 3)
    low, high = document["success_rate_interval"]
    assert low < 1 / 3 < high
    assert document["exit_code"] == done.returncode == 3
    assert len(parse_lines(Path("out.jsonl").read_text())) == 4


def test_json_needs_out_for_the_rewards() -> None:
    done = fourscore("judge", "--judge", "math", "--data", write(row("a", RIGHT)), "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["field"] == "--json"
    assert "--out" in done.stderr


def test_json_error_names_file_line_and_field() -> None:
    data = write(row("a", RIGHT), b'{"task": {"metadata": 1}}')
    done = fourscore("judge", "--judge", "math", "--data", data, "--out", "o", "--json")
    error = json.loads(done.stdout)["error"]
    assert (error["file"], error["line"], error["field"]) == (data, 2, "task.metadata")
    assert done.returncode == 2


def test_refuses_a_rubric_file_in_the_place_of_a_configuration() -> None:
    Path("rubric.yaml").write_text("dimensions:\n  math: {}\n")
    done = fourscore("judge", "rubric.yaml", "--data", write(row("a", RIGHT)))
    assert done.returncode == 2
    message = "this is a rubric's file, not a configuration: give it as --rubric"
    assert f"rubric.yaml:1: dimensions: {message}" in done.stderr


def test_a_skipped_row_has_the_reason_of_its_judge() -> None:
    output = {"metadata": {"final_answer": "The capital is Rome."}}
    tasks: list[dict[str, object]] = [{}, {"answer": "Rome"}]
    query = "What is the capital of Italy?"
    rows = [{"task": {"main_query": query, "metadata": m}, "output": output} for m in tasks]
    data = write(*rows)
    done = fourscore("judge", "--judge", "factual_accuracy", "--data", data)
    without, with_answer = map(json.loads, done.stdout.splitlines())
    assert without["status"] == "skipped"
    assert without["reason"] == (
        "nothing applicable: factual_accuracy: the case expects neither claims nor an answer"
    )
    assert (with_answer["raw_reward"], with_answer["status"]) == (1.0, "scored")


def test_judges_rows_by_the_dimensions_of_a_rubric_file() -> None:
    Path("both.yaml").write_text(
        "dimensions:\n  right: {judge: math, weight: 3}\n"
        "  short: {judge: short.py->short, weight: 1}\n"
    )
    Path("short.py").write_text(
        "from fourscore import judge\n@judge\ndef short(case, trace):\n    return 0.2\n"
    )
    done = fourscore("judge", "--rubric", "both.yaml", "--data", write(row("a", RIGHT)))
    assert (done.returncode, json.loads(done.stdout)["raw_reward"]) == (0, 0.8), done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--judge", "mth"], "'mth' is no judge"),
        (["--judge", "research"], "or use fourscore run --agent recorded"),
        (["--judge", "ok.yaml"], "ok.yaml is a rubric file: give it as --rubric"),
        (["--judge", "nowhere.py->f"], "no such file"),
        ([], "give one of: a CONFIG file, --judge NAME, --rubric FILE"),
        (
            ["config.yaml", "--judge", "math"],
            "give one of: a CONFIG file, --judge NAME, --rubric FILE",
        ),
        (["config.yaml", "--rubric", "r.yaml"], "give one of: a CONFIG file"),
        (["--rubric", "none.yaml"], "none.yaml: No such file"),
        (["--rubric", "r.yaml", "--set", "a=1"], "--set: use it with --judge only"),
        (["config.yaml"], "config.yaml: No such file"),
        (["--judge", "countdown", "--set", "format_scor=1"], "did you mean format_score?"),
        (["--judge", "countdown", "--set", "format_score"], "expected KEY=VALUE"),
        (["--judge", "math", "--deadline", "0"], "--deadline"),
        (["--judge", "math", "--workers", "0"], "--workers"),
        (["--judge", "math", "--out", "no/such/folder/out"], "no/such/folder/out: No such"),
    ],
)
def test_exits_with_2_on_bad_usage(words: list[str], message: str) -> None:
    done = fourscore("judge", *words, "--data", write(row("a", RIGHT)))
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("data", ["missing.jsonl", "."])
def test_refuses_data_that_cannot_be_opened(data: str) -> None:
    done = fourscore("judge", "--judge", "math", "--data", data)
    assert done.returncode == 2
    assert done.stderr.startswith(f"fourscore: {data}: ")


@pytest.mark.parametrize("end", [b"\r\n", b"\n\n \n"])
def test_ignores_line_endings_byte_order_marks_and_blank_lines(
    end: bytes, capfdbinary: Any
) -> None:
    lines = [json.dumps(row(name, RIGHT)).encode() for name in "ab"]
    Path("rows.jsonl").write_bytes(b"\xef\xbb\xbf" + end.join(lines))
    assert main(["judge", "--judge", "math", "--data", "rows.jsonl"]) == 0
    assert [line["task_id"] for line in parse_lines(capfdbinary.readouterr().out)] == ["a", "b"]


def test_replaces_and_counts_lone_surrogates() -> None:
    data = write(
        rb'{"task": {"task_id": "\ud800", "metadata": {"answer": "4"}}, '
        rb'"output": {"metadata": {"final_answer": "\udfff \\boxed{4}"}}}'
    )
    done = fourscore("judge", "--judge", "math", "--data", data, "--out", "o", "--json")
    assert parse_lines(Path("o").read_text())[0]["task_id"] == "\ufffd"
    assert json.loads(done.stdout)["surrogates_replaced"] == 2
    assert "lone surrogates read as U+FFFD: 2" in done.stderr
    assert done.returncode == 0


HOSTILE = {
    "open braces": "\\boxed" + "{" * 100_000,
    "many boxes": "\\boxed{" * 100_000,
    "closed braces": "\\boxed{4" + "}" * 100_000,
    "ten megabytes": "x" * 10_000_000,
    "ten megabytes in a box": "\\boxed{" + "9" * 10_000_000 + "}",
    "thinking": "<think>" * 100_000,
    "answers": "<answer>" * 100_000,
    "null bytes": "\0" * 1000 + "\\boxed{\0}",
    "powers": "\\boxed{9**9**9**9**9}",
    "code": "\\boxed{__import__('os').system('touch called')}",
    "parentheses": "\\boxed{" + "(" * 150 + "1" + ")" * 150 + "}",
    "unicode digits": "\\boxed{１+２+𝟟+٣}",
    "lone surrogate": "\\boxed{\ud800}",
    "minus signs": "\\boxed{" + "-" * 150 + "4}",
}


@pytest.mark.parametrize("judge", ["math", "countdown"])
def test_hostile_answers_get_a_reward_line(judge: str) -> None:
    task = {"task_id": "t", "metadata": {"answer": "7", "target": 7, "nums": [3, 4]}}
    outputs = [{"metadata": {"final_answer": text}} for text in HOSTILE.values()]
    data = write({"task": task, "outputs": outputs})
    done = fourscore("judge", "--judge", judge, "--data", data)
    lines = parse_lines(done.stdout)
    assert done.returncode == 0
    for name, line in zip(HOSTILE, lines, strict=True):
        assert (name, line["status"], line["is_success"]) == (name, "scored", False)
        assert len(line["reason"]) < 300
    assert not Path("called").exists()


def test_main_reads_rows_from_a_replaced_stdin(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    stdin = io.TextIOWrapper(io.BytesIO(json.dumps(row("a", RIGHT)).encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert main(["judge", "--judge", "math", "--data", "-"]) == 0
    assert parse_lines(capfdbinary.readouterr().out)[0]["raw_reward"] == 1.0


def test_help_lists_exit_codes_and_version_prints_the_version() -> None:
    shown = fourscore("--help")
    assert "judge" in shown.stdout
    assert "3 incomplete" in shown.stdout
    assert fourscore("--version").stdout.startswith("fourscore 0.")
    for option in ("--data", "--out", "--json", "--set", "--deadline"):
        assert option in fourscore("judge", "--help").stdout


def test_prints_the_help_without_a_command() -> None:
    done = fourscore()
    assert done.returncode == 0
    assert done.stdout == fourscore("--help").stdout


def test_prints_no_traceback_when_the_reader_closes_the_pipe() -> None:
    data = write(*[row(str(i), RIGHT) for i in range(5000)])
    with subprocess.Popen(
        [FOURSCORE, "judge", "--judge", "math", "--data", data],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["task_id"] == "0"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) != 0
