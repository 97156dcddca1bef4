"""What stands above the table: the summary, bounded, with words for all that is left out."""

from typing import Any

from fourscore.core import Rubric
from fourscore.core.levels import LEVELS, find_level
from fourscore.judges.calibrated_rate import describe_corrected_rate
from fourscore.report.canaries import canary_lines
from fourscore.report.costs import judged_by
from fourscore.report.run_page.detail import short
from fourscore.report.run_page.rows import Details, Lines
from fourscore.stores.run import RunInfo

#: Groups of each kind, labels and gates that are shown; characters of each.
GROUPS, LABELS, GATES, WORDS = 300, 60, 50, 300

#: What the page shows of the summary.
WANTED = (
    *("total_tests", "passed", "failed", "pass_rate", "pass_rate_interval", "planned", "statuses"),
    *("average_score", "average_score_n", "average_score_interval", "level", "coverage", "cases"),
    *("repeats", "cost", "time", "pass@k", "pass^k", "pass_rate_corrected"),
)


def headline(
    info: RunInfo,
    document: dict[str, Any],
    lines: Lines,
    details: Details,
    rubric: Rubric | None,
    judge: str | None,
) -> dict[str, Any]:
    """A JSON value whose size has a limit."""
    return {
        "run": {**_run(info, judge), "judged_by": short(judged_by(document), WORDS)},
        "summary": {key: document[key] for key in WANTED if key in document},
        "corrected": short(describe_corrected_rate(document), WORDS),
        "dimensions": [_dimension(name, document, lines, rubric) for name in lines.names],
        "bins": [lines.bins[False], lines.bins[True]],
        "complexities": _groups(document["by_complexity"]),
        "tags": _groups(document["by_tag"]),
        "gates": [
            [bool(gate["met"]), short(str(gate["reason"]), WORDS)]
            for gate in document.get("gates", [])[:GATES]
        ],
        "canaries": [
            [fine, short(name), short(words, WORDS)] for fine, name, words in canary_lines(document)
        ],
        "notes": list(_notes(document, lines, details)),
        "rows": lines.rows,
        "firsts": [parcel.first for parcel in details.parcels.close()],
    }


def _run(info: RunInfo, judge: str | None) -> dict[str, Any]:
    labels = list(info.labels.items())[:LABELS]
    return {
        "id": info.id,
        "name": short(info.name, WORDS),
        "agent": short(info.agent, WORDS),
        "agent_version": short(info.agent_version or "", WORDS),
        "git_commit": short(info.git_commit or ""),
        "cases_digest": short(info.cases_digest),
        "cases_path": short(info.cases_path, WORDS),
        "rubric": short(judge or info.rubric_fingerprint),
        "labels": [[short(key, WORDS), short(str(value), WORDS)] for key, value in labels],
        "created": info.created,
        "finished": info.finished,
    }


def _dimension(
    name: str, document: dict[str, Any], lines: Lines, rubric: Rubric | None
) -> dict[str, Any]:
    line, seen = document["dimensions"][name], lines.levels[name]
    mean, level = line["average"], ""
    if mean is not None:
        if rubric is not None and name in rubric.floors:
            level = find_level(mean, rubric.floors[name])
        elif seen and seen.keys() <= LEVELS.keys():
            level = find_level(mean)
    return {
        "name": short(name),
        "mean": mean,
        "interval": line.get("interval"),
        "n": line["n"],
        "level": short(level),
        "levels": sorted(seen.items(), key=_rank),
    }


def _rank(level: tuple[str, int]) -> tuple[float, str]:
    """Best first where the words are known, then by name."""
    return -LEVELS.get(level[0], -1.0), level[0]


def _groups(groups: dict[str, dict[str, Any]]) -> list[list[Any]]:
    return [
        [short(name), line["pass_rate"], line["pass_rate_interval"], line["total_tests"]]
        for name, line in list(groups.items())[:GROUPS]
    ]


def _notes(document: dict[str, Any], lines: Lines, details: Details) -> Any:
    """What a reader will not find here, in sentences."""
    if missing := lines.rows - lines.kept:
        yield f"{missing:,} of {lines.rows:,} rows do not fit into the table; those kept are first"
        yield "what did not pass, then the first that did. All figures above count every row."
    if missing := lines.kept - details.kept:
        yield f"{missing:,} of {lines.kept:,} rows are listed without details."
    if any(details.brief.values()):
        passed, others = details.brief[True], details.brief[False]
        yield f"{passed:,} rows that passed and {others:,} that did not are told in brief: without"
        yield "reasons, evidence and steps, and with the beginnings of their texts."
    if details.cut:
        yield f"{details.cut:,} rows have texts or steps that are cut; each says so."
    if lines.dimensions_left_out:
        yield f"{lines.dimensions_left_out:,} dimensions are left out."
    for kind in ("tag", "complexity"):
        if (missing := len(document[f"by_{kind}"]) - GROUPS) > 0:
            yield f"{missing:,} groups by {kind} are left out."
    if document.get("groups_left_out"):
        yield "There are more groups than a summary counts."
