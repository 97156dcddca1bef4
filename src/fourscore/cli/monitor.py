"""`fourscore monitor`: show and manage what monitors stored about agents in production."""

import argparse
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from fourscore.cli.flags import add_judge_model_argument
from fourscore.cli.main import GATE_FAILED, INCOMPLETE, PASSED
from fourscore.core import ConfigError
from fourscore.formats.plain_text import PlainFormatter
from fourscore.report.streams import print_json, print_line, print_message, print_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fourscore.stores.monitor import MonitorStore

STORE, NAME, CONFIG = "monitor.db", "default", "monitor.yaml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_views(actions)
    promote = _add_action(actions, "promote", "add an interaction to a file of test cases")
    promote.add_argument("id", metavar="ID", help="id of the interaction, as in alerts and watch")
    to = "append the case to this .jsonl file; created if it does not exist"
    promote.add_argument("--to", required=True, metavar="FILE", help=to)
    _add_ingest(_add_action(actions, "ingest", "score the traces in a file of OpenTelemetry spans"))
    deliver = _add_action(actions, "deliver", "send due alerts to the sinks, and exit")
    deliver.add_argument(
        "--config", default=CONFIG, metavar="FILE", help=f"file that lists the sinks ({CONFIG})"
    )
    board = "write a Grafana dashboard and Prometheus alert rules for /metrics"
    dashboard = actions.add_parser("dashboard", help=board, description=board)
    dashboard.add_argument("--out", required=True, metavar="DIR", help="folder for the files")
    dashboard.add_argument("--force", action="store_true", help="overwrite files that differ")
    dashboard.add_argument("--json", action="store_true", help="print one JSON document")


def run(args: argparse.Namespace) -> int:
    from fourscore.stores.errors import StoreError

    try:
        return int(ACTIONS[args.action](args))
    except StoreError as error:
        file = error.file or getattr(args, "store", None)
        raise StoreError(error.message, file=file, field=error.field) from error


def _add_views(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    status = _add_action(
        actions, "status", "show the status of each monitor; exit code 1 at a warning or worse"
    )
    calibration = "correct the pass rate by the calibration in this rubric file"
    status.add_argument("--calibration", metavar="FILE", help=calibration)
    watch = _add_action(
        actions, "watch", "show a live view: the pass rate and the worst interactions"
    )
    watch.add_argument("--once", action="store_true", help="print one view and exit")
    watch.add_argument(
        "--every",
        type=_seconds,
        default=2.0,
        metavar="SECONDS",
        help="seconds between two updates (2)",
    )
    alerts = _add_action(
        actions, "alerts", "list alerts, the newest first, and their deliveries to sinks"
    )
    alerts.add_argument("--open", action="store_true", help="list only open alerts")
    alerts.add_argument(
        "--limit", type=_count, default=20, metavar="N", help="list at most this many alerts (20)"
    )
    _add_action(actions, "metrics", "print Prometheus metrics, as /metrics does")


def _add_action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=summary, description=summary)
    add = parser.add_argument
    add("--store", default=STORE, metavar="FILE", help=f"file of the monitor's store ({STORE})")
    add("--name", metavar="NAME", help="name of one monitor, if the store has several")
    add("--json", action="store_true", help="print one JSON document")
    return parser


def _add_ingest(parser: argparse.ArgumentParser) -> None:
    from fourscore.cli.preflight import add_probe_flag

    add = parser.add_argument
    add(
        "file",
        metavar="FILE",
        help="JSONL of spans, as the OpenTelemetry collector's file exporter writes it",
    )
    add(
        "--rubric",
        metavar="FILE",
        help="score with this rubric file (default: the built-in one for research answers)",
    )
    add("--judge", metavar="NAME", help="score with this judge instead of a rubric")
    add_judge_model_argument(parser)
    add(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="set an option of the judge; may be repeated",
    )
    add_probe_flag(parser)
    rate = "score this share of the traces (1)"
    add("--sample-rate", type=_rate, default=1.0, metavar="RATE", help=rate)


