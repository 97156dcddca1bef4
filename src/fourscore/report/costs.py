"""What a run cost on models and which models judged it, in words."""

from collections.abc import Iterable
from typing import Any


def judged_by(document: dict[str, Any]) -> str:
    """The models, prompts and fitted weights that gave the scores of a summary, in words."""
    told = document.get("provenance", {})
    parts = [", ".join(told.get("models", ()))]
    for kind in ("prompts", "weights"):
        versions = told.get(kind, {})
        if versions:
            named = ", ".join(f"{name} {version}" for name, version in versions.items())
            parts.append(f"{kind}: {named}")
    return "; ".join(part for part in parts if part)


def spent_words(document: dict[str, Any]) -> str:
    """That the budget did not do for everything; nothing where it did."""
    over = document.get("budget", {}).get("exceeded")
    missing = document["planned"] - document["total_tests"]
    if over is None or not missing:
        return ""
    return f"the budget of {over} is spent: {missing} of {document['planned']} were not measured"


def bill_lines(models: Iterable[dict[str, Any]]) -> list[str]:
    """The accounts for people."""
    lines = []
    for line in models:
        cached = f", {line['cached']} cached" if line["cached"] else ""
        money = "no price known" if line["dollars"] is None else f"${line['dollars']:.4f}"
        tokens = f"{line['input_tokens']:,} + {line['output_tokens']:,} tokens"
        unknown = f" (of {line['unknown']} calls unknown)" if line["unknown"] else ""
        plural = "call" if line["calls"] == 1 else "calls"
        calls = f"{line['calls']} {plural} ({line['failed']} failed){cached}"
        lines.append(f"{line['model']}: {calls}, {tokens}{unknown}, {money}")
    return lines
