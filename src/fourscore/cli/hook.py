"""`fourscore hook` for the help page: the command itself branches off in `cli.py`, before this."""

import argparse

from fourscore.evolve import hook


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--file", metavar="FILE", help=f"where records go ({hook.RECORDS} in the agent's folder)")
    add("--agent-version", metavar="WORD", help="which version of the agent it is")
    add("--no-output", action="store_true", help="leave out what commands put out")


def run(args: argparse.Namespace) -> int:
    words = [word for word in ("--file", args.file) if args.file]
    words += [word for word in ("--agent-version", args.agent_version) if args.agent_version]
    words += ["--no-output"] if args.no_output else []
    return hook.main(words)
