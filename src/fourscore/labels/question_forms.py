"""How well a judge tells labelled outputs apart, in each form that its model can be asked in.

Which form suits a model is not known beforehand: a small one loses its way where it has to quote, a
large one may gain by it. So both are tried on outputs that people have labelled.
"""

from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from fourscore.core import Dimension, Rubric
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import BRIEF_WORDS, Form
from fourscore.labels.calibrate import judged
from fourscore.labels.label_pairs import pair_labels
from fourscore.labels.labelled_outputs import Labelled
from fourscore.stats.classification import auc, count_confusion


def rubrics_by_form(rubric: Rubric) -> dict[str, Rubric]:
    """The rubric with its model judges in each form; as it is where no judge has two forms."""
    if not any(_has_forms(line.judge) for line in rubric.dimensions):
        return {"as it is": rubric}
    return {
        form: replace(rubric, dimensions=tuple(_in_form(line, form) for line in rubric.dimensions))
        for form in get_args(Form)
    }


def _in_form(line: Dimension, form: Form) -> Dimension:
    judge: Any = line.judge
    return replace(line, judge=replace(judge, form=form)) if _has_forms(judge) else line


def _has_forms(judge: Any) -> bool:
    """Whether a judge asks with a prompt that has a brief form."""
    if not isinstance(judge, ModelJudge):
        return False
    names = {name.partition("/")[0].removesuffix("_brief") for name in judge.prompts}
    return bool(names & BRIEF_WORDS.keys())


async def measure_forms(
    rubric: Rubric, labelled: Labelled, *, pass_at: float, concurrency: int, deadline: float
) -> dict[str, Any]:
    """For each form the AUC and the balanced accuracy against people, JSON-ready."""
    figures: dict[str, Any] = {}
    for form, variant in rubrics_by_form(rubric).items():
        verdicts = await judged(variant, labelled.rows, concurrency=concurrency, deadline=deadline)
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
