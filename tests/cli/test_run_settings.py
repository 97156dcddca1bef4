"""One definition of the settings of `fourscore run`: flags, keys, schema and `--resume`."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from fourscore.cli import run as run_command
from fourscore.cli import schema
from fourscore.cli.flags import Setting, list_settings
from fourscore.cli.run_resume import resume_settings
from fourscore.cli.run_settings import RunSettings, read_settings
from fourscore.core import ConfigError
from fourscore.stores.run import RunInfo

SETTINGS = list_settings(RunSettings)
#: A value of each kind as a flag takes it, as a configuration has it, and as it is then known.
VALUES: dict[str, tuple[str, Any, Any]] = {
    "where": ("level=3", {"level": 3}, {"level": 3}),
    "labels": ("branch=7", {"branch": "7"}, {"branch": "7"}),
    "tags": ("a", ["a"], ["a"]),
    "all_tags": ("a", ["a"], ["a"]),
    "not_tags": ("a", ["a"], ["a"]),
    "gates": ("pass_rate>=0.5", ["pass_rate>=0.5"], ["pass_rate>=0.5"]),
    "budget": ("500calls", ["500calls"], ["500calls"]),
    "isolate": ("", True, True),
    "fail_fast": ("", True, True),
    "cache": ("", False, False),
    "repeats": ("3", 3, 3),
    "concurrency": ("3", 3, 3),
    "deadline": ("3.5", 3.5, 3.5),
    "judge_deadline": ("3.5", 3.5, 3.5),
    "limit": ("3", 3, 3),
    "sample": ("3", 3, 3),
    "seed": ("3", 3, 3),
}
RULES = ("keep", "change", "same content")
PARTS = ["--cases", "cases.jsonl", "--agent", "recorded"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    run_command.add_arguments(parser)
    return parser.parse_args(words)


def flag_words(each: Setting) -> list[str]:
    assert each.flag is not None
    word = VALUES.get(each.key, ("text", "text", "text"))[0]
    return [each.flag, *([word] if word else [])]


def list_flags() -> list[Setting]:
    return [each for each in SETTINGS if each.flag is not None]


def test_only_options_of_single_models_have_no_flag() -> None:
    assert [each.key for each in SETTINGS if each.flag is None] == ["models"]


@pytest.mark.parametrize("each", list_flags(), ids=lambda each: each.key)
def test_a_flag_and_a_key_of_the_configuration_give_the_same_setting(each: Setting) -> None:
    _, written, known = VALUES.get(each.key, ("text", "text", "text"))
    by_flag = read_settings(parse(*PARTS, *flag_words(each)))
    assert getattr(by_flag, each.key) == known
    section = {"cases": "cases.jsonl", "agent": "recorded", each.key: written}
    Path("config.json").write_text(json.dumps({"fourscore": {"run": section}}))
    by_key = read_settings(parse("config.json"))
    assert getattr(by_key, each.key) == known


@pytest.mark.parametrize("each", SETTINGS, ids=lambda each: each.key)
def test_the_schema_has_the_key_with_the_help_of_the_flag(
    each: Setting, capsys: pytest.CaptureFixture[str]
) -> None:
    schema.run(argparse.Namespace(kind="config"))
    fields = json.loads(capsys.readouterr().out)["$defs"]["RunSettings"]["properties"]
    assert fields[each.key]["description"] == each.help


def make_stored_run() -> RunInfo:
    """A run as a store has it, with the settings that a command line gave."""
    settings = read_settings(parse(*PARTS, "--repeats", "2", "--where", "level=1"))
    options = {key: getattr(settings.resolve_paths(), key) for key in RunSettings.__struct_fields__}
    return RunInfo(options=options)


@pytest.mark.parametrize("each", list_flags(), ids=lambda each: each.key)
def test_resume_changes_a_setting_or_refuses_it_by_its_rule(each: Setting) -> None:
    args = parse("--resume", "r", *flag_words(each))
    if each.resume == "keep":
        with pytest.raises(ConfigError, match="--resume cannot change that to") as caught:
            resume_settings(make_stored_run(), args, "runs.db")
        assert caught.value.field == each.flag
    else:
        known = VALUES.get(each.key, ("", "", "text"))[2]
        assert getattr(resume_settings(make_stored_run(), args, "runs.db"), each.key) == known


def test_what_resume_may_change() -> None:
    rules = {rule: {each.key for each in SETTINGS if each.resume == rule} for rule in RULES}
    assert rules["same content"] == {"cases", "rubric"}
    assert rules["change"] == {
        "store", "concurrency", "deadline", "judge_deadline", "fail_fast", "gates",
        "budget", "cache", "prices",
    }  # fmt: skip
    assert sum(map(len, rules.values())) == len(SETTINGS)


@pytest.mark.parametrize(
    "words", [[], ["--agent", "recorded"], ["--repeats", "2"], ["--where", "level=1"]]
)
def test_resume_accepts_a_flag_that_says_what_the_run_has(words: list[str]) -> None:
    info = make_stored_run()
    settings = resume_settings(info, parse("--resume", "r", *words), "runs.db")
    assert settings.resolve_paths().repeats == info.options["repeats"]


def test_resume_refuses_a_configuration_file() -> None:
    with pytest.raises(ConfigError, match="leave CONFIG out"):
        resume_settings(make_stored_run(), parse("config.yaml", "--resume", "r"), "runs.db")