def _status(args: argparse.Namespace) -> int:
    from fourscore.monitor.alerts import make_local_notice
    from fourscore.monitor.status import (
        open_alerts,
        read_judge_errors,
        select_monitors,
        store_document,
    )

    errors = read_judge_errors(args.calibration)
    with _store(args) as store:
        names = select_monitors(store, args.name)
        document = store_document(store, names, errors)
        notices = {
            name: [make_local_notice(name, one) for one in open_alerts(store, name)]
            for name in names
        }
    code = GATE_FAILED if document["status"] in ("warning", "critical") else PASSED
    if args.json:
        return _print_json({**document, "exit_code": code}, code)
    from fourscore.report.monitor_panel import show_status

    store_option = "" if args.store == STORE else f" --store {args.store}"
    show_status(document, notices, store_option + (f" --name {args.name}" if args.name else ""))
    return code


def _watch(args: argparse.Namespace) -> int:
    from fourscore.report.monitor_watch import show, view_document, watch
    from fourscore.report.terminal import make_console

    with _store(args) as store:
        name = _select_monitor(store, args.name)
        if args.json:
            if not args.once:
                raise ConfigError("add --once: a live view is not one document", field="--json")
            return _print_json(view_document(store, name))
        out = make_console()
        if args.once:
            show(view_document(store, name), out)
            return PASSED
        try:
            watch(store, name, args.every, out)
        except KeyboardInterrupt:  # Ctrl-C ends the view
            return PASSED


def _alerts(args: argparse.Namespace) -> int:
    from fourscore.monitor.alerts import make_local_notice
    from fourscore.monitor.status import alert_document, select_monitors

    documents, notices = [], []
    with _store(args) as store:
        for name in select_monitors(store, args.name):
            for alert in store.outbox.alerts(name, only_open=args.open, limit=args.limit):
                documents.append({"monitor": name, **alert_document(store, alert)})
                notices.append(make_local_notice(name, alert))
    if args.json:
        return _print_json({"alerts": documents})
    from fourscore.report.monitor_panel import show_alerts

    show_alerts(documents, notices)
    return PASSED


def _metrics(args: argparse.Namespace) -> int:
    from fourscore.monitor.metrics import metrics_text

    with _store(args) as store:
        text = metrics_text(store, args.name)
    if args.json:
        raise ConfigError("metrics are plain text; use status --json for a JSON document")
    print_text(text)
    return PASSED


def _promote(args: argparse.Namespace) -> int:
    from fourscore.monitor.promote import append_case, read_case

    with _store(args) as store:
        case = read_case(store, _select_monitor(store, args.name), args.id)
    line = append_case(args.to, case)
    if args.json:
        return _print_json({"file": args.to, "line": line, "case": case.id})
    print_line(f"{args.to}:{line}: {case.id}")
    if case.expected is None:
        print_message("fourscore: the case has no `expected` yet: add it if your judges need it")
    return PASSED


def _ingest(args: argparse.Namespace) -> int:
    from fourscore.cli.preflight import check_users
    from fourscore.models.budget import find_model_users
    from fourscore.models.model_pool import current_pool
    from fourscore.monitor.monitor import ProductionMonitor
    from fourscore.monitor.otel.ingest import ingest
    from fourscore.monitor.settings import make_rubric

    rubric = make_rubric(_rubric(args))
    check_users(current_pool(), find_model_users(rubric), probe=args.probe)
    name = args.name or NAME
    with ProductionMonitor(args.sample_rate, rubric=rubric, store=args.store, name=name) as monitor:
        done = ingest(args.file, monitor)
    code = INCOMPLETE if done.broken or done.traces.get("unreadable") else PASSED
    if args.json:
        return _print_json({**msgspec.to_builtins(done), "exit_code": code}, code)
    traces = ", ".join(f"{n:,} {word.replace('_', ' ')}" for word, n in done.traces.items())
    spans = f"{done.planned:,} spans: {done.ingested:,} new, {done.twice:,} twice"
    rest = f"{done.late:,} late, {done.beyond:,} beyond a full trace, {done.broken:,} broken"
    print_line(f"{spans}, {rest}")
    print_line(f"traces: {traces or 'none'}")
    for broken in done.noted:
        place = f"{done.file}:{broken.line}"
        field = f"{broken.field}: " if broken.field else ""
        print_message(f"fourscore: {place}: {field}{broken.message}")
    return code


