"""AgentJet's judges, under the path its users import them from."""

from typing import TYPE_CHECKING, Any

from fourscore.judges.agentjet import CountdownAnswerAsJudge, EnvServiceJudge, MathAnswerAsJudge
from fourscore.judges.workflow import BaseJudge

__all__ = ["BaseJudge", "CountdownAnswerAsJudge", "EnvServiceJudge", "MathAnswerAsJudge"]

if TYPE_CHECKING:
    from fourscore.labels.auto_grader import AutoGraderJudge as AutoGraderJudge


def __getattr__(name: str) -> Any:
    if name == "AutoGraderJudge":  # imported at first use: it needs the model clients
        from fourscore.labels.auto_grader import AutoGraderJudge

        return AutoGraderJudge
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
