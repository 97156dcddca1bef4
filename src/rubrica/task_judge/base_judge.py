"""Where AgentJet keeps `BaseJudge`."""

from rubrica.judges.workflow import BaseJudge

__all__ = ["BaseJudge"]
