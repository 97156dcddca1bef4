"""Every regular expression of the package takes linear time, whatever it is fed."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patterns import find_all, find_patterns

#: Calls of `re` whose pattern a user of the package writes: in settings, or for a scripted model.
WRITTEN_BY_USERS = {
    ("fourscore/evolve/mutations/checks.py", "re.compile(text)"),
    ("fourscore/models/scripted.py", "re.search(rule, text)"),
}
#: It compiles lists of patterns at first use; `find_all` compiles them too.
MEASURED_APART = "fourscore/judges/failures.py"


def measure(*arguments: str) -> tuple[list[list[str]], int]:
    """Return the lines of a process that measures patterns, and its exit code."""
    command = [sys.executable, "-m", "tests.patterns", *arguments]
    folder = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGXCPU), done.stderr
    return [line.split("\t") for line in done.stdout.splitlines()], done.returncode


def test_finds_the_patterns_of_all_modules() -> None:
    found, unknown = find_patterns()
    places = " ".join(each.place for each in found)
    for part in ("judges", "monitor", "models", "formats", "evolve", "cli", "report"):
        assert f"fourscore/{part}/" in places
    left = {each for each in unknown if each.file != MEASURED_APART}
    assert left == WRITTEN_BY_USERS, "give `re` a pattern that can be known without running"
    assert len(find_all()) > len(found)


def test_every_pattern_takes_linear_time() -> None:
    slow, number = [], 0
    while True:
        lines, code = measure(str(number))
        slow += [line for line in lines if code == 0 and line[1]]
        if code == 0:
            break
        slow += [line for line in lines[:-1] if line[1]]
        slow.append([lines[-1][0], "did not end"])
        number += len(lines)
    assert not slow


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*(?:\.\.\.|…)\s*",  # as it was once in the search for quotations
        r"“[^”\n]*”",
        r"(\d+(?:\.\d+)?)\s*\^\s*\\circ",
        r"\[\s*\s*\]",
        r"(?:the\s+)?answer\s*(?:is|:)\s*:?\s*$",
        r"^(?:\w+\s?)*$",
        r"a(?:b|.)*?c",
    ],
)
def test_measurement_finds_a_slow_pattern(pattern: str) -> None:
    re.compile(pattern)
    ((_, text),), code = measure(pattern)
    assert text or code != 0


def test_measurement_ends_with_an_exponential_pattern() -> None:
    ((place, text),), code = measure(r"(?:a|aa)+$")
    assert (place, text, code) == (r"(?:a|aa)+$", "", -signal.SIGXCPU)
