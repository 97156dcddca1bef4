"""Where AgentJet keeps `AutoGraderJudge`."""

from fourscore.labels.auto_grader import AutoGraderJudge

__all__ = ["AutoGraderJudge"]
