"""Where AgentJet keeps `BaseJudge`."""

from fourscore.judges.workflow import BaseJudge

__all__ = ["BaseJudge"]
