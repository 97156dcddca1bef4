"""`fourscore init`: write the files of a test project that can be run as it is.

If one of the files exists already, nothing is written, unless --force is given. An existing
.gitignore is kept: missing lines are added to it.
"""

import argparse
import os
import shlex
from importlib import resources
from pathlib import Path

from fourscore.cli.main import PASSED
from fourscore.core import ConfigError
from fourscore.report.streams import print_json, print_line

#: The files that are written, each with the name of its template in `init_files`.
FILES = {
    "fourscore.yaml": "fourscore.yaml",
    "cases.jsonl": "cases.jsonl",
    "rubric.yaml": "rubric.yaml",
    "checks.py": "checks.py",
    "agent.py": "agent.py",
    ".github/workflows/fourscore.yml": "workflow.yml",
}
#: The files of a project whose cases bring their own checks; it needs no rubric.
FILES_WITH_CHECKS = {
    "fourscore.yaml": "fourscore.yaml",
    "cases.jsonl": "cases_with_checks.jsonl",
    "agent.py": "agent.py",
    ".github/workflows/fourscore.yml": "workflow.yml",
}
IGNORED = ".gitignore"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = "write the files to this folder (default: the working folder)"
    parser.add_argument("dir", nargs="?", default=".", metavar="DIR", help=text)
    text = "write cases that bring their own checks, and no rubric"
    parser.add_argument("--checks", action="store_true", help=text)
    parser.add_argument("--force", action="store_true", help="replace existing files")
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")


def run(args: argparse.Namespace) -> int:
    folder = Path(args.dir)
    files = FILES_WITH_CHECKS if args.checks else FILES
    taken = [name for name in files if os.path.lexists(folder / name)]
    if taken and not args.force:
        are = "is" if len(taken) == 1 else "are"
        message = f"{', '.join(taken)} {are} already there; use --force to replace them"
        raise ConfigError(message, file=args.dir)
    try:
        for name, template in files.items():
            text = _template(template)
            if "rubric.yaml" not in files:
                text = text.replace("    rubric: rubric.yaml\n", "")
            _write(folder / name, text, replace=args.force)
        _add_ignored(folder / IGNORED)
    except OSError as error:
        place = os.fspath(error.filename or args.dir)
        raise ConfigError(error.strerror or "cannot be written", file=place) from None
    written = [*files, IGNORED]
    if args.json:
        document = {"folder": str(folder.resolve()), "files": written, "exit_code": PASSED}
        print_json(document)
        return PASSED
    for name in written:
        print_line(str(folder / name))
    there = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(args.dir)} && "
    print_line(f"next: {there}fourscore run")
    return PASSED


def _template(name: str) -> str:
    return (resources.files("fourscore.cli") / "init_files" / name).read_text(encoding="utf-8")


def _write(path: Path, text: str, *, replace: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w" if replace else "x", encoding="utf-8") as out:
        out.write(text)


def _add_ignored(path: Path) -> None:
    """Add the lines of the template that a .gitignore lacks."""
    there = path.read_bytes().decode("utf-8", "replace") if path.exists() else ""
    known = there.splitlines()
    missing = [line for line in _template("gitignore").splitlines() if line not in known]
    if missing:
        gap = "" if not there or there.endswith("\n") else "\n"
        with path.open("a", encoding="utf-8") as out:
            out.write(gap + "".join(f"{line}\n" for line in missing))
