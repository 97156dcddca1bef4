"""A user's judge under `fourscore judge`: whatever it does, it costs its own row and no other."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli.main import main
from fourscore.train import judge_pool

JUDGE = '''
import asyncio, ctypes, os, sys, time
from ajet.task_judge.base_judge import BaseJudge
from ajet.workflow import WorkflowOutput, WorkflowTask


class Similarity(BaseJudge):
    """The share of words that answer and reference have in common."""

    def __init__(self, config):
        super().__init__(config)
        self.threshold = 0.8

    def compute_reward(self, workflow_task: WorkflowTask, workflow_output: WorkflowOutput):
        given = workflow_output.metadata.get("final_answer", "").split()
        wanted = workflow_task.task.metadata.get("answer", "").split()
        alike = len(set(given) & set(wanted)) / max(len(given), len(wanted), 1)
        return alike, alike >= self.threshold


class Hostile(BaseJudge):
    def compute_reward(self, workflow_task, workflow_output):
        match workflow_output.metadata.get("do"):
            case "raise":
                raise ValueError("out of order")
            case "say nothing":
                return None
            case "say rubbish":
                return {"score": 1}
            case "say infinity":
                return float("inf"), True
            case "exit":
                sys.exit(4)
            case "exit at once":
                os._exit(5)
            case "segfault":
                ctypes.string_at(0)
            case "close everything":
                os.closerange(0, 1000)
            case "close the loop's files":
                for fd in range(3, 1000):
                    link = f"/proc/self/fd/{fd}"
                    if os.path.islink(link) and "eventpoll" in os.readlink(link):
                        os.close(fd)
            case "sleep":
                time.sleep(3600)
            case "hold the interpreter":
                ctypes.PyDLL(None).sleep(3600)
            case "print":
                print("a line that is no reward")
            case "write on its input":
                workflow_task.task.metadata["answer"] = workflow_output.metadata["do"] = "gone"
        return 0.5, True


class Waiting(BaseJudge):
    async def compute_reward(self, workflow_task, workflow_output):
        if workflow_output.metadata.get("do") == "sleep":
            await asyncio.sleep(3600)
        await asyncio.sleep(0.001)
        return 0.5, True


def number(case, trace, *, times=1.0):
    return float(trace.answer) * times
'''


@pytest.fixture(autouse=True)
def _write_judge_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(JUDGE)


def judge_rows(rows: list[Any], judge: str, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """The exit code and the reward lines, one for each output, in order."""
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code = main(["judge", "--judge", judge, "--data", "rows.jsonl", "--out", "out", *words])
    lines = [json.loads(line) for line in Path("out").read_text().splitlines()]
    assert [line["task_id"] for line in lines] == [row["task"]["task_id"] for row in rows]
    return code, lines


def make_rows(*deeds: str) -> list[Any]:
    return [
        {"task": {"task_id": f"{i}"}, "output": {"metadata": {"do": deed}}}
        for i, deed in enumerate(deeds)
    ]


SCORED = (0.5, True, "scored")
LOST = (None, None, "judge_error")


def list_results(lines: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(line["raw_reward"], line["is_success"], line["status"]) for line in lines]


@pytest.mark.parametrize("module", ["ajet", "fourscore"])
def test_the_similarity_judge_of_the_tutorial_gives_its_rewards(module: str) -> None:
    Path("mine.py").write_text(JUDGE.replace("from ajet.", f"from {module}."))
    task = {"task_id": "s", "metadata": {"answer": "the cat sat"}}
    rows = [
        {"task": task, "output": {"metadata": {"final_answer": answer}}}
        for answer in ("the cat sat", "the dog sat", "")
    ]
    code, lines = judge_rows(rows, "mine.py->Similarity")
    assert code == 0
    assert [line["raw_reward"] for line in lines] == [1.0, pytest.approx(2 / 3), 0.0]
    assert [line["is_success"] for line in lines] == [True, False, False]


def test_set_gives_options_to_a_judge_function() -> None:
    rows = [
        {"task": {"task_id": text}, "output": {"metadata": {"final_answer": text}}}
        for text in ("0.5", "1", "3", "x")
    ]
    code, lines = judge_rows(rows, "mine.py->number", "--set", "times=0.5")
    assert code == 3
    assert list_results(lines)[:3] == [
        (0.25, False, "scored"),
        (0.5, False, "scored"),
        (1.5, True, "scored"),
    ]
    assert list_results(lines)[3] == LOST
    assert "could not convert string to float: 'x'" in lines[3]["reason"]


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("raise", "Hostile: ValueError: out of order"),
        ("say nothing", "judge 'Hostile' returned None"),
        ("say rubbish", "judge 'Hostile' returned {'score': 1}"),
        ("say infinity", "judge 'Hostile' returned (inf, True)"),
        ("exit", "SystemExit(4)"),
        ("exit at once", "status 5"),
        ("segfault", "SIGSEGV"),
        ("close everything", "worker"),
        ("close the loop's files", "worker"),
        ("sleep", "no answer within 1 s"),
    ],
)
def test_a_judge_that_fails_costs_only_its_own_row(deed: str, words: str) -> None:
    rows = make_rows("work", deed, "work")
    deadline = "1" if deed == "sleep" else "60"  # none but that one has anything to do with time
    code, lines = judge_rows(rows, "mine.py->Hostile", "--deadline", deadline)
    assert list_results(lines) == [SCORED, LOST, SCORED]
    assert words in lines[1]["reason"]
    assert code == 3


def test_a_judge_that_holds_the_interpreter_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge_pool, "SLACK", 2.0)
    rows = make_rows("work", "hold the interpreter", "work")
    code, lines = judge_rows(rows, "mine.py->Hostile", "--deadline", "1")
    assert list_results(lines) == [SCORED, LOST, SCORED]
    assert "killed" in lines[1]["reason"]
    assert code == 3


def test_two_rows_that_end_their_process_cost_only_themselves() -> None:
    deeds = ["work"] * 50
    deeds[7] = deeds[40] = "exit at once"
    code, lines = judge_rows(make_rows(*deeds), "mine.py->Hostile")
    assert list_results(lines) == [LOST if i in (7, 40) else SCORED for i in range(50)]
    assert code == 3


def test_an_async_judge_that_never_ends_costs_only_its_own_row() -> None:
    rows = make_rows("work", "sleep", "work")
    code, lines = judge_rows(rows, "mine.py->Waiting", "--deadline", "1")
    assert list_results(lines) == [SCORED, LOST, SCORED]
    assert "no answer within 1 s" in lines[1]["reason"]
    assert code == 3


def test_sends_what_a_judge_prints_to_stderr(capfd: Any) -> None:
    Path("rows.jsonl").write_text(json.dumps(make_rows("print")[0]))
    assert main(["judge", "--judge", "mine.py->Hostile", "--data", "rows.jsonl"]) == 0
    shown = capfd.readouterr()
    assert json.loads(shown.out)["raw_reward"] == 0.5
    assert "a line that is no reward" in shown.err


def test_a_judge_that_changes_its_input_does_not_affect_other_rows() -> None:
    outputs = [{"metadata": {"do": "write on its input"}}, {"metadata": {"do": "work"}}]
    row = {"task": {"task_id": "g", "metadata": {"answer": "x"}}, "outputs": outputs}
    Path("rows.jsonl").write_text(json.dumps(row))
    words = ["--data", "rows.jsonl", "--out", "out"]
    assert main(["judge", "--judge", "mine.py->Hostile", *words]) == 0
    lines = [json.loads(line) for line in Path("out").read_text().splitlines()]
    assert list_results(lines) == [SCORED, SCORED]
    assert [line["index"] for line in lines] == [0, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "def f(case, trace)\n    return 1.0\n",
            "broken.py:1: the module cannot be imported: SyntaxError",
        ),
        (
            "import no_such_module\n",
            "broken.py:1: the module cannot be imported: ModuleNotFoundError",
        ),
        ("\nraise SystemExit(0)\n", "broken.py:2: the module cannot be imported: SystemExit"),
        ("f = 3\n", "neither a judge class nor a function"),
        ("def g(case, trace): ...\n", "the module has no f"),
    ],
)
def test_refuses_a_judge_file_that_cannot_be_used(text: str, words: str, capfd: Any) -> None:
    Path("broken.py").write_text(text)
    Path("rows.jsonl").write_text(json.dumps(make_rows("work")[0]))
    assert main(["judge", "--judge", "broken.py->f", "--data", "rows.jsonl"]) == 2
    shown = capfd.readouterr()
    assert words in shown.err
    assert shown.out == ""
