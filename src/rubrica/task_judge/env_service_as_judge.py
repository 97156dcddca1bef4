"""Where AgentJet keeps `EnvServiceJudge`."""

from rubrica.judges.agentjet import EnvServiceJudge

__all__ = ["EnvServiceJudge"]
