"""The detectors on the labelled outputs: a floor against regressions, no claim of quality.

The outputs were written for this repository and earlier detectors were fitted to them; how well
`has_direct_answer` does on completions that others labelled is in docs/detectors.md.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import fourscore

pytest.importorskip("tree_sitter")

FOLDER = Path(__file__).parents[3] / "labelled" / "detectors"
#: A detector, and the share of all labelled outputs that it gets right, less one point.
DETECTORS: dict[str, tuple[Callable[[str, str], bool], float]] = {
    "direct_answer": (fourscore.has_direct_answer, 0.88),
    "explanation": (fourscore.has_explanation, 0.88),
    "next_steps": (lambda output, _request: fourscore.has_next_steps(output), 0.89),
    "follows_format": (fourscore.follows_format, 0.61),
    "syntax_error": (lambda output, _request: fourscore.has_syntax_errors(output), 0.88),
    "code_block": (lambda output, _request: fourscore.has_code_block(output), 1.0),
}


@pytest.mark.parametrize("name", DETECTORS)
def test_accuracy_on_labelled_texts_does_not_fall(name: str) -> None:
    detector, floor = DETECTORS[name]
    right = []
    for part in ("worked", "frozen"):
        for line in (FOLDER / f"{part}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if name in row["labels"]:
                right.append(detector(row["output"], row["request"]) is row["labels"][name])
    assert sum(right) / len(right) >= floor
