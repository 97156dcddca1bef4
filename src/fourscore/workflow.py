"""AgentJet's workflow types, under the path its users import them from."""

from fourscore.judges.workflow import ModelTuner, Task, Workflow, WorkflowOutput, WorkflowTask

__all__ = ["ModelTuner", "Task", "Workflow", "WorkflowOutput", "WorkflowTask"]
