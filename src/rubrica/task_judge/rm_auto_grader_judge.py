"""Where AgentJet keeps `AutoGraderJudge`."""

from rubrica.phases.auto_grader_face import AutoGraderJudge

__all__ = ["AutoGraderJudge"]
