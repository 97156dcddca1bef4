"""`fourscore runs`: what the store holds, the newest first."""

import argparse
import sys
import time

import msgspec

from fourscore.cli.main import PASSED
from fourscore.stores.sqlite import DEFAULT_STORE, Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        default=DEFAULT_STORE,
        metavar="FILE",
        help=f"where runs are kept ({DEFAULT_STORE})",
    )
    parser.add_argument("--json", action="store_true", help="one document on stdout")


def run(args: argparse.Namespace) -> int:
    with Store(args.store, make=False) as store:
        found = [(info, store.summary(info.id)) for info in reversed(store.runs())]
    if args.json:
        document = {
            "runs": [
                {**msgspec.to_builtins(info), "pass_rate": (summary or {}).get("pass_rate")}
                for info, summary in found
            ]
        }
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
        return PASSED
    for info, summary in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.created))
        if summary is None:
            state = "unfinished"
        elif summary["pass_rate"] is None:
            state = "not measured"
        else:
            state = f"{summary['pass_rate']:.1%} of {summary['total_tests']}"
        sys.stdout.write(f"{info.id}  {when}  {state:18} {info.name or '-'}  {info.agent}\n")
    return PASSED
