"""Measure a judge against labels in each form of its questions, brief and full.

Which form suits a model is not known beforehand: a small one makes mistakes when it has to quote, a
large one may gain by it. So both are tried on labelled outputs.
"""

from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from fourscore.core import Dimension, Rubric
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import BRIEF_WORDS, Form
from fourscore.labels.calibrate import judge_outputs, pair_labels
from fourscore.labels.labelled_outputs import LabelledOutputs
from fourscore.stats.classification import auc, count_confusion


def rubrics_by_form(rubric: Rubric) -> dict[str, Rubric]:
    """Return the rubric with its model judges in each form; unchanged if no judge has two."""
    if not any(_has_forms(dimension.judge) for dimension in rubric.dimensions):
        return {"as it is": rubric}
    return {
        form: replace(
            rubric, dimensions=tuple(_set_form(dimension, form) for dimension in rubric.dimensions)
        )
        for form in get_args(Form)
    }


def _set_form(dimension: Dimension, form: Form) -> Dimension:
    judge: Any = dimension.judge
    return replace(dimension, judge=replace(judge, form=form)) if _has_forms(judge) else dimension


def _has_forms(judge: Any) -> bool:
    """Whether a judge uses a prompt that has a brief form."""
    if not isinstance(judge, ModelJudge):
        return False
    names = {name.partition("/")[0].removesuffix("_brief") for name in judge.prompts}
    return bool(names & BRIEF_WORDS.keys())


async def measure_forms(
    rubric: Rubric, labelled: LabelledOutputs, *, pass_at: float, concurrency: int, deadline: float
) -> dict[str, Any]:
    """Return AUC and balanced accuracy against labels for each form, as JSON values."""
    figures: dict[str, Any] = {}
    for form, variant in rubrics_by_form(rubric).items():
        verdicts = await judge_outputs(
            variant, labelled.rows, concurrency=concurrency, deadline=deadline
        )
        pairs = [
            pair_labels(row, verdict, labelled.scale, pass_at)
            for row, verdict in zip(labelled.rows, verdicts, strict=True)
            if verdict.value is not None and verdict.passed is not None
        ]
        passes = [pair.judge for pair in pairs if pair.passed is True]
        fails = [pair.judge for pair in pairs if pair.passed is False]
        decided = [(pair.passed, pair.judge_passed) for pair in pairs if pair.passed is not None]
        figures[form] = {
            "auc": msgspec.to_builtins(auc(passes, fails)),
            "balanced_accuracy": msgspec.to_builtins(count_confusion(decided).balanced_accuracy()),
            "unmeasured": len(labelled.rows) - len(pairs),
        }
    return figures
