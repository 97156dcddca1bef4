"""`fourscore cache info` and `fourscore cache clear`: the stored replies of models."""

import argparse
import time
from pathlib import Path

import msgspec

from fourscore.cli.flags import add_json_argument
from fourscore.cli.main import PASSED
from fourscore.models.cache_admin import CacheInfo, clear_cache, read_cache_info
from fourscore.models.model_spec import get_default_cache
from fourscore.report.streams import print_json, print_line

ACTIONS = {
    "info": "Show where the cache is, how many replies it has, and when they were used",
    "clear": "Remove all replies, so that models are asked again",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, text in ACTIONS.items():
        action = actions.add_parser(name, help=text, description=text)
        about = "the file of the cache, as in the setting `cache` (the default cache)"
        action.add_argument("file", nargs="?", metavar="FILE", help=about)
        add_json_argument(action)


def run(args: argparse.Namespace) -> int:
    path = Path(args.file).expanduser() if args.file else get_default_cache()
    is_clear = args.action == "clear"
    info = clear_cache(path) if is_clear else read_cache_info(path)
    if args.json:
        print_json({"action": args.action, **msgspec.to_builtins(info)})
    elif is_clear:
        print_line(f"removed {_count(info)} from {info.path}")
    else:
        _print_info(info)
    return PASSED


def _print_info(info: CacheInfo) -> None:
    print_line(f"file     {info.path}" + ("" if info.exists else " (it does not exist yet)"))
    print_line(f"content  {_count(info)}, {info.file_bytes / 2**20:.1f} MiB on disk")
    if info.first_used is not None and info.last_used is not None:
        print_line(f"used     {_date(info.first_used)} to {_date(info.last_used)}")
    if info.replies:
        print_line("next     fourscore cache clear, or --no-cache to ask models again in one run")


def _count(info: CacheInfo) -> str:
    return f"{info.replies:,} {'reply' if info.replies == 1 else 'replies'}"


def _date(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):  # whatever stands in the file
        return "an unknown time"
