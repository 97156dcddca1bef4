"""`fourscore label`: record a person's verdict on a stored output."""

import argparse
import getpass

import msgspec

from fourscore.cli.flags import add_json_argument, add_run_argument, add_store_argument
from fourscore.cli.main import PASSED
from fourscore.report.streams import print_json, print_line
from fourscore.stores.sqlite import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_run_argument(parser)
    add("case_id", metavar="CASE", help="label the output of this case")
    add("verdict", choices=("pass", "fail"), help="record this verdict")
    add("--repeat", type=int, default=1, metavar="N", help="label this attempt at the case (1)")
    add(
        "--who",
        default=None,
        metavar="NAME",
        help="record this person as the author of the label (default: you)",
    )
    add("--note", default="", help="record why")
    add_store_argument(parser)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    who = args.who or getpass.getuser()
    with Store(args.store, make=False) as store:
        info = store.run(args.run_id)
        store.label(
            info.id, args.case_id, args.repeat, who=who, verdict=args.verdict, note=args.note
        )
        labels = store.labels(info.id)
    if args.json:
        document = {"run": info.id, "labels": msgspec.to_builtins(labels)}
        print_json(document)
    else:
        print_line(f"{who}: {args.verdict}; {len(labels)} labels on run {info.id}")
    return PASSED
