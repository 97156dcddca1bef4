"""`fourscore serve`: rewards over HTTP, and traces for a monitor."""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from fourscore.cli.judge_options import (
    add_config_argument,
    add_judge_arguments,
    is_judge_named,
    read_judge_arguments,
)
from fourscore.cli.main import PASSED
from fourscore.cli.model_options import prepare_judges
from fourscore.core import ConfigError, Rubric
from fourscore.core.extras import MissingExtras, require_extra

if TYPE_CHECKING:
    from fourscore.server.settings import MonitorSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config_argument(parser)
    add_judge_arguments(parser)
    parser.add_argument(
        "--host", default="127.0.0.1", help="where to listen; other than loopback needs a token"
    )
    parser.add_argument("--port", type=_port, default=8712, help="8712; 0 takes a free one")
    parser.add_argument(
        "--token-file", metavar="FILE", help="the token that clients send; else FOURSCORE_TOKEN"
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
    _add_monitor_arguments(parser)
    parser.add_argument("--json", action="store_true", help="the address as a document on stdout")


def run(args: argparse.Namespace) -> int:
    from fourscore.server.app import App
    from fourscore.server.auth import read_token
    from fourscore.server.serve import serve
    from fourscore.server.settings import Settings

    missing = MissingExtras()
    with missing.collect():
        if args.monitor is not None:
            require_extra("otel", "--monitor")
    with missing.collect():
        rubric, monitored = _rubrics(args)
    missing.raise_if_any()

    settings = Settings(
        host=args.host,
        port=args.port,
        token=read_token(args.token_file),
        max_body=args.max_body,
        deadline=args.deadline,
        concurrency=args.concurrency,
        workers=args.workers,
        judge_workers=args.judge_workers,
        monitor=_monitor(args),
    )
    both = (rubric,) if monitored is rubric else (rubric, monitored)
    prepare_judges(slot.judge for rules in both for slot in rules.slots)

    def announce(address: str) -> None:
        if args.json:
            told = {"url": address, "judge": rubric.name}
            if settings.monitor is not None:
                told |= {"monitor": settings.monitor.path, "traces": f"{address}/v1/traces"}
            line = msgspec.json.encode(told)
            sys.stdout.write(line.decode() + "\n")
            sys.stdout.flush()
        lock = "with a token" if settings.token else "for this machine, without a token"
        sys.stderr.write(f"fourscore: {rubric.name} at {address}, {lock}\n")
        if settings.monitor is not None:
            where = f"{address}/v1/traces go to {settings.monitor.path}"
            share = f"{settings.monitor.sample_rate:.3g} of them scored by {monitored.name}"
            sys.stderr.write(f"fourscore: traces at {where}, {share}\n")
            sys.stderr.write(f"fourscore: metrics at {address}/metrics\n")
        sys.stderr.flush()

    serve(App(rubric, settings, monitored), announce)
    return PASSED


def _add_monitor_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("monitor: OpenTelemetry traces at /v1/traces, scored")
    add = group.add_argument
    add("--monitor", metavar="FILE", help="the monitor's store; without it no traces are taken")
    add(
        "--monitor-name", metavar="NAME", default="default", help="whose counts these are (default)"
    )
    add(
        "--monitor-rubric",
        metavar="FILE",
        help="a rubric's YAML for the traces, instead of the judge of the rewards",
    )
    add(
        "--sample-rate",
        type=_rate,
        default=0.01,
        metavar="RATE",
        help="the share of traces that is scored (0.01); those that failed are, in any case",
    )
    add(
        "--hourly-budget",
        action="append",
        default=[],
        metavar="LIMIT",
        help="for models that score traces: 2.50 (dollars), 200000tokens or 500calls an hour",
    )
    add(
        "--alerts", metavar="FILE", help="the sinks of alerts, as YAML; without it, a log on stderr"
    )
    add("--no-text", action="store_true", help="keep no more of a trace than its beginnings")
    add(
        "--quiet",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="without a new span, before a trace with its root is complete (10)",
    )
    add(
        "--longest",
        type=_seconds,
        default=3600.0,
        metavar="SECONDS",
        help="after which a trace is complete in any case (3600)",
    )


def _monitor(args: argparse.Namespace) -> "MonitorSettings | None":
    from fourscore.server.settings import MonitorSettings

    if args.monitor is None:
        for option in ("monitor_rubric", "alerts"):
            if getattr(args, option) is not None:
                field = f"--{option.replace('_', '-')}"
                raise ConfigError("it needs --monitor FILE", field=field)
        return None
    from fourscore.models.budget import parse_limits
    from fourscore.stores.monitor import MonitorStore

    if args.hourly_budget:
        parse_limits(args.hourly_budget)
    if args.alerts is not None:
        from fourscore.monitor.sinks import read_sinks

        read_sinks(args.alerts)
    MonitorStore(args.monitor).close()  # what is wrong with the file shows before the port is open
    return MonitorSettings(
        path=str(Path(args.monitor).resolve()),
        name=args.monitor_name,
        sample_rate=args.sample_rate,
        budget=tuple(args.hourly_budget),
        keep_text=not args.no_text,
        quiet=args.quiet,
        longest=args.longest,
        alerts=None if args.alerts is None else str(Path(args.alerts).resolve()),
    )


def _rubrics(args: argparse.Namespace) -> tuple[Rubric, Rubric]:
    """For rewards, and for traces; one may serve for both."""
    if args.monitor_rubric is None:
        rubric = read_judge_arguments(args)
        return rubric, rubric
    from fourscore.judges.rubric_file import read_rubric

    monitored = read_rubric(args.monitor_rubric)
    if not is_judge_named(args):
        return monitored, monitored
    return read_judge_arguments(args), monitored


def _rate(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError
    return number


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
