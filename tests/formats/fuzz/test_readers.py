"""Each reader of files survives hostile documents: accepted, or refused by an error of ours.

`FUZZ_SECONDS=120 pytest -s -n 0 tests/formats/fuzz` searches each reader for two minutes.
"""

import asyncio
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.formats.fuzz.hostile import Read, encode, fuzz, make_pairs, survives

from fourscore.cli.run_settings import _read_section
from fourscore.evolve.fitness.log import score_log
from fourscore.evolve.log import Log
from fourscore.evolve.settings import read_settings
from fourscore.evolve.state import read_state
from fourscore.formats.cases import CaseFile
from fourscore.formats.labelled_samples import SampleFile
from fourscore.formats.line_chunks import read_chunks
from fourscore.formats.logs.log_file import LogFile
from fourscore.integrations.agentjet_config import rubric_from_config
from fourscore.judges.fitness.rubric import make_fitness_rubric
from fourscore.judges.rubric_file import read_rubric
from fourscore.labels.labelled_outputs import read_labelled_file
from fourscore.models.prices import Prices
from fourscore.monitor.sinks.settings import read_sinks
from fourscore.train.bulk_rows import check_chunk


class Target(NamedTuple):
    """A reader, the name of its file, the form of it, and documents that it accepts."""

    read: Read
    name: str
    form: str
    seeds: list[Any]


