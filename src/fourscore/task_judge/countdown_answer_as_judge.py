"""Exports `CountdownAnswerAsJudge` under AgentJet's module path."""

from fourscore.judges.agentjet import CountdownAnswerAsJudge

__all__ = ["CountdownAnswerAsJudge"]
