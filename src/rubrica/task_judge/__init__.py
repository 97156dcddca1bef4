"""AgentJet's judges, under the path its users import them from."""

from rubrica.judges.agentjet import CountdownAnswerAsJudge, EnvServiceJudge, MathAnswerAsJudge
from rubrica.judges.workflow import BaseJudge

__all__ = ["BaseJudge", "CountdownAnswerAsJudge", "EnvServiceJudge", "MathAnswerAsJudge"]
