"""`fourscore evolve`: versions of a prompt, decisions about them, and rollbacks."""

import argparse
import os
from pathlib import Path
from typing import Any

import msgspec

from fourscore.cli import evolve_decide as deciding
from fourscore.cli import evolve_report as reporting
from fourscore.cli import evolve_step as stepping
from fourscore.cli.evolve_example import begin_example
from fourscore.cli.main import PASSED
from fourscore.core import ConfigError, DataError
from fourscore.evolve.folder import Evolution
from fourscore.evolve.lineage import lineage_document, status_document, version_document
from fourscore.evolve.settings import NAME, format_settings
from fourscore.evolve.version_texts import MAX_BYTES
from fourscore.report import evolution_panel as terminal
from fourscore.report.lineage_panel import show_lineage
from fourscore.report.streams import print_json, print_line, print_text

FOLDER = "evolution"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_init(_action(actions, "init", "start an evolution with a prompt as version 1"))
    _action(actions, "status", "show the active version and the allowed mutations", folder=True)
    versions = _action(
        actions, "versions", "list all versions, or print the text of one", folder=True
    )
    versions.add_argument(
        "version", nargs="?", type=int, metavar="VERSION", help="number of the version"
    )
    history = _action(actions, "history", "list all events, newest first", folder=True)
    history.add_argument(
        "--limit", type=int, default=50, metavar="N", help="list at most this many events (50)"
    )
    back = _action(actions, "rollback", "make an earlier version active again", folder=True)
    text = "number of the version to return to (default: the best, else the previous one)"
    back.add_argument("version", nargs="?", type=int, metavar="VERSION", help=text)
    back.add_argument("--why", default="", metavar="TEXT", help="reason, stored in the history")
    stepping.add_arguments(
        _action(actions, "step", "run generations: propose, compare, decide"), FOLDER
    )
    reporting.add_arguments(
        _action(actions, "report", "write the lineage as one HTML file"), FOLDER
    )
    deciding.add_arguments(
        _action(actions, "decide", "decide whether a new version is better than the old one")
    )


def run(args: argparse.Namespace) -> int:
    return int(ACTIONS[args.action](args))


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    *,
    folder: bool = False,
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=summary, description=summary)
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    if folder:
        parser.add_argument(
            "--dir", default=FOLDER, metavar="DIR", help=f"folder of the evolution ({FOLDER})"
        )
    return parser


def _add_init(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "dir",
        nargs="?",
        default=FOLDER,
        metavar="DIR",
        help=f"new folder of the evolution ({FOLDER})",
    )
    begin = parser.add_mutually_exclusive_group(required=True)
    begin.add_argument("--prompt", metavar="FILE", help="file with the first version of the prompt")
    text = "write an example with agent, cases and rubric that runs without a key"
    begin.add_argument("--example", action="store_true", help=text)
    add("--cases", metavar="FILE", help="cases that versions are run on")
    add("--agent", metavar="SPEC", help="agent that gets the prompt")
    add("--rubric", metavar="FILE", help="rubric that scores the answers")
    add("--store", metavar="FILE", help="store of the runs (runs.db in DIR)")
    add(
        "--model",
        metavar="SPEC",
        help="model that proposes mutations (default: rules without a model)",
    )
    add(
        "--budget",
        type=int,
        metavar="N",
        help="maximum number of pairs of attempts for a decision (200)",
    )
    add("--margin", type=float, metavar="POINTS", help="smallest gain that counts, in points (2)")


def _init(args: argparse.Namespace) -> int:
    if args.example:
        return _example(args)
    folder, text = Path(args.dir), _prompt(args.prompt)
    values: dict[str, object] = {
        key: _relative_to(folder, getattr(args, key))
        for key in ("cases", "rubric", "store")
        if getattr(args, key) is not None
    }
    if args.agent is not None:
        file, python, name = args.agent.partition(".py:")
        plain = python and " " not in file
        values["agent"] = f"{_relative_to(folder, file)}{python}{name}" if plain else args.agent
    for key in ("model", "budget", "margin"):
        if getattr(args, key) is not None:
            values[key] = getattr(args, key)
    if values and (folder / NAME).exists():
        message = f"{NAME} exists already: change the settings there, without options here"
        raise ConfigError(message, file=str(folder / NAME))
    with Evolution.begin(folder, text, format_settings(values), source=args.prompt) as evolution:
        where = "" if str(folder) == FOLDER else f" --dir {folder}"
        return _begun(args, evolution, f"fourscore evolve status{where}")


