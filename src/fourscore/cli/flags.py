"""Flags that several commands share, and how their values are read."""

import argparse
from typing import Any

from fourscore.core import ConfigError
from fourscore.formats.document import parse_document
from fourscore.stores.sqlite import DEFAULT_STORE


def add_store_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--store",
        default=DEFAULT_STORE,
        metavar="FILE",
        help=f"read runs from this store ({DEFAULT_STORE})",
    )


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")


def add_scores_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--scores`: a run has scores by its own rubric, and by those of each `rescore`."""
    parser.add_argument(
        "--scores",
        metavar="FINGERPRINT",
        help="take the scores by this rubric, from fourscore rescore, instead of the run's own",
    )


def parse_key_value(text: str, flag: str) -> tuple[str, Any]:
    """`key=value` as a pair; the value is read as YAML, so 0.2 is a number."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"{text!r}: expected KEY=VALUE", field=flag)
    return key.strip(), parse_document(value, flag).value
