"""Where AgentJet keeps `AutoGraderJudge`."""

from fourscore.labels.auto_grader_judge import AutoGraderJudge

__all__ = ["AutoGraderJudge"]
