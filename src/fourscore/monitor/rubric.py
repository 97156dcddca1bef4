"""The rubric that a monitor scores by, from whatever was given for one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from fourscore.core import ConfigError, Judge, Rubric


def rubric_of(given: "Rubric | Judge | Mapping[str, Any] | str | Path | None") -> Rubric:
    """A rubric, a file of one, a mapping of dimensions, a judge alone; None is the default one.

    Live traffic comes without reference answers, so most of the default rubric's dimensions do not
    apply to it. It counts what does, however little: nothing would ever be measured otherwise.
    """
    if given is None:
        from fourscore.judges.dimensions.research_rubric import research

        return replace(research(), min_coverage=0.0)
    if isinstance(given, Rubric):
        return given
    if isinstance(given, str | Path):
        from fourscore.judges.rubric_file import read_rubric

        return read_rubric(str(given))
    if isinstance(given, Mapping):
        from fourscore.test.test_set import EvaluationRunner, TestSet

        return EvaluationRunner(TestSet("monitor"), given, None)._scored_by()
    if hasattr(given, "judge"):
        return Rubric.from_judge(given)
    message = f"expected a rubric, a file or a mapping of one, got {type(given).__name__}"
    raise ConfigError(message, field="rubric")
