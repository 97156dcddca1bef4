"""What a summary says about canaries, in words."""

from typing import Any, NamedTuple

#: Judges that are named.
NAMED = 20


class Line(NamedTuple):
    """A judge, and whether it may be trusted."""

    fine: bool
    name: str
    words: str


def canary_lines(document: dict[str, Any]) -> list[Line]:
    """A line for each judge that was asked about canaries; those that passed one come first."""
    found = []
    for name, counts in document.get("canaries", {}).items():
        asked, passed = counts["asked"], counts["passed"]
        words = f"passed {passed or 'none'} of {asked} canaries, which are answers known to be bad"
        found.append(Line(not passed, name, words))
    return sorted(found)[:NAMED]
