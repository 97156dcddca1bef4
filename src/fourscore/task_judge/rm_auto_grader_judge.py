"""Exports `AutoGraderJudge` under AgentJet's module path."""

from fourscore.labels.auto_grader import AutoGraderJudge

__all__ = ["AutoGraderJudge"]
