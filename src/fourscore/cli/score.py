"""`fourscore score LOG`: how fit an agent is, from its execution log alone."""

import argparse
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from fourscore.cli.main import INCOMPLETE, PASSED
from fourscore.core import DataError, Rubric
from fourscore.evolve.fitness.document import make_document
from fourscore.evolve.fitness.log import ScoredLog, TaskInfo, score_records, score_traces
from fourscore.judges.fitness.rubric import make_fitness_rubric


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("log", metavar="LOG", help="execution records, a transcript, messages, spans, …")
    add("--output", metavar="FILE", help="the final output of the newest execution, as text")
    add("--task-type", metavar="WORD", help="coding: the output has to contain code")
    add("--complexity", metavar="WORD", help="simple, medium (default), complex, very_complex")
    add("--per", choices=("version", "session", "day"), help="also a score for each of these")
    add("--rubric", metavar="FILE", help="weights and options (built-in fitness rubric)")
    add("--skip-broken", action="store_true", help="count broken lines and continue")
    add("--json", action="store_true", help="print one JSON document on stdout")


def run(args: argparse.Namespace) -> int:
    rubric = _rubric(args.rubric) if args.rubric else make_fitness_rubric()
    task = TaskInfo(_text(args.output), args.task_type, args.complexity)
    scored_log = _read(args.log, rubric, task, args.skip_broken)
    document = make_document(scored_log, args.per)
    code = PASSED if document["score"] is not None else INCOMPLETE
    if args.json:
        document = {**document, "file": args.log, "exit_code": code}
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
    else:
        from fourscore.report.fitness_panel import show

        show(args.log, document)
    return code


def _rubric(path: str) -> Rubric:
    from fourscore.judges.rubric_file import read_rubric

    return read_rubric(path)


def _read(path: str, rubric: Rubric, task: TaskInfo, skip: bool) -> ScoredLog:
    """Records are read without the loop that other judges may need: loading it takes its time."""
    with _no_collector():
        counted = score_records(path, rubric, task, skip_broken=skip)
    if counted is not None:
        return counted
    import asyncio

    return asyncio.run(score_traces(path, rubric, task, skip_broken=skip))


@contextmanager
def _no_collector() -> Iterator[None]:
    """Counting leaves no cycles behind, and looking for them takes a twentieth of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _text(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(error.strerror or "cannot be read", file=path) from None
