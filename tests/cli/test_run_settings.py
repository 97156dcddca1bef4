"""One definition of the settings of `fourscore run`: flags, keys, schema and `--resume`."""

import argparse
import json
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest

from fourscore.cli import run as run_command
from fourscore.cli import schema
from fourscore.cli.flags import Setting, list_settings
from fourscore.cli.run_resume import digest_agent, resume_settings
from fourscore.cli.run_settings import RunSettings, make_settings, read_settings
from fourscore.core import ConfigError
from fourscore.core.secrets import hide_in_spec
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
RULES = ("keep", "change", "same content", "give again")
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
    args = parse(*PARTS, "--resume", "r", *flag_words(each))
    if each.resume == "give again":
        with pytest.raises(ConfigError, match="began with another agent"):
            resume_settings(make_stored_run(), args, "runs.db")
    elif each.resume == "keep":
        with pytest.raises(ConfigError, match="--resume cannot change that to") as caught:
            resume_settings(make_stored_run(), args, "runs.db")
        assert caught.value.field == each.flag
    else:
        known = VALUES.get(each.key, ("", "", "text"))[2]
        assert getattr(resume_settings(make_stored_run(), args, "runs.db"), each.key) == known


def test_what_resume_may_change() -> None:
    rules = {rule: {each.key for each in SETTINGS if each.resume == rule} for rule in RULES}
    assert rules["same content"] == {"cases", "rubric"}
    assert rules["give again"] == {"agent", "models", "judge_model"}
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
    settings = resume_settings(info, parse(*PARTS, "--resume", "r", *words), "runs.db")
    assert settings.resolve_paths().repeats == info.options["repeats"]


HOSTILE: dict[str, Any] = {"models": {"openai:m": {"base_url": "http://evil"}}}


@pytest.mark.parametrize("each", SETTINGS, ids=lambda each: each.key)
def test_resume_reads_no_code_address_or_path_from_a_store(each: Setting) -> None:
    """A new setting that names such a thing must not be kept: only these kinds may be."""
    hostile = HOSTILE.get(each.key, VALUES.get(each.key, ("", "", "/evil.py:run"))[2])
    info = make_stored_run()
    # Whoever can write the store can write the digest as well.
    info = msgspec.structs.replace(info, options={**info.options, each.key: hostile})
    args = parse(*PARTS, "--resume", "r")
    if each.key in ("agent", "models", "rubric", "judge_model"):
        with pytest.raises(ConfigError, match="a store does not choose what is started"):
            resume_settings(info, args, "runs.db")
    elif each.is_local:
        assert getattr(resume_settings(info, args, "runs.db"), each.key) != hostile
    else:
        assert getattr(resume_settings(info, args, "runs.db"), each.key) == hostile
        harmless = (int, float, bool, int | None, list[str], dict[str, str], dict[str, Any])
        texts = {"name", "filter", "budget"}  # a word, an expression without calls, amounts
        assert each.kind in harmless or each.key in texts


@pytest.mark.parametrize("agent", ["shell: touch evil", "evil:run", "evil.py:run", "http://evil/"])
def test_resume_without_the_agent_starts_nothing(agent: str) -> None:
    info = make_stored_run()
    info = msgspec.structs.replace(info, options={**info.options, "agent": agent})
    with pytest.raises(ConfigError) as caught:
        resume_settings(info, parse("--resume", "r"), "runs.db")
    assert "needs --cases, --agent again" in caught.value.message
    words = shlex.split(caught.value.message.partition("then type it: ")[2])
    assert words[:2] == ["fourscore", "run"]
    assert Path(words[words.index("--agent") + 1]).name == Path(agent).name
    assert words[-2:] == ["--resume", info.id]


def test_resume_takes_a_configuration_file_and_says_what_the_run_keeps(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "fourscore: {run: {cases: cases.jsonl, agent: recorded, repeats: 3, concurrency: 5}}"
    Path("config.yaml").write_text(text)
    settings = resume_settings(make_stored_run(), parse("config.yaml", "--resume", "r"), "runs.db")
    assert (settings.repeats, settings.concurrency) == (2, 5)
    assert "keeps its own repeats: 2" in capsys.readouterr().err
    assert settings.cases == "cases.jsonl"


@pytest.mark.parametrize(
    ("agent", "hidden"),
    [
        ("https://ann:pass@host/agent", "https://[key]@host/agent"),
        ("https://host/agent?api_key=abc&x=1", "https://host/agent?api_key=[key]&x=1"),
        ("shell: API_TOKEN=abc tool --name x", "shell: API_TOKEN=[key] tool --name x"),
        ("shell: tool --api-key abc --n 3", "shell: tool --api-key [key] --n 3"),
        ("shell: curl -H 'X-Api-Key: abc' u", "shell: curl -H 'X-Api-Key: [key]' u"),
        ("shell: a Bearer abc", "shell: a Bearer [key]"),
        ("keys.py:monkey", "keys.py:monkey"),
        ("shell: python agent.py", "shell: python agent.py"),
    ],
)
def test_the_resume_command_hides_secrets(agent: str, hidden: str) -> None:
    assert hide_in_spec(agent) == hidden


def test_a_run_is_resumed_with_a_renewed_secret_but_not_with_another_host() -> None:
    old, new, other = (
        make_settings({"cases": "c", "agent": f"https://{user}@{host}/a"})
        for user, host in [("a:1", "host"), ("a:2", "host"), ("a:1", "evil")]
    )
    assert digest_agent(old) == digest_agent(new) != digest_agent(other)
