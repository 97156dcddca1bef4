"""Exports `MathAnswerAsJudge` under AgentJet's module path."""

from fourscore.judges.agentjet import MathAnswerAsJudge

__all__ = ["MathAnswerAsJudge"]
