"""A scored log as one document: the score, its grade and advice, each signal, and the trend."""

from typing import Any, Literal

from fourscore.core import Dimension
from fourscore.evolve.fitness.aggregate import By, LogTotals
from fourscore.evolve.fitness.log import ScoredLog
from fourscore.judges.fitness.efficiency import Efficiency
from fourscore.judges.fitness.error_rate import ErrorRate
from fourscore.judges.fitness.execution import format_count, format_counts
from fourscore.judges.fitness.rubric import find_costliest_signal, grade_of, to_fitness
from fourscore.judges.fitness.tool_success import ToolSuccessRate
from fourscore.stats.intervals import IntervalEstimate
from fourscore.stats.means import Mean
from fourscore.stats.recency import aggregate_recent, fit_trend

#: The most groups in a document.
MAX_GROUPS = 1000


def make_document(scored_log: ScoredLog, by: By | None = None) -> dict[str, Any]:
    """Return the JSON document. `score` and `grade` are None where nothing could be measured."""
    totals = scored_log.totals
    places = totals.in_time()
    scores = [totals.scores[place] for place in places]
    whole = aggregate_recent(reversed(scores))
    score = None if whole.value is None else round(whole.value, 2)
    signals = _signals(totals)
    values = {name: line["value"] for name, line in signals.items()}
    return {
        "score": score,
        **_grade(totals, score, values),
        "signals": signals,
        "inapplicable": [name for name, line in signals.items() if line["value"] is None],
        "coverage": totals.coverage,
        "counts": _counts(scored_log),
        "executions": {
            "n": len(totals),
            "interval": _as_list(whole),
            **_mean(totals.score),
        },
        "trend": _trend(scores),
        "newest": _newest(totals),
        "kind": scored_log.kind,
        "broken": [broken._asdict() for broken in scored_log.noted],
        **({"by": by, **_groups(totals, by)} if by else {}),
    }


def _grade(
    totals: LogTotals, score: float | None, values: dict[str, float | None]
) -> dict[str, str | None]:
    if score is None:
        return {"grade": None, "interpretation": None, "advice": None, "weakest": None}
    grade = grade_of(score)
    weak = find_costliest_signal(totals.rubric, values)
    return {
        "grade": grade.letter,
        "interpretation": grade.interpretation,
        "advice": grade.advice,
        "weakest": weak,
    }


def _signals(totals: LogTotals) -> dict[str, dict[str, Any]]:
    newest = totals.newest
    reasons = newest.reasons() if newest is not None else {}
    lines = {}
    for line in totals.rubric.dimensions:
        found = totals.means[line.name].estimate()
        reason = reasons.get(line.name, "nothing was measured")
        if len(totals) > 1 and found.n:
            reason = _pooled_reason(totals, line, found.n, reason)
        lines[line.name] = {
            "value": found.mean,
            "weight": line.share,
            "reason": reason,
            "n": found.n,
            "interval": list(found.interval) if found.interval and found.n > 1 else None,
        }
    return lines


def _pooled_reason(totals: LogTotals, line: Dimension, n: int, newest: str) -> str:
    """Return the reason of a signal over many executions."""
    pooled, judge = totals.pooled.execution, line.judge
    if isinstance(judge, ToolSuccessRate):
        return judge.measure(pooled).reason
    if isinstance(judge, ErrorRate):
        kinds = judge.kinds(pooled)
        total = sum(kinds.values())
        text = f"{format_count(total, 'error')} in {format_count(n, 'execution')}"
        return f"{text}: {format_counts(kinds)}" if kinds else text
    if isinstance(judge, Efficiency):
        timed, everyone = totals.pooled.timed, len(totals) + totals.skipped
        text = f"{pooled.calls / everyone:.3g} tool calls on average"
        if timed:
            text = f"{(pooled.seconds or 0.0) / timed:.3g} s and {text}"
        return f"{text}; newest: {newest}"
    return f"known of {format_count(n, 'execution')}; newest: {newest}"


def _counts(scored_log: ScoredLog) -> dict[str, int | None]:
    totals, pooled = scored_log.totals, scored_log.totals.pooled.execution
    judges = [line.judge for line in totals.rubric.dimensions]
    judge = next((each for each in judges if isinstance(each, ErrorRate)), ErrorRate())
    return {
        "records": scored_log.records,
        "executions": len(totals) + totals.skipped,
        "scored": len(totals),
        "skipped": totals.skipped,
        "tool_calls": pooled.calls,
        "succeeded": pooled.succeeded,
        "failed": pooled.failed,
        "unknown": pooled.unknown,
        "retries": pooled.retries,
        "user_corrections": pooled.corrections,
        "errors": judge.count(pooled),
        "several_versions": totals.mixed,
        "broken": scored_log.broken,
    }


def _mean(mean: Mean) -> dict[str, Any]:
    """Return the plain mean on the scale of 0 to 100, with its interval."""
    found = mean.estimate()
    ends = found.interval if found.n > 1 else None
    return {
        "mean": None if found.mean is None else to_fitness(found.mean),
        "mean_interval": [to_fitness(end) for end in ends] if ends else None,
    }


def _trend(scores: list[float]) -> dict[str, Any]:
    found = fit_trend(scores)
    return {
        "direction": found.direction,
        "per_execution": found.value,
        "interval": _as_list(found),
        "n": found.n,
        "last": scores[-20:],
    }


def _newest(totals: LogTotals) -> dict[str, Any] | None:
    if totals.newest is None:
        return None
    scored = totals.newest.scored
    return {"session": scored.session, "version": scored.version, "score": scored.score}


def _groups(totals: LogTotals, by: By) -> dict[str, Any]:
    if by == "session":
        lines = [
            {
                "name": scored.session,
                "version": scored.version,
                "score": scored.score,
                "grade": grade_of(scored.score).letter,
                "coverage": scored.coverage,
                "n": 1,
            }
            for scored in totals.newest_executions()
        ]
        return {"groups": lines, "groups_left_out": len(totals) - len(lines)}
    kind: Literal["version", "day"] = by
    groups = list(totals.group_scores(kind))
    lines = [_group(name, scores) for name, scores in groups[:MAX_GROUPS]]
    left = len(groups) - len(lines)
    return {"groups": lines, "groups_left_out": left}


def _group(name: str, scores: list[float]) -> dict[str, Any]:
    found, mean = aggregate_recent(reversed(scores)), Mean()
    for score in scores:
        mean.add(score / 100)
    value = round(found.value or 0.0, 2)
    return {
        "name": name,
        "score": value,
        "grade": grade_of(value).letter,
        "interval": _as_list(found),
        **_mean(mean),
        "n": found.n,
    }


def _as_list(found: IntervalEstimate) -> list[float] | None:
    return None if found.interval is None else list(found.interval)