CASES = [
    {
        "id": "q1",
        "input": {"question": "2 + 2?"},
        "expected": {
            "answer": "4",
            "claims": [{"text": "it is four", "weight": 2}],
            "aspects": ["the sum", {"name": "steps"}],
            "sources": [{"id": "s1", "url": "http://a", "kind": "primary"}],
            "tools": {"expected": ["calculator"], "max_calls": 1},
        },
        "tags": ["math", "easy"],
        "complexity": "simple",
        "task_type": "sum",
        "metadata": {"level": 1},
        "author": "Ada",
    },
    {"input": "again", "expected": "yes"},
    {"input": "again", "expected": 5},
]
TABLE = [
    ["id", "input", "expected", "tags", "metadata", "level"],
    ["1", "2 + 2?", '{"answer": "4"}', "a, b", '{"x": [1]}', "3"],
    ["", 'json:{"q": 1}', 'json:["a,b"]', 'json:["c"]', "", "line\nbreak"],
]
ROWS = [
    {
        "task": {
            "task_id": "1",
            "main_query": "2 + 2?",
            "expected": "4",
            "metadata": {"answer": "4"},
            "env_type": "math",
            "episode_uuid": "u",
            "init_messages": [{"role": "user", "content": "x"}],
        },
        "output": {"reward": 0.5, "is_success": True, "metadata": {"final_answer": "4"}},
    },
    {"task": {"task_id": 2}, "outputs": [{"log_metrics": {"a": 1}}, {"reward": None}]},
]
RUBRIC = {
    "name": "mine",
    "description": "what counts",
    "dimensions": {
        "math": {"judge": "math", "weight": 2, "gate": 0.5, "with": {"match": "exact"}},
        "completeness": {
            "weight": 1,
            "levels": {"good": 0.9, "bad": 0.1},
            "level_descriptions": {"good": "all of it"},
        },
    },
    "pass_threshold": 0.6,
    "min_coverage": 0.3,
    "inapplicable": "zero",
    "calibration": {
        "judge": "a",
        "data": "b",
        "date": "2026-01-01",
        "n": 10,
        "sensitivity": {"right": 4, "of": 5},
        "specificity": {"right": 5, "of": 5, "value": 1.0},
    },
}
COUNTDOWN = "tutorial.example_countdown.countdown_answer_as_judge->CountdownAnswerAsJudge"
TASK_JUDGE = {
    "judge_type": "customized_protocol",
    "judge_protocol": COUNTDOWN,
    "judge_options": {"correct_score": 1.0},
}
RUN = {"fourscore": {"run": {"cases": "c.jsonl", "agent": "a.py:answer", "budget": 2.5}}}
EVOLUTION = {
    "cases": "cases.jsonl",
    "placeholders": ["{language}"],
    "required": ["Answer briefly."],
    "forbidden": ["(?i)password"],
    "budget": 400,
    "margin": 3,
    "split": {"inform": 0.2, "decide": 0.7, "hold": 0.1},
    "limits": {"mutations_per_day": 100, "cool_down": 0, "stable_runs": None},
    "rollback": {"drops": None, "share_of_best": 0.8},
}
SINKS = {
    "sinks": {
        "log": None,
        "chat": {"kind": "slack", "url": "http://127.0.0.1:9/x", "repeat": "4h"},
        "webhook": {"url": "http://127.0.0.1:9/y", "repeat": 60},
        "alertmanager": {"url": "http://127.0.0.1:9", "labels": {"team": "a"}},
    }
}
PRICES = {"gpt-4o-mini": {"input": 0.15, "output": 0.6}, "mine": {"input": 1, "output": 2}}
LABELLED = [
    {"input": "q", "output": "a", "label": True, "judge_score": 0.5, "position": "first"},
    {"input": "r", "output": {"output": "b"}, "labels": ["pass", None, 0], "model_family": "m"},
]
GRADED = [{"input": "q", "output": "a", "label": n / 4} for n in range(3)]
SAMPLES = [
    {"main_query": "q", "metadata": {"answer": "a", "score": 8}},
    {"main_query": ["q"], "final_answer": "b", "answer": "ref", "score": 1.5},
]
RANKED = [
    {
        "main_query": "q",
        "metadata": {"candidates": [{"answer": "a", "rank": 1}, {"answer": "b", "rank": 2}]},
    }
]
RECORDS = [
    {"ts": "2026-01-05T10:00:00Z", "tool": "Read", "exit": "0", "success": "true", "session": "a"},
    {"ts": 1767607200, "tool": "Bash", "exit": 2, "version": "4", "session": "a", "error": "boom"},
    {"tool": "Bash", "duration_ms": "40", "output": {"a": [1]}, "retry": "yes", "more": 1},
]
SUMMARY = {
    "execution": {
        "tools": {"Read": {"calls": 5, "success": 5}, "Bash": {"calls": 3, "success": "2"}},
        "errors": [{"type": "retry", "count": 1}],
        "actual_time": "1m 30s",
        "task_complexity": "medium",
        "output": "done",
        "ts": "2026-01-05",
    },
    "max_expected": {"medium_task": {"time": "2m", "tools": 15}},
}
BASH = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
HOOKS = [
    {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "list", "ts": 5},
    {"hook_event_name": "PreToolUse", "tool_use_id": "1", **BASH},
    {
        "hook_event_name": "PostToolUse",
        "tool_use_id": "1",
        **BASH,
        "tool_response": {"stdout": "a"},
    },
    {"hook_event_name": "PostToolUseFailure", "tool_use_id": "2", **BASH, "error": "Exit code 2"},
    {"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": "done"},
]
USE = {"type": "tool_use", "id": "t0", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t0", "content": [{"type": "text", "text": "a"}]}
TRANSCRIPT = [
    {"type": "summary", "summary": "x"},
    {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "fix it"}},
    {
        "type": "assistant",
        "sessionId": "s",
        "timestamp": "2026-01-05T10:00:00.000Z",
        "message": {
            "id": "m1",
            "role": "assistant",
            "content": [{"type": "text", "text": "Looking."}, USE],
            "usage": {"input_tokens": 5, "output_tokens": 7},
        },
    },
    {"type": "user", "sessionId": "s", "message": {"role": "user", "content": [RESULT]}},
]
MESSAGES = [
    {"role": "user", "content": "hi"},
    {
        "role": "assistant",
        "tool_calls": [{"id": "1", "function": {"name": "look", "arguments": "{}"}}],
    },
    {"role": "tool", "tool_call_id": "1", "content": "Error: nothing there"},
    {"role": "assistant", "content": [{"type": "text", "text": "I could not."}]},
]
CALL = {"id": "1", "function": "bash", "arguments": {"cmd": "ls"}, "type": "function"}
INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"model": "m"},
    "samples": [
        {
            "id": "q1",
            "epoch": 2,
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "", "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "1", "error": {"type": "timeout"}},
            ],
            "output": {"completion": "Done."},
            "model_usage": {"m": {"input_tokens": 5}},
            "total_time": 12.5,
            "completed_at": "2026-01-05T10:00:00Z",
        },
        {"id": "q2", "messages": [], "error": {"message": "sandbox died"}},
    ],
}
EVENTS = [
    {"event": "init", "at": "2026-01-05T10:00:00Z", "digest": "a", "source": "x"},
    {"event": "note", "at": "2026-01-05T10:00:00Z", "about": "b", "data": {"c": 1}},
]
STATE = {"format": 1, "active": 1, "best": 1, "branches": [2], "versions": 2, "lines": 3}
FITNESS = make_fitness_rubric()


def read_cases(path: Path) -> object:
    return list(CaseFile(path).cases())


def read_rows(path: Path) -> object:
    with path.open("rb") as stream:
        return [check_chunk(chunk) for chunk in read_chunks(stream)]


def read_labels(path: Path) -> object:
    return read_labelled_file(str(path), None, 0.5)


def read_samples(path: Path) -> object:
    file = SampleFile(path)
    return [file.read(at) for at in range(len(file))]


def read_ranked(path: Path) -> object:
    file = SampleFile(path, mode="listwise")
    return [file.read(at) for at in range(len(file))]


def read_log(path: Path) -> object:
    """Read the traces with and without broken lines, and score the log as the command does."""
    list(LogFile(str(path), skip_broken=True).traces())
    found = list(LogFile(str(path)).traces())
    asyncio.run(score_log(str(path), FITNESS))
    return found


