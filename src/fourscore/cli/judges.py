"""`fourscore judges`: list the built-in judges, or show one with its options."""

import argparse

import msgspec

from fourscore.cli.flags import add_json_argument
from fourscore.cli.main import PASSED
from fourscore.judges.catalog import describe_judge, list_entries
from fourscore.report.judge_list import write_entry, write_list, write_page
from fourscore.report.streams import print_json, print_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="show this judge with its options")
    text = "with NAME, show the judge that uses a local or a chat model"
    parser.add_argument("--by", choices=("rules", "local", "model"), default="rules", help=text)
    text = "print the whole list as Markdown"
    parser.add_argument("--markdown", action="store_true", help=text)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    entries = [describe_judge(args.name, args.by)] if args.name else list_entries()
    if args.json:
        print_json({"judges": msgspec.to_builtins(entries)})
    elif args.markdown:
        print_text(write_page(entries))
    elif args.name:
        print_text(write_entry(entries[0]))
    else:
        print_text(write_list(entries))
    return PASSED
