"""`fourscore serve`: serve rewards over HTTP, and take traces for a monitor."""

import argparse
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fourscore.cli.flags import parse_count, parse_seconds, parse_share
from fourscore.cli.judge_options import (
    add_config_argument,
    add_judge_arguments,
    is_judge_named,
    read_judge_arguments,
)
from fourscore.cli.main import PASSED
from fourscore.cli.model_options import add_hourly_budget_flag, prepare_judges, read_hourly_budget
from fourscore.cli.preflight import add_probe_flag, check_users
from fourscore.core import ConfigError, Rubric
from fourscore.core.extras import MissingExtras, require_extra
from fourscore.models.budget import find_model_users
from fourscore.models.model_pool import current_pool
from fourscore.report.streams import print_json, print_message

if TYPE_CHECKING:
    from fourscore.server.settings import MonitorSettings


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config_argument(parser)
    add_judge_arguments(parser)
    add = parser.add_argument
    text = "listen on this address (127.0.0.1); any other than loopback needs a token"
    add("--host", default="127.0.0.1", help=text)
    text = "also answer requests that name this host, as those through a proxy do; repeatable"
    add("--allowed-host", type=_parse_host_name, action="append", metavar="NAME", help=text)
    text = "listen on this port (8712); 0 chooses a free port"
    add("--port", type=_parse_port, default=8712, help=text)
    text = "read the token that clients must send from this file (default: FOURSCORE_TOKEN)"
    add("--token-file", metavar="FILE", help=text)
    text = "refuse a request with a larger body (8M)"
    add("--max-body", type=_parse_size, default=8 * 2**20, metavar="BYTES", help=text)
    text = "answer a request within this time (30)"
    add("--deadline", type=parse_seconds, default=30.0, metavar="SECONDS", help=text)
    text = "answer 429 if more requests than this are under way in one process (256)"
    add("--concurrency", type=parse_count, default=256, metavar="N", help=text)
    text = "serve with this many processes (1)"
    add("--workers", type=parse_count, default=1, metavar="N", help=text)
    text = "run a custom judge in this many processes, for each serving process (4)"
    add("--judge-workers", type=parse_count, default=4, metavar="N", help=text)
    _add_monitor_arguments(parser)
    add_probe_flag(parser)
    add("--json", action="store_true", help="print the address as a JSON document on stdout")


def run(args: argparse.Namespace) -> int:
    from fourscore.server.app import App
    from fourscore.server.auth import read_token
    from fourscore.server.serve import serve
    from fourscore.server.settings import Settings

    monitor, missing = _read_monitor(args), MissingExtras()
    with missing.collect():
        if monitor is not None:
            require_extra("otel", "--monitor")
    with missing.collect():
        rubric, monitored = _read_rubrics(args)
    missing.raise_if_any()

    settings = Settings(
        host=args.host,
        allowed_hosts=tuple(args.allowed_host or ()),
        port=args.port,
        token=read_token(args.token_file),
        max_body=args.max_body,
        deadline=args.deadline,
        concurrency=args.concurrency,
        workers=args.workers,
        judge_workers=args.judge_workers,
        monitor=monitor,
    )
    both = (rubric,) if monitored is rubric else (rubric, monitored)
    judges = [judge for rules in both for judge in find_model_users(rules)]
    check_users(current_pool(), judges, probe=args.probe)
    prepare_judges(judges)

    def announce(address: str) -> None:
        if args.json:
            document = {"url": address, "judge": rubric.name}
            if settings.monitor is not None:
                document |= {"monitor": settings.monitor.path, "traces": f"{address}/v1/traces"}
            print_json(document)
            sys.stdout.flush()
        lock = "with a token" if settings.token else "for this machine, without a token"
        print_message(f"fourscore: {rubric.name} at {address}, {lock}")
        print_message(f"fourscore: metrics at {address}/metrics")
        if settings.monitor is not None:
            where = f"{address}/v1/traces go to {settings.monitor.path}"
            share = f"{settings.monitor.sample_rate:.3g} of them scored by {monitored.name}"
            print_message(f"fourscore: traces at {where}, {share}")
        sys.stderr.flush()

    serve(App(rubric, settings, monitored), announce)
    return PASSED


def _add_monitor_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("monitor: OpenTelemetry traces at /v1/traces, scored")
    add = group.add_argument
    add("--monitor", metavar="FILE", help="receive traces, and write their scores to this store")
    text = "name of the monitor in the store (default)"
    add("--monitor-name", metavar="NAME", default="default", help=text)
    text = "score traces with this rubric file instead of the judge for rewards"
    add("--monitor-rubric", metavar="FILE", help=text)
    text = "score this share of the traces (0.01), and all failed ones"
    add("--sample-rate", type=parse_share, default=0.01, metavar="RATE", help=text)
    add_hourly_budget_flag(group)
    text = "send alerts to the sinks of this YAML file; without it they are logged on stderr"
    add("--alerts", metavar="FILE", help=text)
    add("--no-text", action="store_true", help="store only the start of each text in a trace")
    text = "score a trace that has its root span after this time without a new span (10)"
    add("--quiet", type=parse_seconds, default=10.0, metavar="SECONDS", help=text)
    text = "score a trace this long after its first span, complete or not (3600)"
    add("--longest", type=parse_seconds, default=3600.0, metavar="SECONDS", help=text)


def _read_monitor(args: argparse.Namespace) -> "MonitorSettings | None":
    from fourscore.server.settings import MonitorSettings

    if args.monitor is None:
        for option in ("monitor_rubric", "alerts"):
            if getattr(args, option) is not None:
                field = f"--{option.replace('_', '-')}"
                raise ConfigError("use it with --monitor FILE only", field=field)
        return None
    from fourscore.stores.monitor import MonitorStore

    if args.alerts is not None:
        from fourscore.monitor.sinks import read_sinks

        read_sinks(args.alerts)
    MonitorStore(args.monitor).close()  # a broken store file fails before the port is open
    return MonitorSettings(
        path=str(Path(args.monitor).resolve()),
        name=args.monitor_name,
        sample_rate=args.sample_rate,
        budget=read_hourly_budget(args),
        keep_text=not args.no_text,
        quiet=args.quiet,
        longest=args.longest,
        alerts=None if args.alerts is None else str(Path(args.alerts).resolve()),
    )


def _read_rubrics(args: argparse.Namespace) -> tuple[Rubric, Rubric]:
    """Return the rubric for rewards and the rubric for traces; they may be the same."""
    if args.monitor_rubric is None:
        rubric = read_judge_arguments(args)
        return rubric, rubric
    from fourscore.judges.rubric_file import read_rubric

    monitored = read_rubric(args.monitor_rubric, args.judge_model)
    if not is_judge_named(args):
        return monitored, monitored
    return read_judge_arguments(args), monitored


def _parse_host_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,253}", text):
        raise argparse.ArgumentTypeError(
            f"expected a name such as judge.example.com, without port or wildcard, got {text!r}"
        )
    return text


def _parse_port(text: str) -> int:
    number = int(text) if text.isdecimal() else -1
    if not 0 <= number < 65536:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r}")
    return number


def _parse_size(text: str) -> int:
    """Parse a number of bytes such as 512k, 8M or 1G."""
    found = re.fullmatch(r"([0-9]{1,12})([kMG]?)", text)
    if found is None or not int(found[1]):
        raise argparse.ArgumentTypeError(f"expected bytes such as 512k or 8M, got {text!r}")
    return int(found[1]) * {"": 1, "k": 2**10, "M": 2**20, "G": 2**30}[found[2]]
