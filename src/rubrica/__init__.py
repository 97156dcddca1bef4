"""One score for an agent: its reward in training, its grade in tests, its alarm in production,
its fitness in evolution.

`Case → Trace → Signal → Score`: see `rubrica.core`. Every name is loaded when it is first used, so
that importing this package costs nothing: `rubrica hook` runs after every tool use of an agent.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` alone would take longer than the hook may
    from typing import Any

    from rubrica.core import (
        Case,
        CaseError,
        ConfigError,
        DataError,
        Dimension,
        Evidence,
        Fault,
        Judge,
        JudgeError,
        Message,
        Ranker,
        Rubric,
        RubricaError,
        Score,
        Signal,
        Status,
        ToolCall,
        Trace,
        Usage,
        judge,
        score,
    )
    from rubrica.doors.testing import assert_passes
    from rubrica.judges.agentjet import CountdownAnswerAsJudge, EnvServiceJudge, MathAnswerAsJudge
    from rubrica.judges.dimensions.rubric import EVALUATION_DIMENSIONS, EVALUATION_RUBRIC
    from rubrica.judges.failures import has_obvious_errors
    from rubrica.judges.fitness.detectors.answer import (
        has_direct_answer,
        has_explanation,
        has_next_steps,
    )
    from rubrica.judges.fitness.detectors.format import follows_format
    from rubrica.judges.fitness.detectors.syntax import has_syntax_errors
    from rubrica.judges.fitness.grades import GRADES, grade_of
    from rubrica.judges.fitness.output import score_accuracy, score_completeness
    from rubrica.judges.fitness.structure import has_code_block, score_structure
    from rubrica.judges.workflow import (
        BaseJudge,
        ModelTuner,
        Task,
        Workflow,
        WorkflowOutput,
        WorkflowTask,
    )
    from rubrica.phases.auto_grader_face import AutoGraderJudge
    from rubrica.phases.evolve.literal import should_apply_mutation
    from rubrica.phases.monitor.monitor import ProductionMonitor
    from rubrica.phases.recorder import record
    from rubrica.phases.testset import (
        EvaluationRunner,
        TestSet,
        calculate_overall_score,
        evaluate_output,
    )
    from rubrica.stats.recency import aggregate_scores, remove_outliers

__version__ = "0.1.0"

_CORE = (
    "Case",
    "CaseError",
    "ConfigError",
    "DataError",
    "Dimension",
    "Evidence",
    "Fault",
    "Judge",
    "JudgeError",
    "Message",
    "Ranker",
    "Rubric",
    "RubricaError",
    "Score",
    "Signal",
    "Status",
    "ToolCall",
    "Trace",
    "Usage",
    "judge",
    "score",
)
_LATER = {
    **dict.fromkeys(_CORE, "rubrica.core"),
    "GRADES": "rubrica.judges.fitness.grades",
    "follows_format": "rubrica.judges.fitness.detectors.format",
    "grade_of": "rubrica.judges.fitness.grades",
    "has_code_block": "rubrica.judges.fitness.structure",
    "has_direct_answer": "rubrica.judges.fitness.detectors.answer",
    "has_explanation": "rubrica.judges.fitness.detectors.answer",
    "has_next_steps": "rubrica.judges.fitness.detectors.answer",
    "has_obvious_errors": "rubrica.judges.failures",
    "has_syntax_errors": "rubrica.judges.fitness.detectors.syntax",
    "score_accuracy": "rubrica.judges.fitness.output",
    "score_completeness": "rubrica.judges.fitness.output",
    "score_structure": "rubrica.judges.fitness.structure",
    "aggregate_scores": "rubrica.stats.recency",
    "remove_outliers": "rubrica.stats.recency",
    "AutoGraderJudge": "rubrica.phases.auto_grader_face",
    "BaseJudge": "rubrica.judges.workflow",
    "CountdownAnswerAsJudge": "rubrica.judges.agentjet",
    "EnvServiceJudge": "rubrica.judges.agentjet",
    "MathAnswerAsJudge": "rubrica.judges.agentjet",
    "EVALUATION_DIMENSIONS": "rubrica.judges.dimensions.rubric",
    "EVALUATION_RUBRIC": "rubrica.judges.dimensions.rubric",
    "EvaluationRunner": "rubrica.phases.testset",
    "ModelTuner": "rubrica.judges.workflow",
    "ProductionMonitor": "rubrica.phases.monitor.monitor",
    "Task": "rubrica.judges.workflow",
    "TestSet": "rubrica.phases.testset",
    "Workflow": "rubrica.judges.workflow",
    "WorkflowOutput": "rubrica.judges.workflow",
    "WorkflowTask": "rubrica.judges.workflow",
    "assert_passes": "rubrica.doors.testing",
    "calculate_overall_score": "rubrica.phases.testset",
    "evaluate_output": "rubrica.phases.testset",
    "record": "rubrica.phases.recorder",
    "should_apply_mutation": "rubrica.phases.evolve.literal",
}

__all__ = [
    "EVALUATION_DIMENSIONS",
    "EVALUATION_RUBRIC",
    "GRADES",
    "AutoGraderJudge",
    "BaseJudge",
    "Case",
    "CaseError",
    "ConfigError",
    "CountdownAnswerAsJudge",
    "DataError",
    "Dimension",
    "EnvServiceJudge",
    "EvaluationRunner",
    "Evidence",
    "Fault",
    "Judge",
    "JudgeError",
    "MathAnswerAsJudge",
    "Message",
    "ModelTuner",
    "ProductionMonitor",
    "Ranker",
    "Rubric",
    "RubricaError",
    "Score",
    "Signal",
    "Status",
    "Task",
    "TestSet",
    "ToolCall",
    "Trace",
    "Usage",
    "Workflow",
    "WorkflowOutput",
    "WorkflowTask",
    "aggregate_scores",
    "assert_passes",
    "calculate_overall_score",
    "evaluate_output",
    "follows_format",
    "grade_of",
    "has_code_block",
    "has_direct_answer",
    "has_explanation",
    "has_next_steps",
    "has_obvious_errors",
    "has_syntax_errors",
    "judge",
    "record",
    "remove_outliers",
    "score",
    "score_accuracy",
    "score_completeness",
    "score_structure",
    "should_apply_mutation",
]


def __getattr__(name: str) -> "Any":
    if name in _LATER:
        from importlib import import_module

        found = getattr(import_module(_LATER[name]), name)
        globals()[name] = found
        return found
    if name == "core":  # a module of its own, which used to come with the package
        from importlib import import_module

        return import_module("rubrica.core")
    raise AttributeError(f"module 'rubrica' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
