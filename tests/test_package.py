"""The public surface, and what importing it costs."""

import subprocess
import sys

import fourscore

SURFACE = """
AutoGraderJudge BaseJudge Case CaseError ConfigError CountdownAnswerAsJudge DataError Dimension
EnvServiceJudge EVALUATION_DIMENSIONS EVALUATION_RUBRIC EvaluationRunner Evidence Fault GRADES Judge
JudgeError
MathAnswerAsJudge Message ModelTuner ProductionMonitor Ranker
Rubric FourscoreError Score Signal Status Task TestSet ToolCall Trace Usage Workflow
WorkflowOutput WorkflowTask assert_passes calculate_overall_score evaluate_output judge record
score
aggregate_scores follows_format grade_of has_code_block has_direct_answer has_explanation
has_next_steps has_obvious_errors has_syntax_errors remove_outliers score_accuracy
score_completeness score_structure should_apply_mutation
"""


def test_public_names_are_importable() -> None:
    assert sorted(fourscore.__all__) == sorted(SURFACE.split())
    assert all(getattr(fourscore, name) is not None for name in fourscore.__all__)
    assert set(fourscore.__all__) <= set(dir(fourscore))


def test_agentjet_paths_lead_to_the_same_objects() -> None:
    from fourscore.task_judge import AutoGraderJudge, CountdownAnswerAsJudge, MathAnswerAsJudge
    from fourscore.task_judge.base_judge import BaseJudge
    from fourscore.workflow import WorkflowOutput, WorkflowTask

    assert BaseJudge is fourscore.BaseJudge
    assert (WorkflowOutput, WorkflowTask) == (fourscore.WorkflowOutput, fourscore.WorkflowTask)
    assert MathAnswerAsJudge is fourscore.MathAnswerAsJudge
    assert CountdownAnswerAsJudge is fourscore.CountdownAnswerAsJudge
    assert AutoGraderJudge is fourscore.AutoGraderJudge


def test_import_loads_no_heavy_module() -> None:
    """A time would fail on a slow machine; what is loaded does not depend on it."""
    script = "import fourscore, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    heavy = {
        "asyncio",
        "rich",
        "ruamel",
        "ruamel.yaml",
        "multiprocessing",
        "subprocess",
        "argparse",
    }
    assert not heavy & set(loaded)
