"""The inputs of `fourscore run`: the rubric, agent, gates and cases that its settings name."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec.structs import replace

from fourscore.agents.agent import Agent, load_agent
from fourscore.agents.function import FunctionAgent
from fourscore.agents.worker_process import ProcessAgent
from fourscore.cli.run_settings import RunSettings
from fourscore.core import Case, Rubric
from fourscore.core.extras import MissingExtras
from fourscore.formats.case_filter import take_first, take_sample
from fourscore.formats.cases import CaseFile, CaseFileInfo
from fourscore.judges.case_rubric import choose_rubric, read_case_rubric
from fourscore.judges.checks.case_checks import CaseChecks
from fourscore.report import exports
from fourscore.stats.gates import Gate, parse_gate


class RunInputs(msgspec.Struct, frozen=True, kw_only=True):
    """The settings with absolute paths, and the objects that they name.

    Only this object reads `file`: stdin or a pipe can be read only once.
    """

    settings: RunSettings
    rubric: Rubric
    agent: Agent
    gates: list[Gate]
    file: CaseFile

    def choose_cases(self) -> Iterator[Case]:
        """Yield the cases that tags, filters, `--sample` and `--limit` choose."""
        settings = self.settings
        cases: Iterator[Case] = filter(settings.case_filter.matches, self.file.cases())
        if settings.sample is not None:
            cases = take_sample(cases, settings.sample, settings.seed)
        return cases if settings.limit is None else take_first(cases, settings.limit)


def read_inputs(settings: RunSettings, out: list[str]) -> RunInputs:
    """Load the rubric, agent, gates and cases; a mistake fails before the first case runs.

    `out` are the files that the run will be exported to.
    """
    missing = MissingExtras()
    with missing.collect():
        exports.check_paths(out)
    resolved = settings.resolve_paths()  # an agent may change the working folder
    checks = CaseChecks(model=settings.judge_model)
    file = CaseFile(resolved.cases, check_case=checks.list_checks)
    found = CaseFileInfo(0, "")
    with missing.collect():
        found = file.check()
    settings = replace(settings, rubric=choose_rubric(settings.rubric, found))
    with missing.collect():
        rubric = read_case_rubric(settings.rubric, found, settings.judge_model)
    missing.raise_if_any()
    gates = [parse_gate(text) for text in settings.gates]
    for gate in gates:
        gate.check([line.name for line in rubric.dimensions], settings.repeats)
    folders = [str(Path.cwd())]
    agent = load_agent(settings.agent, folders=folders)
    # Other agents run outside this process already.
    if settings.isolate and isinstance(agent, FunctionAgent):
        agent = ProcessAgent(settings.agent, folders, settings.concurrency)
    resolved = settings.resolve_paths()
    if file.flows:
        resolved = replace(resolved, cases="-")
    return RunInputs(settings=resolved, rubric=rubric, agent=agent, gates=gates, file=file)
