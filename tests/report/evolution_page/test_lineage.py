"""Who came from whom: the order of the tree, and how a terminal shows it."""

import io
from typing import Any

from rich.console import Console

from fourscore.evolve.lineage import VersionTree, format_ranges, lineage_document
from fourscore.report.lineage_panel import show_lineage


def shown(garden: Any, width: int = 100) -> str:
    out = io.StringIO()
    show_lineage(lineage_document(garden.evolution), Console(file=out, width=width, markup=False))
    return out.getvalue()


def test_shows_tree_on_terminal(garden: Any) -> None:
    garden.grow()
    lines = [line.split() for line in shown(garden).splitlines()]
    assert lines[0] == ["lineage", "of", "7", "versions"]
    assert [line[:2] for line in lines[1:3]] == [["○", "1"], ["●", "2"]]
    assert [line[:3] for line in lines[3:]] == [
        ["│", "×", "3"],
        ["│", "◇", "4"],
        ["│", "○", "5"],
        ["│", "×", "6"],
        ["│", "?", "7"],
    ]
    assert "+47.5 [" in " ".join(lines[2])
    assert "active, best" in " ".join(lines[2])


def test_folds_many_failures_into_one_line(garden: Any, lost: Any) -> None:
    for number in range(60):
        garden.tried(f"Try {number}.", lost)
    document = shown(garden)
    assert "60 rejected: 2 to 61" in document
    assert len(document.splitlines()) == 3


def test_foreign_text_is_shown_plain(garden: Any, won: Any) -> None:
    garden.tried("New.", won, strategy="[red]x[/red]\x1b[31m\n")
    assert "[red]x[/red]\\x1b[31m\\n" in shown(garden, 200)


def test_long_trunk_has_depth_zero(garden: Any, won: Any) -> None:
    for number in range(40):
        garden.tried(f"Step {number}.", won)
    rows = list(VersionTree(garden.evolution.history).rows())
    assert [(row.depth, *row.numbers) for row in rows] == [(0, n) for n in range(1, 42)]


def test_shows_newest_and_surviving_versions_first(garden: Any, won: Any, lost: Any) -> None:
    for number in range(30):
        garden.tried(f"Step {number}.", won if number % 10 == 9 else lost)
    history = garden.evolution.history
    family = VersionTree(history, 8)
    assert family.left_out == 31 - 8
    assert {1, history.active, history.best, 11, 21} <= family.shown
    assert {number for row in family.rows() for number in row.numbers} == family.shown
    assert {2, 12} & family.shown == set()


def test_parent_is_nearest_shown_ancestor(garden: Any, won: Any) -> None:
    for number in range(6):
        garden.tried(f"Step {number}.", won)
    family = VersionTree(garden.evolution.history, 3)
    assert family.parent(7) == 6
    assert family.parent(6) == 1


def test_formats_ranges() -> None:
    assert format_ranges([5, 3, 4, 9, 1]) == "1, 3 to 5, 9"
    assert format_ranges([]) == ""
