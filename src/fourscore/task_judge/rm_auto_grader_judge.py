"""Where AgentJet keeps `AutoGraderJudge`."""

from fourscore.phases.auto_grader_face import AutoGraderJudge

__all__ = ["AutoGraderJudge"]
