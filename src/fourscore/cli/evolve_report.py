"""`fourscore evolve report`: write the lineage as one HTML file."""

import argparse
from pathlib import Path

from fourscore.cli.main import PASSED
from fourscore.core import DataError
from fourscore.evolve.folder import Evolution
from fourscore.report.streams import print_json, print_line

NAME = "lineage.html"


def add_arguments(parser: argparse.ArgumentParser, folder: str) -> None:
    add = parser.add_argument
    document = f"folder of the evolution ({folder})"
    add("dir", nargs="?", default=argparse.SUPPRESS, metavar="DIR", help=document)
    add(
        "--dir",
        dest="dir",
        default=folder,
        metavar="DIR",
        help="folder of the evolution, the same as the argument",
    )
    add("--out", default=NAME, metavar="FILE", help=f"write the page to this file ({NAME})")


def run(args: argparse.Namespace) -> int:
    from fourscore.report.evolution_page import write_lineage

    out = Path(args.out)
    with Evolution(args.dir, write=False) as evolution:
        try:
            write_lineage(out, evolution)
        except OSError as error:
            message = error.strerror or "cannot be written"
            raise DataError(message, file=args.out, field="--out") from None
        active, versions = evolution.active.number, len(evolution.history.versions)
    if args.json:
        document = {"report": args.out, "versions": versions, "active": active}
        print_json(document)
    else:
        print_line(f"report: {out}")
    return PASSED
