"""Where AgentJet keeps `EnvServiceJudge`."""

from fourscore.judges.agentjet import EnvServiceJudge

__all__ = ["EnvServiceJudge"]
