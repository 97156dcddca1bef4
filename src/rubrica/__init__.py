"""One score for an agent: its reward in training, its grade in tests, its alarm in production,
its fitness in evolution.

`Case → Trace → Signal → Score`: see `rubrica.core`. Names that need more than the core are loaded
when they are first used, so that importing this package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    from rubrica.doors.testing import assert_passes
    from rubrica.judges.agentjet import CountdownAnswerAsJudge, EnvServiceJudge, MathAnswerAsJudge
    from rubrica.judges.dimensions.rubric import EVALUATION_DIMENSIONS, EVALUATION_RUBRIC
    from rubrica.judges.workflow import (
        BaseJudge,
        ModelTuner,
        Task,
        Workflow,
        WorkflowOutput,
        WorkflowTask,
    )
    from rubrica.phases.auto_grader_face import AutoGraderJudge
    from rubrica.phases.recorder import record
    from rubrica.phases.testset import (
        EvaluationRunner,
        TestSet,
        calculate_overall_score,
        evaluate_output,
    )

__version__ = "0.1.0"

_LATER = {
    "AutoGraderJudge": "rubrica.phases.auto_grader_face",
    "BaseJudge": "rubrica.judges.workflow",
    "CountdownAnswerAsJudge": "rubrica.judges.agentjet",
    "EnvServiceJudge": "rubrica.judges.agentjet",
    "MathAnswerAsJudge": "rubrica.judges.agentjet",
    "EVALUATION_DIMENSIONS": "rubrica.judges.dimensions.rubric",
    "EVALUATION_RUBRIC": "rubrica.judges.dimensions.rubric",
    "EvaluationRunner": "rubrica.phases.testset",
    "ModelTuner": "rubrica.judges.workflow",
    "Task": "rubrica.judges.workflow",
    "TestSet": "rubrica.phases.testset",
    "Workflow": "rubrica.judges.workflow",
    "WorkflowOutput": "rubrica.judges.workflow",
    "WorkflowTask": "rubrica.judges.workflow",
    "assert_passes": "rubrica.doors.testing",
    "calculate_overall_score": "rubrica.phases.testset",
    "evaluate_output": "rubrica.phases.testset",
    "record": "rubrica.phases.recorder",
}

__all__ = [
    "EVALUATION_DIMENSIONS",
    "EVALUATION_RUBRIC",
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
    "assert_passes",
    "calculate_overall_score",
    "evaluate_output",
    "judge",
    "record",
    "score",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'rubrica' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
