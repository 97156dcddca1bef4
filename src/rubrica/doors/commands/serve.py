"""`rubrica serve`: rewards over HTTP."""

import argparse
import re
import sys

import msgspec

from rubrica.core import ConfigError
from rubrica.doors.budget import prepare
from rubrica.doors.cli import PASSED
from rubrica.doors.config import add_judge_arguments, rubric_from_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_judge_arguments(parser)
    parser.add_argument(
        "--host", default="127.0.0.1", help="where to listen; other than loopback needs a token"
    )
    parser.add_argument("--port", type=_port, default=8712, help="8712; 0 takes a free one")
    parser.add_argument(
        "--token-file", metavar="FILE", help="the token that clients send; else RUBRICA_TOKEN"
    )
    parser.add_argument(
        "--max-body", type=_size, default=8 * 2**20, metavar="BYTES", help="of a request (8M)"
    )
    parser.add_argument(
        "--deadline", type=_seconds, default=30.0, metavar="SECONDS", help="of a request (30)"
    )
    parser.add_argument(
        "--concurrency",
        type=_count,
        default=256,
        metavar="N",
        help="requests under way in one process, before 429 (256)",
    )
    parser.add_argument(
        "--workers", type=_count, default=1, metavar="N", help="processes that serve (1)"
    )
    parser.add_argument(
        "--judge-workers",
        type=_count,
        default=4,
        metavar="N",
        help="processes for a judge of yours, in each that serves (4)",
    )
    parser.add_argument("--json", action="store_true", help="the address as a document on stdout")


def run(args: argparse.Namespace) -> int:
    try:
        from rubrica.doors.server.running import serve
    except ImportError as error:
        message = f"serving needs {error.name}: pip install 'rubrica[server]'"
        raise ConfigError(message) from None
    from rubrica.doors.server.app import App
    from rubrica.doors.server.settings import Settings, read_token

    settings = Settings(
        host=args.host,
        port=args.port,
        token=read_token(args.token_file),
        max_body=args.max_body,
        deadline=args.deadline,
        concurrency=args.concurrency,
        workers=args.workers,
        judge_workers=args.judge_workers,
    )
    rubric = rubric_from_options(args.config, args.judge, args.set)
    prepare(seat.judge for seat in rubric.seats)

    def announce(address: str) -> None:
        if args.json:
            line = msgspec.json.encode({"url": address, "judge": rubric.name})
            sys.stdout.write(line.decode() + "\n")
            sys.stdout.flush()
        lock = "with a token" if settings.token else "for this machine, without a token"
        sys.stderr.write(f"rubrica: {rubric.name} at {address}, {lock}\n")
        sys.stderr.flush()

    serve(App(rubric, settings), announce)
    return PASSED


def _port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 65536:
        raise ValueError
    return number


def _size(text: str) -> int:
    found = re.fullmatch(r"([0-9]{1,12})([kMG]?)", text)
    if found is None or not int(found[1]):
        raise ValueError
    return int(found[1]) * {"": 1, "k": 2**10, "M": 2**20, "G": 2**30}[found[2]]


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError
    return number


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError
    return number
