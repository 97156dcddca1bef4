"""One score for an agent: its reward in training, its grade in tests, its alarm in production,
its fitness in evolution.

`Case → Trace → Signal → Score`: see `fourscore.core`. Every name is loaded when it is first used,
so that importing this package costs nothing: `fourscore hook` runs after every tool use of an
agent.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` alone takes longer than `fourscore hook` may
    from typing import Any

    from fourscore.agents.step_recorder import record
    from fourscore.core import (
        Case,
        CaseError,
        ConfigError,
        DataError,
        Dimension,
        Evidence,
        Fault,
        FourscoreError,
        Judge,
        JudgeError,
        Message,
        Ranker,
        Rubric,
        Score,
        Signal,
        Status,
        ToolCall,
        Trace,
        Usage,
        judge,
        score,
    )
    from fourscore.evolve.decision import should_apply_mutation
    from fourscore.judges.agentjet import CountdownAnswerAsJudge, EnvServiceJudge, MathAnswerAsJudge
    from fourscore.judges.dimensions.research_rubric import EVALUATION_DIMENSIONS, EVALUATION_RUBRIC
    from fourscore.judges.failures import has_obvious_errors
    from fourscore.judges.fitness.detectors.answer import (
        has_direct_answer,
        has_explanation,
        has_next_steps,
    )
    from fourscore.judges.fitness.detectors.format import follows_format
    from fourscore.judges.fitness.detectors.markdown import has_code_block
    from fourscore.judges.fitness.detectors.syntax import has_syntax_errors
    from fourscore.judges.fitness.output_quality import (
        score_accuracy,
        score_completeness,
        score_structure,
    )
    from fourscore.judges.fitness.rubric import GRADES, grade_of
    from fourscore.judges.workflow import (
        BaseJudge,
        ModelTuner,
        Task,
        Workflow,
        WorkflowOutput,
        WorkflowTask,
    )
    from fourscore.labels.auto_grader import AutoGraderJudge
    from fourscore.monitor.monitor import ProductionMonitor
    from fourscore.stats.recency import aggregate_scores, remove_outliers
    from fourscore.test.assertions import assert_passes
    from fourscore.test.test_set import (
        EvaluationRunner,
        TestSet,
        calculate_overall_score,
        evaluate_output,
    )

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
    "FourscoreError",
    "Score",
    "Signal",
    "Status",
    "ToolCall",
    "Trace",
    "Usage",
    "judge",
    "score",
)
_LAZY_IMPORTS = {
    **dict.fromkeys(_CORE, "fourscore.core"),
    "GRADES": "fourscore.judges.fitness.rubric",
    "follows_format": "fourscore.judges.fitness.detectors.format",
    "grade_of": "fourscore.judges.fitness.rubric",
    "has_code_block": "fourscore.judges.fitness.detectors.markdown",
    "has_direct_answer": "fourscore.judges.fitness.detectors.answer",
    "has_explanation": "fourscore.judges.fitness.detectors.answer",
    "has_next_steps": "fourscore.judges.fitness.detectors.answer",
    "has_obvious_errors": "fourscore.judges.failures",
    "has_syntax_errors": "fourscore.judges.fitness.detectors.syntax",
    "score_accuracy": "fourscore.judges.fitness.output_quality",
    "score_completeness": "fourscore.judges.fitness.output_quality",
    "score_structure": "fourscore.judges.fitness.output_quality",
    "aggregate_scores": "fourscore.stats.recency",
    "remove_outliers": "fourscore.stats.recency",
    "AutoGraderJudge": "fourscore.labels.auto_grader",
    "BaseJudge": "fourscore.judges.workflow",
    "CountdownAnswerAsJudge": "fourscore.judges.agentjet",
    "EnvServiceJudge": "fourscore.judges.agentjet",
    "MathAnswerAsJudge": "fourscore.judges.agentjet",
    "EVALUATION_DIMENSIONS": "fourscore.judges.dimensions.research_rubric",
    "EVALUATION_RUBRIC": "fourscore.judges.dimensions.research_rubric",
    "EvaluationRunner": "fourscore.test.test_set",
    "ModelTuner": "fourscore.judges.workflow",
    "ProductionMonitor": "fourscore.monitor.monitor",
    "Task": "fourscore.judges.workflow",
    "TestSet": "fourscore.test.test_set",
    "Workflow": "fourscore.judges.workflow",
    "WorkflowOutput": "fourscore.judges.workflow",
    "WorkflowTask": "fourscore.judges.workflow",
    "assert_passes": "fourscore.test.assertions",
    "calculate_overall_score": "fourscore.test.test_set",
    "evaluate_output": "fourscore.test.test_set",
    "record": "fourscore.agents.step_recorder",
    "should_apply_mutation": "fourscore.evolve.decision",
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
    "FourscoreError",
    "Judge",
    "JudgeError",
    "MathAnswerAsJudge",
    "Message",
    "ModelTuner",
    "ProductionMonitor",
    "Ranker",
    "Rubric",
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
    if name in _LAZY_IMPORTS:
        from importlib import import_module

        found = getattr(import_module(_LAZY_IMPORTS[name]), name)
        globals()[name] = found
        return found
    if name == "core":  # `import fourscore; fourscore.core` works without another import
        from importlib import import_module

        return import_module("fourscore.core")
    raise AttributeError(f"module 'fourscore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY_IMPORTS])