TARGETS = {
    "cases_jsonl": Target(read_cases, "c.jsonl", "jsonl", [CASES]),
    "cases_json": Target(read_cases, "c.json", "json", [CASES, {"name": "n", "cases": CASES}]),
    "cases_yaml": Target(read_cases, "c.yaml", "yaml", [CASES, {"cases": CASES}]),
    "cases_csv": Target(read_cases, "c.csv", "csv", [TABLE]),
    "rows": Target(read_rows, "r.jsonl", "jsonl", [ROWS]),
    "rubric": Target(lambda path: read_rubric(str(path)), "r.yaml", "yaml", [RUBRIC]),
    "config_judge": Target(
        lambda path: rubric_from_config(str(path)),
        "c.yaml",
        "yaml",
        [{"ajet": {"task_judge": TASK_JUDGE}}, {"fourscore": {"task_judge": TASK_JUDGE}}],
    ),
    "config_run": Target(lambda path: _read_section(str(path)), "f.yaml", "yaml", [RUN]),
    "config_sinks": Target(lambda path: read_sinks(str(path)), "s.yaml", "yaml", [SINKS]),
    "config_prices": Target(Prices, "p.yaml", "yaml", [PRICES]),
    "evolution_settings": Target(read_settings, "evolution.yaml", "yaml", [EVOLUTION]),
    "evolution_log": Target(lambda path: list(Log(path).events()), "log.jsonl", "jsonl", [EVENTS]),
    "evolution_state": Target(read_state, "state.json", "json", [STATE]),
    "labels": Target(read_labels, "l.jsonl", "jsonl", [LABELLED, GRADED]),
    "samples": Target(read_samples, "s.jsonl", "jsonl", [SAMPLES]),
    "samples_ranked": Target(read_ranked, "s.jsonl", "jsonl", [RANKED]),
    "log_executions": Target(read_log, "e.jsonl", "jsonl", [RECORDS]),
    "log_executions_list": Target(read_log, "e.json", "json", [RECORDS, RECORDS[0]]),
    "log_summary": Target(read_log, "s.json", "json", [SUMMARY]),
    "log_summary_yaml": Target(read_log, "s.yaml", "yaml", [SUMMARY]),
    "log_hooks": Target(read_log, "h.jsonl", "jsonl", [HOOKS]),
    "log_transcript": Target(read_log, "t.jsonl", "jsonl", [TRANSCRIPT]),
    "log_messages": Target(read_log, "m.jsonl", "jsonl", [MESSAGES, [{"messages": MESSAGES}]]),
    "log_inspect": Target(read_log, "i.json", "json", [INSPECT]),
}


@pytest.mark.parametrize("name", TARGETS)
def test_accepts_its_seeds(name: str, tmp_path: Path) -> None:
    read, file, form, seeds = TARGETS[name]
    for seed in seeds:
        path = tmp_path / file
        path.write_bytes(encode(make_pairs(seed), form))
        read(path)


@pytest.mark.parametrize("name", TARGETS)
def test_survives_hostile_documents(name: str, tmp_path: Path) -> None:
    read, file, form, seeds = TARGETS[name]
    fuzz(read, seeds, form, tmp_path / file)


#: What the search has found: each once raised something that is no error of this package.
FOUND = [
    ("config_sinks", '{"sinks": {"chat": {"kind": ["slack"]}}}'),
    ("config_prices", '&a {&a "mine": {"input": 0.15, "output": 0.6}}'),
    ("config_prices", "a: !!bool maybe"),
    ("config_run", "fourscore: {run: {cases: !!bool maybe}}"),
    ("evolution_settings", f'forbidden: ["{"[" * 20}"]'),
    ("evolution_settings", 'forbidden: ["a{99999999999999999999}"]'),
    ("evolution_log", '{"event": "note", "at": "x", "about": ' + "[" * 2000 + "]" * 2000 + "}\n"),
    ("evolution_state", '{"format": ' + "[" * 2000 + "]" * 2000 + "}"),
    ("samples", '{"main_query": ' + "[" * 105 + "]" * 105 + ', "answer": "a", "score": 1}'),
    (
        "samples",
        '{"main_query": "q", "final_answer": "a", "score": 1, "answer": {"b": "\\ud800"}}',
    ),
    ("samples", '{"main_query": "q", "answer": "a", "score": 1' + "0" * 400 + "}"),
    ("labels", '{"input": "q", "output": "a", "label": 1' + "0" * 400 + "}"),
    (
        "log_inspect",
        '{"eval": {}, "samples": [{"messages": [], "total_time": 1' + "0" * 400 + "}]}",
    ),
    ("log_inspect", '[[{"eval": {}, "samples": []}]]'),
    (
        "log_inspect",
        '{"eval": {}, "samples": [{"messages": [{"role": "tool", "tool_call_id": []}]}]}',
    ),
    ("log_summary", '{"execution": {"output": ' + "[" * 105 + "]" * 105 + "}}"),
    ("log_hooks", '{"hook_event_name": "Stop", "ts": [5]}'),
    ("log_hooks", '[[{"hook_event_name": "Stop"}]]'),
    (
        "log_hooks",
        '{"hook_event_name": "PreToolUse", "tool_name": "a", "tool_input": '
        + "[" * 105
        + "]" * 105
        + "}",
    ),
]


@pytest.mark.parametrize(("name", "text"), FOUND)
def test_survives_what_was_found(name: str, text: str, tmp_path: Path) -> None:
    target = TARGETS[name]
    survives(target.read, text.encode("utf-8", "surrogatepass"), tmp_path / target.name)
