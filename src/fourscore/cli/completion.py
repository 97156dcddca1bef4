"""`fourscore completion SHELL`: a script for the shell that completes commands, flags and files.

fourscore completion bash > ~/.local/share/bash-completion/completions/fourscore
fourscore completion zsh > ~/.zfunc/_fourscore        # with ~/.zfunc on fpath
fourscore completion fish > ~/.config/fish/completions/fourscore.fish
"""

import argparse

from fourscore.cli.main import PASSED
from fourscore.report.streams import print_text

SHELLS = ("bash", "zsh", "fish")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "shell", choices=SHELLS, metavar="SHELL", help="print the script for bash, zsh or fish"
    )


def run(args: argparse.Namespace) -> int:
    from argcomplete.shell_integration import shellcode

    script = shellcode(["fourscore"], shell=args.shell)
    print_text(f"{script.rstrip()}\n")
    return PASSED
