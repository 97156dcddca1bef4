"""A pytest plugin: each case of a case file is a test; agent and rubric are pytest settings.

    [tool.pytest.ini_options]
    fourscore_cases = ["tests/cases/*.jsonl"]
    fourscore_agent = "agent.py:answer"
    fourscore_rubric = "rubric.yaml"

Without `fourscore_cases` nothing is imported or collected. Tags are keywords: `pytest -k hard`
selects the cases with the tag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from fourscore.agents.agent import Agent
    from fourscore.core import Case, Rubric


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("fourscore_cases", "case files to collect, as patterns", type="args", default=[])
    parser.addini("fourscore_agent", "the agent, as for fourscore run", default="recorded")
    about = "the rubric's file; by default the checks of a case, else the research rubric"
    parser.addini("fourscore_rubric", about, default="")
    parser.addini("fourscore_deadline", "seconds that the agent has for a case", default="60")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CasesFile | None:
    root = parent.config.rootpath
    patterns = parent.config.getini("fourscore_cases")
    if not patterns or not file_path.is_relative_to(root):
        return None
    if any(file_path.relative_to(root).match(pattern) for pattern in patterns):
        return CasesFile.from_parent(parent, path=file_path)
    return None


class CasesFile(pytest.File):
    """One case file."""

    def collect(self) -> Iterator[CaseItem]:
        from fourscore.core import FourscoreError
        from fourscore.formats.cases import CaseFile
        from fourscore.judges.checks.case_checks import CaseChecks

        try:
            agent, rubric = self._load_agent_and_rubric()
            file = CaseFile(str(self.path), check_case=CaseChecks().list_checks)
            file.check()
            for case in file.cases():
                yield CaseItem.from_parent(
                    self, name=case.id, case=case, agent=agent, rubric=rubric
                )
        except FourscoreError as error:
            raise self.CollectError(str(error)) from None

    def _load_agent_and_rubric(self) -> tuple[Agent, Rubric | None]:
        from fourscore.agents.agent import load_agent
        from fourscore.judges.rubric_file import read_rubric

        config = self.config
        file = config.getini("fourscore_rubric")
        rubric = read_rubric(str(config.rootpath / file)) if file else None
        return load_agent(config.getini("fourscore_agent"), folders=[str(config.rootpath)]), rubric


class CaseItem(pytest.Item):
    """One case as a test: the agent answers it, and the rubric judges the answer."""

    def __init__(self, *, case: Case, agent: Agent, rubric: Rubric | None, **more: Any) -> None:
        super().__init__(**more)
        self.case, self.agent, self.rubric = case, agent, rubric
        self.extra_keyword_matches.update(case.tags)

    def runtest(self) -> None:
        from fourscore.agents.agent import attempt_case
        from fourscore.executors.portal import PORTAL
        from fourscore.test.assertions import assert_passes

        deadline = float(self.config.getini("fourscore_deadline"))
        trace = PORTAL.run(attempt_case(self.agent, self.case, 0, deadline))
        score = assert_passes(self.case, trace, self.rubric)
        self.user_properties.append(("fourscore_value", score.value))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, AssertionError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"case {self.name}"
