"""The command line: a name, a module that is imported only when it is asked for, an exit code.

0 passed; 1 a gate failed; 2 bad usage, configuration or data; 3 something planned was not measured.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `fourscore hook` has no time for imports
    import argparse
    from collections.abc import Sequence
    from typing import NoReturn

    from fourscore.core import FourscoreError

#: Each module has `add_arguments(parser)` and `run(args) -> int`.
COMMANDS = {
    "demo": "keyless tour: a bundled test set against a bundled agent",
    "init": "the files of a test project that runs at once",
    "run": "run a test set: cases, a rubric, an agent",
    "compare": "two runs side by side, and whether the difference is real",
    "rescore": "judge a run's stored traces by another rubric",
    "runs": "list the runs of a store",
    "show": "a run's summary, or one of its cases",
    "label": "a person's verdict on a stored output",
    "calibrate": "a judge held against what people say",
    "attack": "how far a judge can be talked into a good score",
    "rubric": "learn a rubric from labelled samples",
    "schema": "JSON Schema of case, rubric and configuration files",
    "judge": "rewards for recorded outputs, a row in, a row out",
    "score": "fitness from an execution log: 0 to 100, a grade, advice",
    "evolve": "versions of a prompt: decisions, history, rollback",
    "hook": "append a coding agent's tool use to its execution log",
    "serve": "rewards over HTTP, for any trainer",
    "monitor": "how an agent in production does: status, alerts, test cases",
}

PASSED, GATE_FAILED, BAD_INPUT, INCOMPLETE, INTERRUPTED = 0, 1, 2, 3, 130


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(words):
        from fourscore.evolve.hook import main as hook

        return hook(words[1:])
    from fourscore.core import FourscoreError

    _mend_streams()
    args = _parser(words).parse_args(words)
    if args.command is None:
        _parser(words).print_help()
        return PASSED
    try:
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except FourscoreError as error:
        return _refused(error, as_json=getattr(args, "json", False))
    except KeyboardInterrupt:
        print("fourscore: interrupted", file=sys.stderr)  # noqa: T201
        return INTERRUPTED
    except BrokenPipeError:
        return _unwritten("")
    except OSError as error:
        return _unwritten(f"fourscore: {error.strerror or error}")


def _mend_streams() -> None:
    """Started with `>&-` or `2>&-`, Python has None where a stream should be."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.stdout = open("/dev/full", "w") if os.path.exists("/dev/full") else sys.stderr  # noqa: PTH110, PTH123, SIM115


def _unwritten(words: str) -> int:
    """The disk is full or the reader has gone. Python would complain again while closing stdout."""
    if words:
        print(words, file=sys.stderr)  # noqa: T201
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return INCOMPLETE
    return INCOMPLETE


def _parser(words: "Sequence[str]") -> "argparse.ArgumentParser":
    """The parser; only the command that is asked for is imported and has its arguments."""
    import argparse
    import importlib

    from fourscore import __version__
    from fourscore.core import ConfigError

    class Parser(argparse.ArgumentParser):
        """With `--json` there is a document, even where the other words cannot be read."""

        def error(self, message: str) -> "NoReturn":
            if "--json" in words:
                field, colon, told = message.removeprefix("argument ").partition(": ")
                named = colon and message.startswith("argument ")
                _print_error(ConfigError(told, field=field) if named else ConfigError(message))
            super().error(message)

    parser = Parser(
        prog="fourscore",
        description="One score for an agent: reward, grade, alarm and fitness.",
        epilog="exit codes: 0 passed, 1 a gate failed, 2 bad input, 3 incomplete",
    )
    parser.add_argument("--version", action="version", version=f"fourscore {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name in words:
            module = importlib.import_module(f"fourscore.cli.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _refused(error: "FourscoreError", *, as_json: bool) -> int:
    if as_json:
        _print_error(error)
    print(f"fourscore: {error}", file=sys.stderr)  # noqa: T201
    return BAD_INPUT


def _print_error(error: "FourscoreError") -> None:
    import msgspec

    from fourscore.core import InputError

    document: dict[str, object] = {"message": str(error)}
    if isinstance(error, InputError):
        where = {"file": error.file, "line": error.line, "field": error.field}
        document = {"message": error.message, **where}
    text = msgspec.json.encode({"error": document, "exit_code": BAD_INPUT}).decode()
    print(text)  # noqa: T201
