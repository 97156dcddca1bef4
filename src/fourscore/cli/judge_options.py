"""Options of a judge that is named on the command line: `--with JSON`, `--model`, `--base-url`."""

import argparse
from typing import Any

import msgspec

from fourscore.core import ConfigError


def judge_options(args: argparse.Namespace) -> dict[str, Any]:
    """What the arguments amount to; the short forms go before what `--with` says."""
    options: Any = {}
    if args.options:
        try:
            options = msgspec.json.decode(args.options)
        except msgspec.DecodeError as error:
            raise ConfigError(f"not JSON: {error}", field="--with") from None
    if not isinstance(options, dict):
        raise ConfigError("expected an object", field="--with")
    if args.model:
        options["model"] = args.model
    if base_url := getattr(args, "base_url", None):
        options["settings"] = {**options.get("settings", {}), "base_url": base_url}
    return options
