"""Every built-in judge does bounded work for an answer of any length.

Each gets hostile answers of eight million characters, and the same ones cut to 256,000: the long
one may cost a few times as much, not the 32 times of a judge that reads it all. What C code does to
every character (find, copy, encode) is allowed for by a measurement of hashing the long answer.
"""

import asyncio
import hashlib
import time
from collections.abc import Mapping
from contextlib import suppress
from itertools import count
from typing import Any

import pytest
from tests.judges.local.conftest import save_embedding_graph, save_tokenizer

from fourscore.core import Case, Message, ToolCall, Trace
from fourscore.core.judge import is_ranker
from fourscore.judges.checks import CHECKS
from fourscore.judges.loading import BUILT_IN, BY_LOCAL, BY_MODEL, load_judge
from fourscore.models.fakes import make_gullible_model
from fourscore.models.messages import ModelError

FEW, MANY = 256_000, 8_000_000
RUNS = {
    "blanks": " ",
    "bracket and blanks": "[" + " " * 50_000,
    "numbered brackets": "[1] ",
    "one long word": "a",
    "sentences": "It opened in 1932. ",
    "numbers": "7 1,234.5 ",
    "boxes": r"\boxed{7} ",
    "open boxes": r"\boxed{",
    "urls": "https://a.example/b?c=d ",
    "fences": "```\n",
    "open braces": "{",
    "chinese": "大桥于一九三二年通车。",
    "thinking": "<think>",
    "comments": "<!--",
    "list": "- a\n",
    "invisible": "\u200b",
}
EXPECTED = {
    "answer": "4",
    "claims": [{"text": "It opened in 1932."}, {"text": "It cost 1,200 euros."}],
    "aspects": ["costs", "history"],
    "sources": [{"id": "1", "text": "It opened in 1932. " * 100, "url": "https://a.example/b"}],
    "tools": {"expected": ["search"]},
}
CASE = Case(
    id="1",
    input="What did it cost? Cite sources.",
    expected=EXPECTED,
    metadata={"answer": "4", "target": 24, "nums": [3, 8]},
    task_type="coding",
)
#: Judges that do not read answers, and why they are not measured.
NOT_MEASURED = {
    "auto_grader": "it is one of criteria, rating and listwise once it has learned",
    "environment": "an environment service scores the episode by its id",
}
CRITERIA = {"criteria": ["It is right."]}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "criteria": CRITERIA,
    "panel": {"judge": "criteria", "options": CRITERIA},
    "choice": {"letter": "B"},
    "cost": {"max": 1},
    "json": {"schema": {"type": "object", "additionalProperties": False}},
    "language": {"language": "en"},
    "latency": {"max": 1},
    "length": {"max": 20},
    "regex": {"pattern": "(a+)+b"},
    "steps": {"max": 3},
    "tokens": {"max": 9},
}
#: Judges that always ask a model.
ASKING = ("criteria", "listwise", "pairwise", "rating")
#: Plain checks read an answer in few ways, so fewer shapes show whether they are bounded.
SHAPES_OF_CHECKS = ("blanks", "one long word", "numbers", "fences", "chinese", "thinking")
MARKS = count()
#: Other options of rule judges that read answers in another way.
VARIANTS: Mapping[str, list[dict[str, Any]]] = {
    "math": [{"match": "equivalent"}, {"box": "first"}, {"think": "keep"}],
    "countdown": [{"think": "keep"}],
    "structure_score": [{"structure": "literal"}],
    "factual_accuracy": [{"think": "keep"}],
}


def list_judges() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return name and options of every built-in judge, by a title."""
    judges: dict[str, tuple[str, dict[str, Any]]] = {}
    for name in BUILT_IN.keys() - NOT_MEASURED.keys():
        judges[name] = name, {}
    for name in BY_LOCAL:
        judges[f"{name} by local"] = name, {"by": "local"}
    for name in BY_MODEL:
        judges[f"{name} by model"] = name, {"by": "model"}
    for name, variants in VARIANTS.items():
        for options in variants:
            judges[f"{name} {options}"] = name, options
    return dict(sorted(judges.items()))


JUDGES = list_judges()


@pytest.fixture(scope="module")
def local_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The folder of a tiny embedding model."""
    folder = tmp_path_factory.mktemp("embedding")
    save_tokenizer(folder)
    save_embedding_graph(folder / "model.onnx")
    return str(folder)


def load(name: str, options: dict[str, Any], folder: str) -> Any:
    given = {**OPTIONS.get(name, {}), **options}
    if name == "panel":
        given["members"] = [{"model": make_gullible_model(f"model {n}")} for n in range(2)]
    elif given.get("by") == "local" or name == "embedding_similarity":
        given["model"] = folder
    elif given.get("by") == "model" or name in ASKING:
        given["model"] = make_gullible_model()
    return load_judge(name, options=given)


def make_trace(run: str, size: int) -> Trace:
    """Return a trace with a text of that size as its answer, argument, result and message."""
    text = f"{(run * (size // len(run) + 1))[:size]} {next(MARKS)}"  # no cache answers twice
    call = ToolCall(name="search", arguments={"query": text}, result=text)
    return Trace(output=text, steps=(call, Message(role="assistant", content=text)))


def measure(judge: Any, run: str, size: int) -> float:
    """Return the CPU time of judging a trace with texts of that size."""
    traces = [make_trace(run, size)]
    is_group = is_ranker(judge)
    if is_group:
        traces.append(Trace(output="It opened in 1932."))
    began = time.process_time()
    with suppress(ModelError):  # the fake model ranks the same answer twice
        asyncio.run(judge.rank(CASE, traces) if is_group else judge.judge(CASE, traces[0]))
    return time.process_time() - began


def measure_hash(run: str) -> float:
    """Return the CPU time of encoding and hashing a long text."""
    text = run * (MANY // len(run))
    began = time.process_time()
    hashlib.blake2b(text.encode()).digest()
    return time.process_time() - began


def test_every_built_in_judge_is_measured() -> None:
    assert {name for name, _ in JUDGES.values()} | NOT_MEASURED.keys() == BUILT_IN.keys()


@pytest.mark.parametrize("title", JUDGES)
def test_work_for_a_long_answer_is_bounded(title: str, local_model: str) -> None:
    judge = load(*JUDGES[title], local_model)
    measure(judge, "It opened in 1932. ", 1_000)  # imports and starts what it needs
    shapes = SHAPES_OF_CHECKS if title in CHECKS else RUNS
    for shape in shapes:
        run = RUNS[shape]
        for _ in range(4):  # a busy machine can make any one measurement slow
            few, many = measure(judge, run, FEW), measure(judge, run, MANY)
            allowed = 4 * few + 12 * measure_hash(run)
            if many <= allowed:
                break
        else:
            message = f"{shape}: {FEW:,} characters {few:.3f} s, {MANY:,} characters {many:.3f} s"
            raise AssertionError(f"{message}; at most {allowed:.3f} s was expected")
