"""A scored log as one document: the score, its grade and advice, each signal, and the trend."""

from typing import Any, Literal

from fourscore.core import Dimension
from fourscore.evolve.fitness.aggregate import By, Standing
from fourscore.evolve.fitness.log import Reading
from fourscore.judges.fitness.efficiency import Efficiency
from fourscore.judges.fitness.error_rate import ErrorRate
from fourscore.judges.fitness.execution import counted, several
from fourscore.judges.fitness.rubric import fitness_of, grade_of, weakest
from fourscore.judges.fitness.tool_success import ToolSuccessRate
from fourscore.stats.intervals import Figure
from fourscore.stats.means import Mean
from fourscore.stats.recency import aggregate, trend

#: Groups in a document.
MOST = 1000


def document(reading: Reading, by: By | None = None) -> dict[str, Any]:
    """JSON-ready. `score` and `grade` are None where nothing could be measured."""
    standing = reading.standing
    places = standing.in_time()
    scores = [standing.scores[place] for place in places]
    whole = aggregate(reversed(scores))
    score = None if whole.value is None else round(whole.value, 2)
    signals = _signals(standing)
    values = {name: line["value"] for name, line in signals.items()}
    return {
        "score": score,
        **_grade(standing, score, values),
        "signals": signals,
        "inapplicable": [name for name, line in signals.items() if line["value"] is None],
        "coverage": standing.coverage,
        "counts": _counts(reading),
        "executions": {
            "n": len(standing),
            "interval": _ends(whole),
            **_mean(standing.score),
        },
        "trend": _trend(scores),
        "newest": _newest(standing),
        "kind": reading.kind,
        "broken": [broken._asdict() for broken in reading.noted],
        **({"by": by, **_groups(standing, by)} if by else {}),
    }


def _grade(
    standing: Standing, score: float | None, values: dict[str, float | None]
) -> dict[str, str | None]:
    if score is None:
        return {"grade": None, "interpretation": None, "advice": None, "weakest": None}
    grade = grade_of(score)
    weak = weakest(standing.rubric, values)
    return {
        "grade": grade.letter,
        "interpretation": grade.interpretation,
        "advice": grade.advice,
        "weakest": weak,
    }


def _signals(standing: Standing) -> dict[str, dict[str, Any]]:
    newest = standing.newest
    reasons = newest.reasons() if newest is not None else {}
    lines = {}
    for line in standing.rubric.dimensions:
        found = standing.means[line.name].estimate()
        reason = reasons.get(line.name, "nothing was measured")
        if len(standing) > 1 and found.n:
            reason = _pooled_reason(standing, line, found.n, reason)
        lines[line.name] = {
            "value": found.mean,
            "weight": line.share,
            "reason": reason,
            "n": found.n,
            "interval": list(found.interval) if found.interval and found.n > 1 else None,
        }
    return lines


def _pooled_reason(standing: Standing, line: Dimension, n: int, newest: str) -> str:
    """What to act on where there are many executions."""
    pooled, judge = standing.pooled.execution, line.judge
    if isinstance(judge, ToolSuccessRate):
        return judge.measure(pooled).reason
    if isinstance(judge, ErrorRate):
        kinds = judge.kinds(pooled)
        total = sum(kinds.values())
        told = f"{several(total, 'error')} in {several(n, 'execution')}"
        return f"{told}: {counted(kinds)}" if kinds else told
    if isinstance(judge, Efficiency):
        timed, everyone = standing.pooled.timed, len(standing) + standing.skipped
        told = f"{pooled.calls / everyone:.3g} tool calls on average"
        if timed:
            told = f"{(pooled.seconds or 0.0) / timed:.3g} s and {told}"
        return f"{told}; newest: {newest}"
    return f"known of {several(n, 'execution')}; newest: {newest}"


def _counts(reading: Reading) -> dict[str, int | None]:
    standing, pooled = reading.standing, reading.standing.pooled.execution
    judges = [line.judge for line in standing.rubric.dimensions]
    judge = next((each for each in judges if isinstance(each, ErrorRate)), ErrorRate())
    return {
        "records": reading.records,
        "executions": len(standing) + standing.skipped,
        "scored": len(standing),
        "skipped": standing.skipped,
        "tool_calls": pooled.calls,
        "succeeded": pooled.succeeded,
        "failed": pooled.failed,
        "unknown": pooled.unknown,
        "retries": pooled.retries,
        "user_corrections": pooled.corrections,
        "errors": judge.count(pooled),
        "several_versions": standing.mixed,
        "broken": reading.broken,
    }


def _mean(mean: Mean) -> dict[str, Any]:
    """The plain mean on the scale of 0 to 100, with its interval."""
    found = mean.estimate()
    ends = found.interval if found.n > 1 else None
    return {
        "mean": None if found.mean is None else fitness_of(found.mean),
        "mean_interval": [fitness_of(end) for end in ends] if ends else None,
    }


def _trend(scores: list[float]) -> dict[str, Any]:
    found = trend(scores)
    return {
        "direction": found.direction,
        "per_execution": found.value,
        "interval": _ends(found),
        "n": found.n,
        "last": scores[-20:],
    }


def _newest(standing: Standing) -> dict[str, Any] | None:
    if standing.newest is None:
        return None
    scored = standing.newest.scored
    return {"session": scored.session, "version": scored.version, "score": scored.score}


def _groups(standing: Standing, by: By) -> dict[str, Any]:
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
            for scored in standing.told()
        ]
        return {"groups": lines, "groups_left_out": len(standing) - len(lines)}
    kind: Literal["version", "day"] = by
    groups = list(standing.by(kind))
    lines = [_group(name, scores) for name, scores in groups[:MOST]]
    left = len(groups) - len(lines)
    return {"groups": lines, "groups_left_out": left}


def _group(name: str, scores: list[float]) -> dict[str, Any]:
    found, mean = aggregate(reversed(scores)), Mean()
    for score in scores:
        mean.add(score / 100)
    value = round(found.value or 0.0, 2)
    return {
        "name": name,
        "score": value,
        "grade": grade_of(value).letter,
        "interval": _ends(found),
        **_mean(mean),
        "n": found.n,
    }


def _ends(found: Figure) -> list[float] | None:
    return None if found.interval is None else list(found.interval)
