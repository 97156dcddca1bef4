"""The command line: find the command, import its module, run it, return its exit code.

0 passed; 1 a gate failed; 2 bad usage, configuration or data; 3 something planned was not measured;
70 a mistake in fourscore, with the traceback in a file; 130 interrupted.
Only the module of the command that was typed is imported.
"""

import errno
import os
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # `fourscore hook` must start fast
    import argparse
    from collections.abc import Sequence
    from typing import NoReturn

    from fourscore.core import FourscoreError

#: Each command is a module of this package with `add_arguments(parser)` and `run(args) -> int`.
COMMANDS = {
    "demo": "Run a bundled test set against a bundled agent; needs no key",
    "init": "Write the files of a test project that can be run as it is",
    "run": "Run a test set: an agent answers cases, a rubric scores the answers",
    "compare": "Compare two runs, and test whether the difference is real",
    "rescore": "Judge the stored traces of a run by another rubric",
    "runs": "List the runs of a store",
    "show": "Show the summary of a run, or one of its cases",
    "label": "Record a person's verdict on a stored output",
    "calibrate": "Compare a judge with people's labels",
    "attack": "Attack a judge, and measure how often bad answers get good scores",
    "rubric": "Learn a rubric from labelled samples",
    "judges": "List the built-in judges and their options",
    "schema": "Print the JSON Schema of case, rubric or configuration files",
    "judge": "Compute rewards for recorded outputs, one line per output",
    "score": "Score an execution log: fitness from 0 to 100, a grade and advice",
    "evolve": "Evolve a prompt: versions, decisions, history, rollback",
    "hook": "Append a coding agent's tool use to its execution log",
    "serve": "Serve rewards over HTTP, for any trainer",
    "monitor": "Show the quality of an agent in production: status, alerts, test cases",
    "cache": "Show or remove the stored replies of models",
    "completion": "Print a script that completes commands in bash, zsh or fish",
}

PASSED, GATE_FAILED, BAD_INPUT, INCOMPLETE, CRASHED, INTERRUPTED = 0, 1, 2, 3, 70, 130
#: Flags that choose or name something: what they say may stand in answers too.
NEVER_SECRET = frozenset(
    ("--where", "--filter", "--tag", "--all-tags", "--not-tag", "--label", "--name", "--gate")
)
#: Errors of a disk or a pipe that is full or gone, wherever the output goes.
CANNOT_WRITE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE, errno.EBADF}


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run one command and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["hook"] and not {"-h", "--help"} & set(words):
        from fourscore.evolve.hook import main as hook

        return hook(words[1:])
    from fourscore.core.secrets import remember_spec

    for before, word in zip(["", *words], words, strict=False):
        if not {before, word.partition("=")[0]} & NEVER_SECRET:
            remember_spec(word)
    _replace_closed_streams()
    if "_ARGCOMPLETE" in os.environ:  # set by the shell while it completes a line
        return _complete()
    from fourscore.cli.crash import watch_background
    from fourscore.cli.stop_signals import stop_like_interrupt

    with stop_like_interrupt(), watch_background() as crashes:
        code = _run(words)
    return CRASHED if crashes and code != INTERRUPTED else code


def _run(words: "Sequence[str]") -> int:
    """Run the command and return its exit code, whatever it raises."""
    as_json = "--json" in words
    try:
        args = _parse_arguments(words)
        if args.command is None:
            _make_parser(words).print_help()
            return PASSED
        as_json = getattr(args, "json", False)
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except SystemExit:  # of argparse, which has printed why
        raise
    except BaseException as error:
        return _report_error(error, as_json=as_json)


def _report_error(error: BaseException, *, as_json: bool) -> int:
    """Print one sentence about the error, and return the exit code."""
    from asyncio import CancelledError

    from fourscore.core import FourscoreError

    whole = error
    while isinstance(error, BaseExceptionGroup):  # of tasks: the first one ended the others
        error = error.exceptions[0]
    if isinstance(error, KeyboardInterrupt | CancelledError):
        _print_message("interrupted")
        return INTERRUPTED
    if isinstance(error, FourscoreError):
        return _print_refusal(error, as_json=as_json)
    if isinstance(error, BrokenPipeError):
        return _stop_writing("")
    if isinstance(error, OSError) and error.errno in CANNOT_WRITE:
        return _stop_writing(error.strerror or str(error))
    if isinstance(error, OSError) and error.strerror:
        from fourscore.core import DataError

        file = None if error.filename is None else os.fsdecode(error.filename)
        return _print_refusal(DataError(error.strerror, file=file), as_json=as_json)
    return _print_crash(error, whole, as_json=as_json)


