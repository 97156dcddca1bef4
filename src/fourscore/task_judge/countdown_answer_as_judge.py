"""`CountdownAnswerAsJudge` under a module of its own, as AgentJet keeps its judges."""

from fourscore.judges.agentjet import CountdownAnswerAsJudge

__all__ = ["CountdownAnswerAsJudge"]
