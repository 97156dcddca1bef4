"""The comparison of two runs on a terminal."""

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from fourscore.formats.plain_text import make_printable
from fourscore.report.terminal import make_console, print_panel
from fourscore.stats.paired import Comparison
from fourscore.stores.run import RunInfo
from fourscore.test.compare import RunComparison

WORDS = {
    "better": ("better", "green"),
    "worse": ("worse", "red"),
    "no_difference": ("no difference that matters", "cyan"),
    "cannot_tell": ("cannot tell", "yellow"),
}
#: Tags and flipped cases shown.
TAGS, FLIPPED = 12, 5


def print_comparison(
    a: RunInfo, b: RunInfo, found: RunComparison, store: str = "", to: Console | None = None
) -> None:
    """Print the comparison; `store` is the `--store` option that finds run b."""
    out = to or make_console()
    word, colour = WORDS[found.whole.verdict.kind]
    parts: list[RenderableType] = [
        Text.assemble(("verdict  ", "bold"), (word, f"bold {colour}")),
        Text(found.whole.verdict.reason),
        _table(found),
        *_list_flipped(found),
        *_left_out(found),
        Text.assemble("next     ", (_suggest_command(b, found) + store, "bold")),
    ]
    title = f"{make_printable(b.name or b.id)} against {make_printable(a.name or a.id)}"
    print_panel(out, title, parts, colour)


def _table(found: RunComparison) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("", "A", "B", "change", "interval", "n"):
        table.add_column(name, justify="left" if not name else "right")
    _rows(table, found.whole)
    if found.bootstrap is not None:
        table.add_row(
            "  by bootstrap", "", "", "", _format_interval(found.bootstrap, 1, "{:+.3f}"), ""
        )
    shown = sorted(found.by_tag.items(), key=lambda item: _p_value(item[1]))[:TAGS]
    for tag, comparison in shown:
        passes = comparison.passes
        if passes.difference is None:
            continue
        kind = comparison.verdict.kind
        mark = Text(f"tag {make_printable(tag)}", style=WORDS[kind][1] if kind in COLOURED else "")
        table.add_row(
            mark,
            f"{passes.rate_a:.1%}",
            f"{passes.rate_b:.1%}",
            f"{100 * passes.difference:+.1f}",
            _format_interval(passes.interval, 100, "{:+.1f}"),
            str(passes.n),
        )
    return table


COLOURED = {"better", "worse"}


def _rows(table: Table, whole: Comparison) -> None:
    passes, scores = whole.passes, whole.scores
    if passes.difference is not None:
        table.add_row(
            "pass rate",
            f"{passes.rate_a:.1%}",
            f"{passes.rate_b:.1%}",
            f"{100 * passes.difference:+.1f}",
            _format_interval(passes.interval, 100, "{:+.1f}"),
            str(passes.n),
        )
    if scores.difference is not None:
        table.add_row(
            "score",
            f"{scores.mean_a:.3f}",
            f"{scores.mean_b:.3f}",
            f"{scores.difference:+.3f}",
            _format_interval(scores.interval, 1, "{:+.3f}"),
            str(scores.n),
        )


def _p_value(comparison: Comparison) -> float:
    return 1.0 if comparison.verdict.p_passes is None else comparison.verdict.p_passes


def _format_interval(interval: tuple[float, float] | None, scale: float, form: str) -> str:
    return (
        "" if interval is None else "[{}, {}]".format(*(form.format(scale * x) for x in interval))
    )


def _list_flipped(found: RunComparison) -> list[Text]:
    lines = []
    for word, ids, more, colour in (
        ("now pass", found.gained, found.gained_left_out, "green"),
        ("now fail", found.lost, found.lost_left_out, "red"),
    ):
        count = len(ids) + more
        names = ", ".join(make_printable(name) for name in ids[:FLIPPED])
        rest = f" and {count - FLIPPED} more" if count > FLIPPED else ""
        lines.append(Text.assemble((f"{word} ", colour), f"{count}  {names}{rest}".rstrip()))
    return lines


def _left_out(found: RunComparison) -> list[Text]:
    parts = [
        f"{count} {words}"
        for count, words in (
            (found.only_a, "only in A"),
            (found.only_b, "only in B"),
            (found.changed, "whose question is not the same in B"),
            (found.whole.passes.left_out, "not measured in both"),
        )
        if count
    ]
    return [Text(f"left out  {', '.join(parts)}")] if parts else []


def _suggest_command(b: RunInfo, found: RunComparison) -> str:
    if found.lost:
        return f"fourscore show {b.id} {make_printable(found.lost[0])}"
    return f"fourscore show {b.id}"
