"""`MathAnswerAsJudge` under a module of its own, as AgentJet keeps its judges."""

from rubrica.judges.agentjet import MathAnswerAsJudge

__all__ = ["MathAnswerAsJudge"]
