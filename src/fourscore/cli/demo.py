"""`fourscore demo`: run a bundled test set against a bundled agent, as `fourscore run` does.

It needs no key and no network: the agent is a small research assistant that searches pages of the
package, and the judges call no model. The store and the report go into one folder.
"""

import argparse
import os
import shlex
from importlib import resources
from pathlib import Path

from fourscore.cli import run as run_command
from fourscore.core import ConfigError
from fourscore.report.streams import print_line

FOLDER = "fourscore-demo"
AGENT = "fourscore.cli.demo_files.agent:answer"
#: The file name of the report, which is written beside the store.
REPORT = "report.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dir",
        default=FOLDER,
        metavar="FOLDER",
        help=f"write the run and its report to this folder ({FOLDER})",
    )
    parser.add_argument(
        "--json", action="store_true", help="print the summary as a JSON document on stdout"
    )


def run(args: argparse.Namespace) -> int:
    folder = Path(args.dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = error.strerror or "cannot be made"
        raise ConfigError(message, file=args.dir, field="--dir") from None
    store, report = folder / "runs.db", folder / REPORT
    with resources.as_file(
        resources.files("fourscore.cli") / "demo_files" / "cases.jsonl"
    ) as cases:
        words = ["--cases", str(cases), "--agent", AGENT, "--name", "demo", "--store", str(store)]
        words += ["--out", str(report)]
        parser = argparse.ArgumentParser()
        run_command.add_arguments(parser)
        code = run_command.run(parser.parse_args([*words, *(["--json"] if args.json else [])]))
    if not args.json:
        _print_next(report)
    return code


def _print_next(report: Path) -> None:
    """Print the path of the report and the next command to try."""
    if report.is_file():
        path = shlex.quote(os.fspath(report))
        print_line(f"{path} shows these results and every case in a browser")
    print_line("fourscore init my-tests writes the files of your own test set")
