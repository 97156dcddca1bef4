"""Sentences about a run's summary that the panel, the page and the exports share."""

from collections.abc import Iterable
from typing import Any, NamedTuple

#: Judges that are named.
NAMED = 20


class CanaryLine(NamedTuple):
    """A judge, and whether it passed no canary."""

    fine: bool
    name: str
    words: str


def describe_canaries(document: dict[str, Any]) -> list[CanaryLine]:
    """Return a line for each judge that was given canaries; those that passed one come first."""
    found = []
    for name, counts in document.get("canaries", {}).items():
        asked, passed = counts["asked"], counts["passed"]
        words = f"passed {passed or 'none'} of {asked} canaries, which are answers known to be bad"
        found.append(CanaryLine(not passed, name, words))
    return sorted(found)[:NAMED]


def describe_unmeasured(line: dict[str, Any], document: dict[str, Any]) -> str:
    """Return in how many rows the judge of a dimension failed, or why it has no average."""
    if failed := line.get("not_measured", 0):
        return f"not measured in {failed}"
    if line["n"]:
        return ""
    statuses = document["statuses"]
    judged = statuses["scored"] + statuses["skipped"] + statuses["judge_error"]
    return "not applicable" if judged else "not measured"


def describe_judges(document: dict[str, Any]) -> str:
    """Return the models, prompts and fitted weights that gave the scores of a summary."""
    provenance = document.get("provenance", {})
    parts = [", ".join(provenance.get("models", ()))]
    for kind in ("prompts", "weights"):
        versions = provenance.get(kind, {})
        if versions:
            named = ", ".join(f"{name} {version}" for name, version in versions.items())
            parts.append(f"{kind}: {named}")
    return "; ".join(part for part in parts if part)


def describe_spent_budget(document: dict[str, Any]) -> str:
    """Return a sentence where the budget ran out before everything was measured, else nothing."""
    over = document.get("budget", {}).get("exceeded")
    missing = document["planned"] - document["total_tests"]
    if over is None or not missing:
        return ""
    return f"the budget of {over} is spent: {missing} of {document['planned']} were not measured"


def format_model_costs(models: Iterable[dict[str, Any]]) -> list[str]:
    """Return a line for each model: calls, tokens and dollars."""
    lines = []
    for line in models:
        cached = f", {line['cached']} from the cache" if line["cached"] else ""
        money = "no price known" if line["dollars"] is None else f"${line['dollars']:.4f}"
        tokens = f"{line['input_tokens']:,} + {line['output_tokens']:,} tokens"
        unknown = f" (of {line['unknown']} calls unknown)" if line["unknown"] else ""
        plural = "call" if line["calls"] == 1 else "calls"
        calls = f"{line['calls']} {plural} ({line['failed']} failed){cached}"
        extra = line.get("extra_keys", 0)
        ignored = f"; {extra} keys that were not asked for were ignored" if extra else ""
        lines.append(f"{line['model']}: {calls}, {tokens}{unknown}, {money}{ignored}")
    return lines