def _rubric(args: argparse.Namespace) -> Any:
    if args.judge is None:
        if args.set:
            raise ConfigError("add --judge: --set is an option of a judge", field="--set")
        if args.rubric is None:
            return None
        from fourscore.judges.rubric_file import read_rubric

        return read_rubric(args.rubric, args.judge_model)
    if args.rubric is not None:
        raise ConfigError("give --rubric or --judge, not both", field="--judge")
    from fourscore.cli.judge_options import read_judge_arguments

    return read_judge_arguments(args)


def _deliver(args: argparse.Namespace) -> int:
    from fourscore.monitor.delivery import Deliverer
    from fourscore.monitor.sinks import read_sinks
    from fourscore.monitor.status import select_monitors

    sinks = read_sinks(args.config)
    counts: dict[str, dict[str, int]] = {}
    with _store(args) as store, _log_to_stderr():
        for name in select_monitors(store, args.name):
            done = Deliverer(store, name, sinks).deliver_due(time.time())
            counts[name] = {word: done[word] for word in ("sent", "failed", "skipped")}
    failed = sum(each["failed"] for each in counts.values())
    code = INCOMPLETE if failed else PASSED
    if args.json:
        return _print_json({"monitors": counts, "exit_code": code}, code)
    sent = sum(each["sent"] for each in counts.values())
    print_line(f"{sent} sent, {failed} failed")
    if failed:
        print_message(
            "fourscore: failed alerts are retried; see fourscore monitor alerts for the reasons"
        )
    return code


@contextmanager
def _log_to_stderr() -> "Iterator[None]":
    """Write the monitor's log to stderr, where a cron job reports it."""
    import logging

    log, handler = logging.getLogger("fourscore.monitor"), logging.StreamHandler()
    handler.setFormatter(PlainFormatter())
    level, propagate = log.level, log.propagate
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    log.propagate = False
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        log.propagate = propagate


def _dashboard(args: argparse.Namespace) -> int:
    from fourscore.monitor.grafana import write_files

    files = [str(path) for path in write_files(args.out, force=args.force)]
    if args.json:
        return _print_json({"files": files})
    for file in files:
        print_line(file)
    return PASSED


ACTIONS = {
    "status": _status,
    "watch": _watch,
    "alerts": _alerts,
    "metrics": _metrics,
    "promote": _promote,
    "ingest": _ingest,
    "deliver": _deliver,
    "dashboard": _dashboard,
}


def _store(args: argparse.Namespace) -> "MonitorStore":
    from fourscore.stores.monitor import MonitorStore

    return MonitorStore(args.store, make=False)


def _select_monitor(store: "MonitorStore", name: str | None) -> str:
    """Return the name of the monitor: the given one, or the only one of the store."""
    from fourscore.monitor.status import select_monitors

    names = select_monitors(store, name)
    if len(names) > 1:
        known = ", ".join(sorted(names)[:8])
        raise ConfigError(
            f"the store has several monitors: {known}; choose one with --name", field="--name"
        )
    return names[0] if names else NAME


def _print_json(document: dict[str, Any], code: int = PASSED) -> int:
    print_json(document)
    return code


def _seconds(text: str) -> float:
    number = float(text)
    if not 0.1 <= number <= 3600:
        raise ValueError
    return number


def _rate(text: str) -> float:
    number = float(text)
    if not 0 <= number <= 1:
        raise ValueError
    return number


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 100_000:
        raise ValueError
    return number
