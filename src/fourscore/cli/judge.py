"""`fourscore judge`: compute rewards for recorded outputs, one line per output."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from fourscore.cli import model_options
from fourscore.cli.flags import add_json_argument, parse_count, parse_seconds
from fourscore.cli.judge_options import (
    add_config_argument,
    add_judge_arguments,
    read_judge_arguments,
)
from fourscore.cli.main import INCOMPLETE, PASSED
from fourscore.cli.progress import Progress
from fourscore.core import ConfigError, DataError, Rubric, Status
from fourscore.formats.atomic_file import open_atomic
from fourscore.formats.line_chunks import read_chunks
from fourscore.report import summary_text
from fourscore.report.streams import print_json, print_message
from fourscore.stats.intervals import wilson
from fourscore.train.bulk_rows import RewardTally
from fourscore.train.judge_pool import JudgePool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config_argument(parser)
    add_judge_arguments(parser)
    add = parser.add_argument
    add("--data", required=True, metavar="ROWS", help="read the rows from this JSONL; - for stdin")
    add("--out", metavar="FILE", help="write the rewards to this file instead of stdout")
    add_json_argument(parser)
    text = "stop a custom judge after this time on a row (30)"
    add("--deadline", type=parse_seconds, default=30.0, metavar="SECONDS", help=text)
    model_options.add_model_flags(parser)
    text = "judge in this many processes (default: one for each core)"
    add("--workers", type=parse_count, metavar="N", help=text)


def run(args: argparse.Namespace) -> int:
    started = time.monotonic()
    rubric = read_judge_arguments(args)
    if args.json and not args.out:
        message = "give --out FILE for the rewards: with --json, stdout has the summary"
        raise ConfigError(message, field="--json")
    pool = model_options.make_model_pool(
        model_options.read_model_settings(args), rubric, probe=args.probe
    )
    with ExitStack() as stack:
        stack.enter_context(pool.activate())
        source = stack.enter_context(_open(args.data))
        size = _find_size(source)
        judges = stack.enter_context(
            JudgePool(rubric, args.deadline, workers=args.workers, size=size)
        )
        progress = stack.enter_context(Progress(size))
        tally = RewardTally(statuses={})
        try:
            if size is not None:
                start = source.tell()
                for chunk, _ in judges.check(read_chunks(source)):
                    progress.step("checking", len(chunk.text))
                source.seek(start)
                progress.restart()
            with open_atomic(args.out or "-") as sink:
                for chunk, (lines, part) in judges.judge(read_chunks(source)):
                    sink.write(lines)
                    tally.merge(part)
                    progress.step("judging", len(chunk.text))
                if not tally.rows:
                    raise DataError("the file has no rows")
        except DataError as error:
            if error.file is not None:
                raise
            name = "stdin" if args.data == "-" else args.data
            raise DataError(error.message, file=name, line=error.line, field=error.field) from None
    usage = pool.document()
    return _report(args, rubric, tally, seconds=time.monotonic() - started, usage=usage)


@contextmanager
def _open(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        if sys.stdin is None:
            raise DataError("the stream is closed", file="stdin")
        yield sys.stdin.buffer
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - only opening may fail as bad input
    except OSError as error:
        raise DataError(error.strerror or "cannot be opened", file=path) from None
    with stream:
        yield stream


def _find_size(stream: BinaryIO) -> int | None:
    """Return the number of bytes to read; None for a stream that can be read only once."""
    if not stream.seekable():
        return None
    start = stream.tell()
    size = stream.seek(0, os.SEEK_END) - start
    stream.seek(start)
    return size


def _report(
    args: argparse.Namespace,
    rubric: Rubric,
    tally: RewardTally,
    *,
    seconds: float,
    usage: dict[str, Any],
) -> int:
    """Print the summary; return the exit code."""
    n = tally.measured
    code = PASSED if n == tally.planned else INCOMPLETE
    low, high = wilson(tally.successes, n)
    mean = tally.reward_sum / n if n else None
    if args.json:
        document = {
            "judge": rubric.name,
            "rows": tally.rows,
            "planned": tally.planned,
            "statuses": {status: tally.statuses.get(status, 0) for status in Status},
            "measured": n,
            "successes": tally.successes,
            "success_rate": tally.successes / n if n else None,
            "success_rate_interval": [low, high] if n else None,
            "mean_reward": mean,
            "mean_reward_standard_error": tally.standard_error,
            "surrogates_replaced": tally.surrogates_replaced,
            "rubric_fingerprint": rubric.provenance.rubric,
            **usage,
            "seconds": round(seconds, 3),
            "out": args.out,
            "exit_code": code,
        }
        print_json(document)
    parts = " + ".join(f"{count} {status}" for status, count in sorted(tally.statuses.items()))
    print_message(f"rows: {tally.rows}; {tally.planned} planned = {parts}")
    if mean is not None:
        rate = f"{tally.successes / n:.1%} [{low:.1%}, {high:.1%}], n={n}"
        print_message(f"success {rate}; mean reward {mean:.4g}; {seconds:.1f} s")
    for line in summary_text.format_model_costs(usage.get("models", [])):
        print_message(line)
    if spent := summary_text.describe_spent_budget(
        {"planned": tally.planned, "total_tests": n, **usage}
    ):
        print_message(spent)
    if tally.surrogates_replaced:
        print_message(f"lone surrogates read as U+FFFD: {tally.surrogates_replaced}")
    return code
