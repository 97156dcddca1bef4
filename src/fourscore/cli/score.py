"""`fourscore score LOG`: score the fitness of an agent from its execution log."""

import argparse
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fourscore.cli.main import INCOMPLETE, PASSED
from fourscore.core import DataError, Rubric
from fourscore.evolve.fitness.document import make_document
from fourscore.evolve.fitness.log import ScoredLog, TaskInfo, score_records, score_traces
from fourscore.judges.fitness.rubric import make_fitness_rubric
from fourscore.report.streams import print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("log", metavar="LOG", help="file with execution records, a transcript, messages, spans, …")
    add("--output", metavar="FILE", help="text file with the final output of the newest execution")
    add(
        "--task-type",
        metavar="WORD",
        help="type of the task; coding: the output has to contain code",
    )
    add(
        "--complexity",
        metavar="WORD",
        help="complexity of the task: simple, medium (default), complex, very_complex",
    )
    add(
        "--per",
        choices=("version", "session", "day"),
        help="also print a score for each version, session or day",
    )
    add(
        "--rubric",
        metavar="FILE",
        help="rubric file with weights and options (default: the built-in fitness rubric)",
    )
    add(
        "--skip-broken", action="store_true", help="skip and count broken lines instead of stopping"
    )
    add("--json", action="store_true", help="print one JSON document on stdout")


def run(args: argparse.Namespace) -> int:
    rubric = _read_rubric(args.rubric) if args.rubric else make_fitness_rubric()
    task = TaskInfo(_read_text(args.output), args.task_type, args.complexity)
    scored_log = _read(args.log, rubric, task, args.skip_broken)
    document = make_document(scored_log, args.per)
    code = PASSED if document["score"] is not None else INCOMPLETE
    if args.json:
        document = {**document, "file": args.log, "exit_code": code}
        print_json(document)
    else:
        from fourscore.report.fitness_panel import show

        show(args.log, document)
    return code


def _read_rubric(path: str) -> Rubric:
    from fourscore.judges.rubric_file import read_rubric

    return read_rubric(path)


def _read(path: str, rubric: Rubric, task: TaskInfo, skip: bool) -> ScoredLog:
    """Score a log; asyncio is imported only for judges that need it, because it loads slowly."""
    with _no_collector():
        counted = score_records(path, rubric, task, skip_broken=skip)
    if counted is not None:
        return counted
    import asyncio

    return asyncio.run(score_traces(path, rubric, task, skip_broken=skip))


@contextmanager
def _no_collector() -> Iterator[None]:
    """Switch off garbage collection: scoring makes no cycles, and collection takes 5% of it."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _read_text(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(error.strerror or "cannot be read", file=path) from None
