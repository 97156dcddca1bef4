"""Exports `EnvServiceJudge` under AgentJet's module path."""

from fourscore.judges.agentjet import EnvServiceJudge

__all__ = ["EnvServiceJudge"]
