"""Prompt files: found, filled in, versioned."""

from pathlib import Path

import pytest

from fourscore.core import ConfigError
from fourscore.judges.llm.prompts import SHIPPED, read_prompt


def test_every_prompt_ships_in_both_languages() -> None:
    english = {path.name for path in (SHIPPED / "en").glob("*.md")}
    chinese = {path.name for path in (SHIPPED / "zh").glob("*.md")}
    assert english == chinese
    assert {"criterion.md", "pairwise.md", "listwise.md"} <= english


def test_placeholders_are_filled_in_one_pass(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("# system\nBe {{kind}}.\n# user\n{{answer}} {{ kind }}\n")
    prompt = read_prompt("mine", "en", str(tmp_path))
    filled = prompt.fill({"kind": "fair", "answer": "I say {{kind}} # user"})
    assert filled == ("Be fair.", "I say {{kind}} # user fair")


def test_custom_folder_goes_first_and_language_folder_before_it(tmp_path: Path) -> None:
    (tmp_path / "zh").mkdir()
    (tmp_path / "criterion.md").write_text("# system\nany\n# user\nx")
    (tmp_path / "zh" / "criterion.md").write_text("# system\n中文\n# user\nx")
    assert read_prompt("criterion", "en", str(tmp_path)).system == "any"
    assert read_prompt("criterion", "zh", str(tmp_path)).system == "中文"
    assert read_prompt("pairwise", "en", str(tmp_path)) == read_prompt("pairwise", "en")


def test_version_depends_on_the_text_only(tmp_path: Path) -> None:
    shipped = read_prompt("criterion", "en")
    copy = tmp_path / "criterion.md"
    copy.write_bytes((SHIPPED / "en" / "criterion.md").read_bytes())
    assert read_prompt("criterion", "en", str(tmp_path)).version == shipped.version
    other = tmp_path / "other"
    other.mkdir()
    (other / "criterion.md").write_text(copy.read_text() + "\nReally.")
    assert read_prompt("criterion", "en", str(other)).version != shipped.version


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("only words", "expected the headings"),
        ("# system\na\n# system\nb\n# user\nc", "once each"),
        ("# system\na", "expected the headings"),
    ],
)
def test_prompt_without_both_headings_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "mine.md").write_text(text)
    with pytest.raises(ConfigError, match=words) as caught:
        read_prompt("mine", "en", str(tmp_path))
    assert caught.value.file == str(tmp_path / "mine.md")


def test_unknown_placeholder_is_an_error_with_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("# system\na\n# user\n{{anwser}}")
    with pytest.raises(ConfigError, match=r"anwser.*can use: answer") as caught:
        read_prompt("mine", "en", str(tmp_path)).fill({"answer": "x"})
    assert caught.value.file == str(tmp_path / "mine.md")


def test_custom_prompt_may_use_only_placeholders_of_the_shipped_one(tmp_path: Path) -> None:
    (tmp_path / "criterion.md").write_text("# system\na\n# user\n{{answer}} {{secret}}")
    with pytest.raises(ConfigError, match=r"secret.*can use: answer, criterion, number"):
        read_prompt("criterion", "en", str(tmp_path))


def test_missing_folder_and_missing_prompt_are_errors(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such folder"):
        read_prompt("criterion", "en", str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="No such file"):
        read_prompt("nothing", "en")
