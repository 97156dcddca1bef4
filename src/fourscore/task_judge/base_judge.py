"""Exports `BaseJudge` under AgentJet's module path."""

from fourscore.judges.workflow import BaseJudge

__all__ = ["BaseJudge"]
