"""`fourscore runs`: list the runs of a store, the newest first."""

import argparse
import time

import msgspec

from fourscore.cli.flags import add_json_argument, add_store_argument
from fourscore.cli.main import PASSED
from fourscore.report.streams import print_json, print_line
from fourscore.stores.sqlite import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_store_argument(parser)
    add_json_argument(parser)


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
        print_json(document)
        return PASSED
    for info, summary in found:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(info.created))
        if summary is None:
            state = "unfinished"
        elif summary.get("pass_rate") is None:
            state = "not measured"
        else:
            state = f"{summary['pass_rate']:.1%} of {summary.get('total_tests', 0)}"
        print_line(f"{info.id}  {when}  {state:18} {info.name or '-'}  {info.agent}")
    return PASSED
