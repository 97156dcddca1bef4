"""`fourscore schema`: JSON Schema documents, for editors that complete and check files."""

import argparse
from typing import Any

import msgspec

from fourscore.cli.flags import add_json_argument
from fourscore.cli.main import PASSED
from fourscore.cli.run_settings import RunSettings
from fourscore.formats.json_schemas import make_cases_schema, make_config_schema, make_rubric_schema
from fourscore.integrations.agentjet_config import TaskJudge
from fourscore.report.streams import print_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = "print the schema of this kind of file"
    parser.add_argument("kind", choices=("cases", "rubric", "config"), help=text)
    add_json_argument(parser)


def run(args: argparse.Namespace) -> int:
    documents: dict[str, Any] = {
        "cases": make_cases_schema,
        "rubric": make_rubric_schema,
        "config": lambda: make_config_schema(TaskJudge, RunSettings),
    }
    text = msgspec.json.format(msgspec.json.encode(documents[args.kind]()), indent=2).decode()
    print_text(f"{text}\n")
    return PASSED
