"""Every dotted path in the documentation can be imported, in YAML and shell blocks too."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
PATH = re.compile(r"(?<![\w./-])(?:pkg://)?(fourscore(?:\.[A-Za-z_]\w*)+)")
#: File names, and OpenTelemetry attributes of ours.
NOT_PYTHON = {"fourscore.yaml", "fourscore.yml", "fourscore.db"}
NOT_PYTHON |= {"fourscore.tags", "fourscore.feedback"}
PRINTED = sorted({path for page in PAGES for path in PATH.findall(page.read_text())} - NOT_PYTHON)


@pytest.mark.parametrize("path", PRINTED)
def test_documented_path_can_be_imported(path: str) -> None:
    module, _, attribute = path.rpartition(".")
    try:
        importlib.import_module(path)
    except ModuleNotFoundError:
        assert hasattr(importlib.import_module(module), attribute)


def test_every_trainer_has_a_documented_path() -> None:
    trainers = {"agentjet", "nemo_gym", "openrlhf", "trl", "verifiers", "verl"}
    assert {f"fourscore.integrations.{trainer}" for trainer in trainers} <= set(PRINTED)
