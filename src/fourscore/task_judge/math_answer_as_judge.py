"""`MathAnswerAsJudge` under a module of its own, as AgentJet keeps its judges."""

from fourscore.judges.agentjet import MathAnswerAsJudge

__all__ = ["MathAnswerAsJudge"]
