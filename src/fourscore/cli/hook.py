"""The flags of `fourscore hook`, for its help; `cli/main.py` runs it without this module."""

import argparse

from fourscore.evolve import hook


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--file",
        metavar="FILE",
        help=f"append the records to this file ({hook.RECORDS} in the agent's folder)",
    )
    add("--agent-version", metavar="WORD", help="version of the agent, stored in each record")
    add("--no-output", action="store_true", help="do not store the output of commands")


def run(args: argparse.Namespace) -> int:
    words = [word for word in ("--file", args.file) if args.file]
    words += [word for word in ("--agent-version", args.agent_version) if args.agent_version]
    words += ["--no-output"] if args.no_output else []
    return hook.main(words)
