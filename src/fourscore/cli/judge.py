"""`fourscore judge`: recorded outputs in, rewards out, a line for a line."""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from fourscore.cli import model_options
from fourscore.cli.judge_options import (
    add_config_argument,
    add_judge_arguments,
    read_judge_arguments,
)
from fourscore.cli.main import INCOMPLETE, PASSED
from fourscore.cli.progress import Progress
from fourscore.core import ConfigError, DataError, Rubric, Status
from fourscore.formats.atomic_file import open_atomic
from fourscore.formats.line_chunks import chunks
from fourscore.report import summary_text
from fourscore.stats.intervals import wilson
from fourscore.train.bulk_rows import Tally
from fourscore.train.judge_pool import Crew


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config_argument(parser)
    add_judge_arguments(parser)
    parser.add_argument("--data", required=True, metavar="ROWS", help="rows as JSONL; - for stdin")
    parser.add_argument("--out", metavar="FILE", help="where the rewards go; default: stdout")
    parser.add_argument("--json", action="store_true", help="a summary document on stdout")
    parser.add_argument(
        "--deadline",
        type=_positive,
        default=30.0,
        metavar="SECONDS",
        help="for each row of a judge of yours (30)",
    )
    model_options.add_model_flags(parser)
    parser.add_argument("--workers", type=_count, metavar="N", help="processes; default: cores")


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, got {text!r}")
    return number


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    started = time.monotonic()
    rubric = read_judge_arguments(args)
    if args.json and not args.out:
        raise ConfigError("the rows need --out when stdout carries the summary", field="--json")
    pool = model_options.make_model_pool(model_options.read_model_settings(args), rubric)
    with ExitStack() as stack:
        stack.enter_context(pool.activate())
        source = stack.enter_context(_opened(args.data))
        size = _size(source)
        crew = stack.enter_context(Crew(rubric, args.deadline, args.workers, size))
        progress = stack.enter_context(Progress(size))
        tally = Tally(statuses={})
        try:
            if size is not None:
                start = source.tell()
                for chunk, _ in crew.check(chunks(source)):
                    progress.step("checking", len(chunk.text))
                source.seek(start)
                progress.restart()
            with open_atomic(args.out or "-") as sink:
                for chunk, (lines, part) in crew.judge(chunks(source)):
                    sink.write(lines)
                    tally.add(part)
                    progress.step("judging", len(chunk.text))
                if not tally.rows:
                    raise DataError("there are no rows in it")
        except DataError as error:
            if error.file is not None:
                raise
            name = "stdin" if args.data == "-" else args.data
            raise DataError(error.message, file=name, line=error.line, field=error.field) from None
    return _report(
        args, rubric, tally, time.monotonic() - started, model_options.summarize_model_usage(pool)
    )


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        if sys.stdin is None:
            raise DataError("it is closed", file="stdin")
        yield sys.stdin.buffer
        return
    try:
        stream = Path(path).open("rb")  # noqa: SIM115 - only opening may fail as bad input
    except OSError as error:
        raise DataError(error.strerror or "cannot be opened", file=path) from None
    with stream:
        yield stream


def _size(stream: BinaryIO) -> int | None:
    """How much there is to read, if it can be read twice."""
    if not stream.seekable():
        return None
    start = stream.tell()
    size = stream.seek(0, os.SEEK_END) - start
    stream.seek(start)
    return size


def _report(
    args: argparse.Namespace,
    rubric: Rubric,
    tally: Tally,
    seconds: float,
    bill: dict[str, Any],
) -> int:
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
            "surrogates_replaced": tally.replaced,
            "rubric_fingerprint": rubric.provenance.rubric,
            **bill,
            "seconds": round(seconds, 3),
            "out": args.out,
            "exit_code": code,
        }
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
    say = sys.stderr.write
    parts = " + ".join(f"{count} {status}" for status, count in sorted(tally.statuses.items()))
    say(f"rows: {tally.rows}; {tally.planned} planned = {parts}\n")
    if mean is not None:
        rate = f"{tally.successes / n:.1%} [{low:.1%}, {high:.1%}], n={n}"
        say(f"success {rate}; mean reward {mean:.4g}; {seconds:.1f} s\n")
    for line in summary_text.format_model_costs(bill.get("models", [])):
        say(f"{line}\n")
    if spent := summary_text.describe_spent_budget(
        {"planned": tally.planned, "total_tests": n, **bill}
    ):
        say(f"{spent}\n")
    if tally.replaced:
        say(f"lone surrogates read as U+FFFD: {tally.replaced}\n")
    return code
