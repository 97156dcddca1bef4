"""`fourscore evolve report`: write the lineage as one HTML file."""

import argparse
import sys
from pathlib import Path

import msgspec

from fourscore.cli.main import PASSED
from fourscore.core import DataError
from fourscore.evolve.folder import Evolution

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
        sys.stdout.write(msgspec.json.encode(document).decode() + "\n")
    else:
        sys.stdout.write(f"report: {out}\n")
    return PASSED