def _example(args: argparse.Namespace) -> int:
    names = ("cases", "agent", "rubric", "store", "model", "budget", "margin")
    for key in names:
        if getattr(args, key) is not None:
            raise ConfigError(
                "the example has its own setting: leave this flag out", field=f"--{key}"
            )
    with begin_example(Path(args.dir)) as evolution:
        where = "" if args.dir == FOLDER else f" {args.dir}"
        return _begun(args, evolution, f"fourscore evolve step{where} --generations 20")


def _begun(args: argparse.Namespace, evolution: Evolution, following: str) -> int:
    document = {
        "folder": str(evolution.path),
        "active": version_document(evolution, evolution.active),
        "settings": str(evolution.path / NAME),
    }
    if args.json:
        return _json(document)
    file = evolution.path / "versions" / "0001.md"
    print_line(f"begun: {file}")
    print_line(f"next: {following}")
    return PASSED


def _status(args: argparse.Namespace) -> int:
    with Evolution(args.dir, write=False) as evolution:
        document, versions = status_document(evolution), lineage_document(evolution)
    if args.json:
        return _json(document)
    terminal.show_status(document)
    if len(versions) > 1:
        show_lineage(versions)
    return PASSED


def _versions(args: argparse.Namespace) -> int:
    with Evolution(args.dir, write=False) as evolution:
        if args.version is not None:
            version, text = evolution.version(args.version), evolution.text(args.version)
            if args.json:
                return _json({**version_document(evolution, version), "text": text})
            print_text(text)
            return PASSED
        documents = [version_document(evolution, each) for each in evolution.versions()]
    if args.json:
        return _json({"versions": documents})
    terminal.show_versions(documents)
    return PASSED


def _history(args: argparse.Namespace) -> int:
    if args.limit < 1:
        raise ConfigError("expected at least 1", field="--limit")
    with Evolution(args.dir, write=False) as evolution:
        events = [msgspec.to_builtins(event) for event in evolution.events()]
    shown = events[: -args.limit - 1 : -1]
    if args.json:
        return _json({"events": shown, "left_out": len(events) - len(shown)})
    terminal.show_history(args.dir, shown)
    if len(shown) < len(events):
        print_line(f"and {len(events) - len(shown)} before; --limit shows more")
    return PASSED


def _rollback(args: argparse.Namespace) -> int:
    with Evolution(args.dir) as evolution:
        ruling, left = evolution.must_roll_back(), evolution.active.number
        reason = ruling.reason if ruling.yes else "asked"
        why = args.why or (ruling.why if ruling.yes else "")
        active = evolution.rollback(args.version, reason=reason, why=why)
        version = version_document(evolution, active)
        document = {"left": left, "active": version, "reason": reason, "why": why}
    if args.json:
        return _json(document)
    print_line(f"active: {active.number} ({version['file']}), was {left}")
    return PASSED


def _prompt(path: str) -> str:
    try:
        with Path(path).open("rb") as stream:
            return stream.read(MAX_BYTES + 1).decode()
    except OSError as error:
        raise DataError(error.strerror or "cannot be read", file=path, field="--prompt") from None
    except UnicodeDecodeError:
        raise DataError("not UTF-8", file=path, field="--prompt") from None


def _relative_to(folder: Path, name: str) -> str:
    """Return a file name relative to the folder."""
    return name if Path(name).is_absolute() else os.path.relpath(name, folder)


def _json(document: dict[str, Any]) -> int:
    print_json(document)
    return PASSED


ACTIONS = {
    "init": _init,
    "status": _status,
    "versions": _versions,
    "history": _history,
    "rollback": _rollback,
    "step": stepping.run,
    "decide": deciding.run,
    "report": reporting.run,
}
