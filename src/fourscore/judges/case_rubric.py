"""The rubric of a set of cases: the one that is named, and the checks of the cases."""

from fourscore.core import Rubric
from fourscore.formats.cases import CaseFileInfo
from fourscore.judges.checks.case_checks import add_case_checks
from fourscore.judges.rubric_file import CHECKS, RESEARCH, read_rubric


def choose_rubric(path: str | None, found: CaseFileInfo) -> str:
    """Return the path of the rubric; without one, checks are the rubric where every case has some.

    Where some cases have checks and others have none, it is the rubric for research answers.
    """
    if path is not None:
        return path
    return CHECKS if found.with_checks == found.count > 0 else RESEARCH


def read_case_rubric(path: str | None, found: CaseFileInfo, model: str | None = None) -> Rubric:
    """Return the rubric for these cases, with a dimension `checks` if some of them have checks."""
    rubric = read_rubric(choose_rubric(path, found), model)
    return add_case_checks(rubric, model) if found.with_checks else rubric
