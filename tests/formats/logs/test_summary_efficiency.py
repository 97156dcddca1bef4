"""The efficiency that a summary notes twice, by time and by tools."""

from pathlib import Path

from fourscore.formats.logs.log_file import LogFile

NOTED = """\
execution:
  task_complexity: "medium"
  actual_time: 60s
  max_time: 120s
  efficiency: 0.50  # 50%

  # Alternative: tool-based
  actual_tools: 8
  max_tools: 15
  efficiency: 0.47  # 47%
"""


def test_both_alternatives_are_read(tmp_path: Path) -> None:
    file = tmp_path / "summary.yaml"
    file.write_text(NOTED)
    (trace,) = LogFile(str(file)).traces()
    assert trace.seconds == 60.0
    assert len(trace.steps) == 8
    assert trace.metadata["max_expected"] == {"time": 120.0, "tools": 15}
