"""The catalogue of built-in judges: each has a description, described options and an example."""

import json
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from fourscore.cli.main import main
from fourscore.core import ConfigError
from fourscore.judges.catalog import Entry, describe_judge, list_entries
from fourscore.judges.checks import CHECKS
from fourscore.judges.checks.case_checks import make_check
from fourscore.judges.loading import BUILT_IN
from fourscore.report.judge_list import write_page

ENTRIES = list_entries()
PAGE = Path(__file__).parents[2] / "docs" / "judge-list.md"


def test_lists_every_built_in_judge() -> None:
    assert {one.name for one in ENTRIES} == set(BUILT_IN)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda one: one.name)
def test_judge_and_its_options_are_described(entry: Entry) -> None:
    assert entry.description.endswith(".")
    assert [one.name for one in entry.options if not one.description] == []


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_example_of_a_check_can_be_used(name: str) -> None:
    if name == "embedding_similarity":
        pytest.importorskip("onnxruntime")
        return  # it names a folder that only a user has
    entry = YAML(typ="safe").load(describe_judge(name).example)
    assert make_check(name, json.dumps(entry)).name == name


def test_page_of_the_docs_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == write_page(ENTRIES)


def test_unknown_names_are_explained() -> None:
    with pytest.raises(ConfigError, match="did you mean contains"):
        describe_judge("contain")
    with pytest.raises(ConfigError, match="no judge with by: local"):
        describe_judge("exact", "local")


def test_command_prints_list_and_one_judge(capsys: Any) -> None:
    assert main(["judges"]) == 0
    listed = capsys.readouterr().out
    assert all(f"  {name} " in listed for name in BUILT_IN)
    assert main(["judges", "number"]) == 0
    assert "tolerance  (number; default 0.0)" in capsys.readouterr().out
    assert main(["judges", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["judges"]) == len(BUILT_IN)
