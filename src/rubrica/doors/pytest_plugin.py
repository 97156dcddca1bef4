"""Case files as tests: each case is one, and its agent and rubric come from pytest's own settings.

    [tool.pytest.ini_options]
    rubrica_cases = ["tests/cases/*.jsonl"]
    rubrica_agent = "agent.py:answer"
    rubrica_rubric = "rubric.yaml"

Nothing is imported and nothing collected where no `rubrica_cases` are named. Tags are keywords:
`pytest -k hard` takes the cases that have the tag.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from rubrica.core import Case, Rubric
    from rubrica.phases.agents import Agent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addini("rubrica_cases", "case files to collect, as patterns", type="args", default=[])
    parser.addini("rubrica_agent", "the agent, as rubrica run takes it", default="recorded")
    parser.addini("rubrica_rubric", "the rubric's file; research answers where absent", default="")
    parser.addini("rubrica_deadline", "seconds that the agent has for a case", default="60")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> CasesFile | None:
    root = parent.config.rootpath
    patterns = parent.config.getini("rubrica_cases")
    if not patterns or not file_path.is_relative_to(root):
        return None
    if any(file_path.relative_to(root).match(pattern) for pattern in patterns):
        return CasesFile.from_parent(parent, path=file_path)
    return None


class CasesFile(pytest.File):
    """One case file."""

    def collect(self) -> Iterator[CaseItem]:
        from rubrica.core import RubricaError
        from rubrica.readers.cases import CaseFile

        try:
            agent, rubric = self._parts()
            file = CaseFile(str(self.path))
            file.check()
            for case in file.cases():
                yield CaseItem.from_parent(self, name=case.id, case=case, by=(agent, rubric))
        except RubricaError as error:
            raise self.CollectError(str(error)) from None

    def _parts(self) -> tuple[Agent, Rubric]:
        from rubrica.judges.rubric_file import RESEARCH, read_rubric
        from rubrica.phases.agents import agent_of

        config = self.config
        named = config.getini("rubrica_rubric")
        rubric = read_rubric(str(config.rootpath / named) if named else RESEARCH)
        return agent_of(config.getini("rubrica_agent"), folders=[str(config.rootpath)]), rubric


class CaseItem(pytest.Item):
    """One case: the agent is asked, and its answer judged."""

    def __init__(self, *, case: Case, by: tuple[Agent, Rubric], **given: Any) -> None:
        super().__init__(**given)
        self.case, (self.agent, self.rubric) = case, by
        self.extra_keyword_matches.update(case.tags)

    def runtest(self) -> None:
        from rubrica.doors.testing import assert_passes
        from rubrica.executors.portal import PORTAL
        from rubrica.phases.agents import attempt

        deadline = float(self.config.getini("rubrica_deadline"))
        trace = PORTAL.run(attempt(self.agent, self.case, 0, deadline))
        given = assert_passes(self.case, trace, self.rubric)
        self.user_properties.append(("rubrica_value", given.value))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, AssertionError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, None, f"case {self.name}"
