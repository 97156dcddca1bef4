"""Where a report stands, and what makes it one."""

import importlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

from rubrica.judges.fitness.detectors.failures import (
    _reports,
    failure,
    failures,
    has_obvious_errors,
)
from rubrica.judges.fitness.detectors.lists import sections
from rubrica.judges.fitness.detectors.pattern import _re2, compiled, is_fast, pattern
from rubrica.judges.fitness.detectors.sieve import loosened

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1\nKeyError: 1'


def test_the_line_and_its_place() -> None:
    found = failure("all is well\nmake: *** [all] Error 2\n")
    assert found is not None
    assert found == ("make: *** [all] Error 2", 12)


@pytest.mark.parametrize(
    ("zero", "some"),
    [
        ("copied: 3, failed: 0", "copied: 3, failed: 2"),
        ("0 errors, 0 warnings", "1 error, 0 warnings"),
        ("成功 3 条，失败 0 条", "成功 3 条，失败 2 条"),
        ("Thành công: 3, thất bại: 0", "Thành công: 3, thất bại: 2"),
        ('{"errorCount": 0}', '{"errorCount": 2}'),
        ("exit status 0", "exit status 3"),
        ('{"error": null}', '{"error": "no such user"}'),
        ("0 failed, 3 passed", "1 failed, 3 passed"),
    ],
)
def test_one_number_decides(zero: str, some: str) -> None:
    assert not has_obvious_errors(zero)
    assert has_obvious_errors(some)


def test_a_zero_does_not_hide_what_stands_beside_it() -> None:
    assert has_obvious_errors("0 errors, 3 tests failed")


def test_a_block_in_an_explanation_is_a_quotation() -> None:
    assert not has_obvious_errors(f"A missing key gives this:\n\n```\n{TRACE}\n```\n\nUse `get`.")
    assert has_obvious_errors(f"I ran it and got:\n\n```\n{TRACE}\n```\n")
    assert has_obvious_errors(f"```\n{TRACE}\n```")


def test_what_was_mended_is_no_failure() -> None:
    assert has_obvious_errors("The build failed on a typo.")
    assert not has_obvious_errors("The build failed on a typo; I fixed it and the build is green.")


@pytest.mark.parametrize(
    "text",
    [
        "error failed 0 errors " * 5_000,
        "if it fails, " * 8_000,
        "`" * 100_000 + " failed",
        "```\nerror: x\n```\n" * 6_000,
        "失败了吗？" * 20_000,
        '"error":' * 12_000,
        "1" * 100_000 + " failed",
    ],
)
def test_hostile_texts_are_read(text: str) -> None:
    has_obvious_errors(text)


def test_both_engines_read_every_expression() -> None:
    samples = ["npm ERR! code E404", "构建失败", "Lỗi: x", "2 failed", "no errors", "", "INFO ok"]
    for lists in ("errors",):
        for name, lines in sections(lists).items():
            plain = re.compile("(?im)" + "|".join(f"(?:{line})" for line in lines))
            fast = pattern(lists, name)
            for text in samples:
                assert (plain.search(text) is None) == (fast.search(text) is None), (name, text)


def test_without_re2_the_standard_engine_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> object:
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", missing)
    compiled.cache_clear()
    _re2.cache_clear()
    try:
        assert isinstance(compiled("(?im)^b"), re.Pattern)
        assert compiled("(?im)^b").search("a\nb") is not None
    finally:
        compiled.cache_clear()
        _re2.cache_clear()


LINES = (Path(__file__).parent / "failures.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["hard", "count", "soft"])
def test_the_loose_form_finds_all_that_the_exact_one_finds(name: str) -> None:
    for line in sections("errors")[name]:
        exact, loose = compiled(f"(?im){line}"), compiled(f"(?im){loosened(line)}")
        for text in LINES:
            assert exact.search(text) is None or loose.search(text) is not None, (line, text)


@pytest.mark.parametrize(
    ("exact", "loose"),
    [
        (r"^(?:\S+\s+){0,4}\[error\]", r"\[error\]"),
        (r"^\s*panic: ", r"^[> ]*\s*panic: "),
        (r"\bORA-\d{5}\b", r"\bORA-\d+\b"),
        (r"^(?:\(a\)|[)x]+ )?Exception", r"Exception"),
        (r"\berror\b", r"\berror\b"),
    ],
)
def test_counts_and_wide_beginnings_are_left_away(exact: str, loose: str) -> None:
    assert loosened(exact) == loose


@pytest.mark.parametrize("size", [1, 7, 400])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r", "\u2028"])
def test_many_at_once_give_what_each_gives(size: int, ends: str) -> None:
    texts = [f"done{ends}{one}{ends}> {other}" for one, other in pairwise(LINES)]
    texts += [
        "",
        "\0",
        "a\0Error: no\0",
        "结果:\n构建失败",
        f"It ran:\n\n```\n{TRACE}\n```",
        "x\n\n\n",
    ]
    for start in range(0, len(texts), size):
        part = texts[start : start + size]
        each = {i: found.text for i, text in enumerate(part) if (found := failure(text))}
        assert failures(part) == each


def test_both_engines_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    fast = [failure(text) for text in LINES[::5]]
    clear = (_re2.cache_clear, compiled.cache_clear, pattern.cache_clear, _reports.cache_clear)

    def missing(name: str) -> object:
        raise ImportError(name)

    for each in clear:
        each()
    try:
        monkeypatch.setattr(importlib, "import_module", missing)
        assert not is_fast()
        assert [failure(text) for text in LINES[::5]] == fast
        assert failures(["fine", TRACE]) == {1: "Traceback (most recent call last):"}
    finally:
        for each in clear:
            each()
