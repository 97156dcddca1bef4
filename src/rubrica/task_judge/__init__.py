"""AgentJet's judges, under the path its users import them from."""

from typing import TYPE_CHECKING, Any

from rubrica.judges.agentjet import CountdownAnswerAsJudge, EnvServiceJudge, MathAnswerAsJudge
from rubrica.judges.workflow import BaseJudge

__all__ = ["BaseJudge", "CountdownAnswerAsJudge", "EnvServiceJudge", "MathAnswerAsJudge"]

if TYPE_CHECKING:
    from rubrica.phases.auto_grader_face import AutoGraderJudge as AutoGraderJudge


def __getattr__(name: str) -> Any:
    if name == "AutoGraderJudge":  # it asks models: loaded when it is wanted
        from rubrica.phases.auto_grader_face import AutoGraderJudge

        return AutoGraderJudge
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
