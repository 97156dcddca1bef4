"""The part of a run page above the table: the summary, and notes on what is left out."""

from typing import Any

from fourscore.core import Rubric
from fourscore.core.levels import LEVELS, find_level
from fourscore.judges.calibrated_rate import describe_corrected_rate
from fourscore.report.run_page.detail import shorten
from fourscore.report.run_page.rows import CaseDetails, TableRows
from fourscore.report.summary_text import describe_canaries, describe_judges, describe_unmeasured
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
    lines: TableRows,
    details: CaseDetails,
    rubric: Rubric | None,
    judge: str | None,
) -> dict[str, Any]:
    """Return the JSON values shown above the table of a run page; every list is limited."""
    return {
        "run": {**_run(info, judge), "judged_by": shorten(describe_judges(document), WORDS)},
        "summary": {key: document[key] for key in WANTED if key in document},
        "corrected": shorten(describe_corrected_rate(document), WORDS),
        "dimensions": [_dimension(name, document, lines, rubric) for name in lines.names],
        "bins": [lines.bins[False], lines.bins[True]],
        "complexities": _groups(document["by_complexity"]),
        "tags": _groups(document["by_tag"]),
        "gates": [
            [bool(gate["met"]), shorten(str(gate["reason"]), WORDS)]
            for gate in document.get("gates", [])[:GATES]
        ],
        "canaries": [
            [fine, shorten(name), shorten(words, WORDS)]
            for fine, name, words in describe_canaries(document)
        ],
        "notes": list(_notes(document, lines, details)),
        "rows": lines.rows,
        "firsts": [block.first for block in details.blocks.close()],
    }


def _run(info: RunInfo, judge: str | None) -> dict[str, Any]:
    labels = list(info.labels.items())[:LABELS]
    return {
        "id": info.id,
        "name": shorten(info.name, WORDS),
        "agent": shorten(info.agent, WORDS),
        "agent_version": shorten(info.agent_version or "", WORDS),
        "git_commit": shorten(info.git_commit or ""),
        "cases_digest": shorten(info.cases_digest),
        "cases_path": shorten(info.cases_path, WORDS),
        "rubric": shorten(judge or info.rubric_fingerprint),
        "labels": [[shorten(key, WORDS), shorten(str(value), WORDS)] for key, value in labels],
        "created": info.created,
        "finished": info.finished,
    }


def _dimension(
    name: str, document: dict[str, Any], lines: TableRows, rubric: Rubric | None
) -> dict[str, Any]:
    line, seen = document["dimensions"][name], lines.levels[name]
    mean, level = line["average"], ""
    if mean is not None:
        if rubric is not None and name in rubric.floors:
            level = find_level(mean, rubric.floors[name])
        elif seen and seen.keys() <= LEVELS.keys():
            level = find_level(mean)
    return {
        "name": shorten(name),
        "mean": mean,
        "interval": line.get("interval"),
        "n": line["n"],
        "missing": describe_unmeasured(line, document),
        "level": shorten(level),
        "levels": sorted(seen.items(), key=_rank),
    }


def _rank(level: tuple[str, int]) -> tuple[float, str]:
    """Best first where the words are known, then by name."""
    return -LEVELS.get(level[0], -1.0), level[0]


def _groups(groups: dict[str, dict[str, Any]]) -> list[list[Any]]:
    return [
        [shorten(name), line["pass_rate"], line["pass_rate_interval"], line["total_tests"]]
        for name, line in list(groups.items())[:GROUPS]
    ]


def _notes(document: dict[str, Any], lines: TableRows, details: CaseDetails) -> Any:
    """Return sentences that say what the page leaves out."""
    if missing := lines.rows - lines.kept:
        yield f"{missing:,} of {lines.rows:,} rows do not fit into the table; those kept are first"
        yield "what did not pass, then the first that did. All figures above count every row."
    if missing := lines.kept - details.kept:
        yield f"{missing:,} of {lines.kept:,} rows are listed without details."
    if any(details.brief.values()):
        passed, others = details.brief[True], details.brief[False]
        yield f"{passed:,} rows that passed and {others:,} that did not are shortened: without"
        yield "reasons, evidence and steps, and with only the beginnings of their texts."
    if details.cut:
        yield f"{details.cut:,} rows have texts or steps that are cut; each says so."
    if lines.dimensions_left_out:
        yield f"{lines.dimensions_left_out:,} dimensions are left out."
    for kind in ("tag", "complexity"):
        if (missing := len(document[f"by_{kind}"]) - GROUPS) > 0:
            yield f"{missing:,} groups by {kind} are left out."
    if document.get("groups_left_out"):
        yield "There are more groups than a summary counts."