def _print_crash(error: BaseException, group: BaseException, *, as_json: bool) -> int:
    from fourscore.cli.crash import Crash
    from fourscore.report.streams import print_json

    crash = Crash(error, group=group)
    _print_message(crash.message)
    if as_json:
        about = {"message": crash.message, "traceback": crash.path}
        print_json({"error": about, "exit_code": CRASHED})
    return CRASHED


def _replace_closed_streams() -> None:
    """Replace streams that the shell closed (`>&-`, `2>&-`), which are None in Python."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115
    if sys.stdout is None:
        sys.stdout = open("/dev/full", "w") if os.path.exists("/dev/full") else sys.stderr  # noqa: PTH110, PTH123, SIM115


def _stop_writing(message: str) -> int:
    """Replace stdout after a full disk or a closed pipe: Python would report it again at exit."""
    if message:
        _print_message(message)
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return INCOMPLETE
    return INCOMPLETE


def _complete() -> int:
    """Print the words that may come next on the line that the shell is completing."""
    import argcomplete

    words = os.environ.get("COMP_LINE", "").split()[1:]
    argcomplete.autocomplete(_make_parser(words), always_complete_options="long")
    return PASSED


def _parse_arguments(words: "Sequence[str]") -> "argparse.Namespace":
    """Parse the words of a command line; suggest a known option for an unknown one."""
    from fourscore.core.errors import find_close_word

    parser = _make_parser(words)
    args, unknown = parser.parse_known_args(words)
    if unknown:
        option = unknown[0].partition("=")[0]
        close = find_close_word(option, args.options)
        hint = f"; did you mean {close}?" if close and option.startswith("-") else ""
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
    return args


def _make_parser(words: "Sequence[str]") -> "argparse.ArgumentParser":
    """Make the parser, with the arguments of the command in `words` only."""
    import argparse
    import importlib

    from fourscore import __version__
    from fourscore.core import ConfigError
    from fourscore.core.errors import find_close_word
    from fourscore.core.secrets import hide_in_spec
    from fourscore.formats.plain_text import make_printable

    class Parser(argparse.ArgumentParser):
        """Print a JSON error document with `--json`, and suggest the word for a mistyped one."""

        def error(self, message: str) -> "NoReturn":
            choice, _, choices = message.partition(" (choose from ")
            if choices:
                typed = choice.rpartition("invalid choice: ")[2].strip("'\"")
                known = [word.strip("'\" ") for word in choices.rstrip(")").split(",")]
                close = find_close_word(typed, known)
                message = f"{choice}; did you mean {close}?" if close else message
            if "--json" in words:
                field, colon, reason = message.removeprefix("argument ").partition(": ")
                named = colon and message.startswith("argument ")
                _print_error(ConfigError(reason, field=field) if named else ConfigError(message))
            super().error(make_printable(hide_in_spec(message)))

    parser = Parser(
        prog="fourscore",
        description="One score for an agent: reward, grade, alarm and fitness.",
        epilog="exit codes: 0 passed, 1 a gate failed, 2 bad input, 3 incomplete, 70 crashed, "
        "130 interrupted",
    )
    parser.add_argument("--version", action="version", version=f"fourscore {__version__}")
    parser.set_defaults(options=())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, description=summary)
        if name in words:
            module = importlib.import_module(f"fourscore.cli.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run, options=tuple(command._option_string_actions))
    return parser


def _print_refusal(error: "FourscoreError", *, as_json: bool) -> int:
    if as_json:
        _print_error(error)
    _print_message(str(error))
    return BAD_INPUT


def _print_message(text: str) -> None:
    from fourscore.report.streams import print_message

    with suppress(OSError):  # the terminal is gone, as after SIGHUP
        print_message(f"fourscore: {text}")


def _print_error(error: "FourscoreError") -> None:
    from fourscore.core import InputError
    from fourscore.report.streams import print_json

    document: dict[str, object] = {"message": str(error)}
    if isinstance(error, InputError):
        where = {"file": error.file, "line": error.line, "field": error.field}
        document = {"message": error.message, **where}
    print_json({"error": document, "exit_code": BAD_INPUT})
