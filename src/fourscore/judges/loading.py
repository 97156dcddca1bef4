"""Load judges by name: a built-in name, `package.module->Name`, or `path/to/file.py->Name`.

A name comes from a configuration file or the command line, never from a request or a data row:
loading one runs code. A loaded judge pickles as its name and a digest of its file, so that another
process loads the same code or reports that it has changed.
"""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from inspect import Parameter
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import (
    ConfigError,
    FourscoreError,
    FunctionJudge,
    JudgeError,
    digest,
    suggest_known,
)
from fourscore.core.judge import Runs, get_runs, safe_repr
from fourscore.judges import ajet_alias
from fourscore.judges.checks import CHECKS
from fourscore.judges.user_modules import (
    digest_source,
    get_attribute,
    import_named_module,
    load_file_module,
)
from fourscore.judges.workflow import BuiltInJudge, WorkflowJudge, make_judge

#: The judges that ship with the package, by name.
BUILT_IN = {
    **CHECKS,
    "auto_grader": "fourscore.labels.auto_grader->AutoGraderJudge",
    "checks": "fourscore.judges.checks.case_checks->CaseChecks",
    "citation_accuracy": "fourscore.judges.dimensions.citation_accuracy->CitationAccuracy",
    "completeness": "fourscore.judges.dimensions.completeness->Completeness",
    "countdown": "fourscore.judges.agentjet->CountdownAnswerAsJudge",
    "criteria": "fourscore.judges.llm.criteria->Criteria",
    "efficiency": "fourscore.judges.fitness.efficiency->Efficiency",
    "environment": "fourscore.judges.agentjet->EnvServiceJudge",
    "error_rate": "fourscore.judges.fitness.error_rate->ErrorRate",
    "factual_accuracy": "fourscore.judges.dimensions.factual_accuracy->FactualAccuracy",
    "listwise": "fourscore.judges.llm.listwise->Listwise",
    "math": "fourscore.judges.agentjet->MathAnswerAsJudge",
    "output_quality": "fourscore.judges.fitness.output_quality->OutputQuality",
    "pairwise": "fourscore.judges.llm.pairwise->Pairwise",
    "panel": "fourscore.judges.llm.panel->Panel",
    "rating": "fourscore.judges.llm.rating->Rating",
    "source_quality": "fourscore.judges.dimensions.source_quality->SourceQuality",
    "structure_score": "fourscore.judges.fitness.output_quality->StructureScore",
    "tool_efficiency": "fourscore.judges.dimensions.tool_efficiency->ToolEfficiency",
    "tool_success_rate": "fourscore.judges.fitness.tool_success->ToolSuccessRate",
}
#: AgentJet's names for some built-in judges.
AGENTJET_NAMES = {
    "AutoGraderJudge": "auto_grader",
    "CountdownAnswerAsJudge": "countdown",
    "EnvServiceJudge": "environment",
    "MathAnswerAsJudge": "math",
}
#: The judges that ask a chat model, used with `by: model`.
BY_MODEL = {
    "citation_accuracy": "fourscore.judges.llm.citation_accuracy->CitationAccuracy",
    "completeness": "fourscore.judges.llm.completeness->Completeness",
    "factual_accuracy": "fourscore.judges.llm.factual_accuracy->FactualAccuracy",
    "source_quality": "fourscore.judges.llm.source_quality->SourceQuality",
    "tool_efficiency": "fourscore.judges.llm.tool_efficiency->ToolEfficiency",
}
#: The judges that run a small model on this machine, used with `by: local`.
BY_LOCAL = {
    "citation_accuracy": "fourscore.judges.local.dimensions->CitationAccuracy",
    "completeness": "fourscore.judges.local.dimensions->Completeness",
    "factual_accuracy": "fourscore.judges.local.dimensions->FactualAccuracy",
}
#: The built-in judges that ask the model of `--judge-model` if they name none.
ASK_A_MODEL = frozenset({"auto_grader", "checks", "criteria", "listwise", "pairwise", "rating"})
#: The judges for each value of the option `by`.
TIERS: Mapping[str, Mapping[str, str]] = {"rules": BUILT_IN, "local": BY_LOCAL, "model": BY_MODEL}
#: A user's judge that declares the first value of `runs` runs as the second: only built-in judges
#: are trusted to run inline.
_UNTRUSTED: dict[Runs, Runs] = {"inline": "thread", "asks": "loop"}
#: The first parameters of a function judge, `case` and `trace`, are no options.
_CASE_AND_TRACE = 2
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class LoadedJudge:
    """A user's judge, which another process can load again by its name."""

    def __init__(
        self, inner: Any, *, protocol: str, settings: tuple[Any, ...], source: str
    ) -> None:
        self._inner, self._protocol, self._settings = inner, protocol, settings
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    @property
    def runs(self) -> Runs:
        """How the judge runs; only built-in judges are trusted to run inline."""
        kind = get_runs(self._inner)
        return _UNTRUSTED.get(kind, kind)

    @property
    def fingerprint(self) -> str:
        """A digest of name, source, configuration and options."""
        config, options, _ = self._settings
        return digest([self._protocol.rpartition("/")[2], self._source, safe_repr(config), options])

    def __reduce__(self) -> tuple[object, ...]:
        return (_load_again, (self._protocol, self._settings, self._source))


def _load_again(protocol: str, settings: tuple[Any, ...], source: str) -> Any:
    judge = load_judge(protocol, *settings)
    if judge._source != source:
        raise ConfigError("the file has changed since the judge was loaded", file=protocol)
    return judge


def load_judge(
    protocol: str,
    config: Any = None,
    options: Mapping[str, Any] | None = None,
    folders: Sequence[str] = (),
) -> Any:
    """Load the judge named `protocol`, with `config` (AgentJet judges) or `options` (all others).

    Files and modules are searched in `folders`, then in the working directory.
    """
    protocol = AGENTJET_NAMES.get(protocol, protocol)
    name, options = _choose_tier(protocol, options or {})
    where, arrow, attribute = name.partition("->")
    if not arrow or not where or not attribute:
        hint = suggest_known(protocol, BUILT_IN)
        message = "expected a built-in name, package.module->Name or file.py->Name"
        raise ConfigError(f"{protocol!r} is no judge: {message}; {hint}")
    ajet_alias.install()
    folders = (*folders, str(Path.cwd()))
    options = _resolve_paths(options, folders, protocol in BUILT_IN)
    with redirect_stdout(sys.stderr):  # stdout is for our results, not for what a module prints
        module = (
            load_file_module(where, folders)
            if where.endswith(".py")
            else import_named_module(where, folders)
        )
        found = get_attribute(module, attribute, protocol)
        made = _make_with_canaries(found, protocol, config, options)
    if isinstance(made, BuiltInJudge):
        return made.core
    if protocol in BUILT_IN:
        return made
    settings = (config, dict(options), tuple(folders))
    place = module.__file__ if where.endswith(".py") else where
    source = digest_source(module)
    return LoadedJudge(made, protocol=f"{place}->{attribute}", settings=settings, source=source)


def _choose_tier(protocol: str, options: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the full name of a judge by its option `by`, and its other options.

    Without `by`, a dimension with the option `model` is judged by that model.
    """
    if protocol not in BY_MODEL:
        return BUILT_IN.get(protocol, protocol), options
    own = {key: value for key, value in options.items() if key != "by"}
    tier = options.get("by", "model" if "model" in own else "rules")
    if tier not in TIERS:
        raise ConfigError(f"expected rules, local or model, got {tier!r}", field="with.by")
    if protocol not in TIERS[tier]:
        known = ", ".join(sorted(TIERS[tier]))
        raise ConfigError(
            f"{protocol} has no judge with a local model; {known} have one", field="with.by"
        )
    if tier != "rules" and "model" not in own:
        what = "a folder or hub id" if tier == "local" else "a model such as openai:gpt-4o-mini"
        raise ConfigError(f"by: {tier} needs {what}", field="with.model")
    if tier == "rules" and "model" in own:
        raise ConfigError("by: rules asks no model; remove `by` or `model`", field="with.model")
    return TIERS[tier][protocol], own


def add_default_model(
    protocol: str, options: Mapping[str, Any], model: str | None
) -> Mapping[str, Any]:
    """Return the options of a judge, with this model if the judge asks one and names none."""
    asks = protocol in ASK_A_MODEL or (protocol in BY_MODEL and options.get("by") == "model")
    return {**options, "model": model} if model and asks and "model" not in options else options


def _resolve_paths(
    options: Mapping[str, Any], folders: Sequence[str], built_in: bool
) -> Mapping[str, Any]:
    """Return the options; paths of prompts and weights that exist in `folders` become absolute."""
    found = dict(options)
    for option in ("prompt_folder", "weights") if built_in else ("prompt_folder",):
        named = options.get(option)
        if isinstance(named, str):
            tried = (Path(folder, named).resolve() for folder in folders)
            found[option] = next((str(path) for path in tried if path.exists()), named)
    return found


def _make_with_canaries(found: Any, protocol: str, config: Any, options: Mapping[str, Any]) -> Any:
    """Make a judge; a judge that asks a model also accepts the option `canaries`."""
    if "canaries" not in options or not _asks_a_model(found):
        return _make(found, protocol, config, options)
    from fourscore.judges.llm.canaries import CanaryJudge

    own = {name: value for name, value in options.items() if name != "canaries"}
    made, share = _make(found, protocol, config, own), options["canaries"]
    return CanaryJudge(made, share) if share != 0 else made


def _asks_a_model(found: Any) -> bool:
    kinds = found.__mro__ if isinstance(found, type) else ()
    return any(kind.__module__.startswith("fourscore.judges.llm.") for kind in kinds)


def _make(found: Any, protocol: str, config: Any, options: Mapping[str, Any]) -> Any:
    """Make a judge from `found`, the judge, class or function that `protocol` names."""
    try:
        if isinstance(found, FunctionJudge):
            _check_options(found.function, options, _CASE_AND_TRACE)
            return found.with_options(options)
        if isinstance(found, type):
            if hasattr(found, "compute_reward"):
                made = found((dict(options) or None) if config is None else config)
                return made if isinstance(made, BuiltInJudge) else WorkflowJudge(made)
            if issubclass(found, msgspec.Struct):
                found = make_judge(found, options)
            else:
                _check_options(found, options)
                found = found(**options)
        if hasattr(found, "judge") or hasattr(found, "rank"):
            return found
        if isinstance(found, Callable):  # type: ignore[arg-type]
            _check_options(found, options, _CASE_AND_TRACE)
            return FunctionJudge(found).with_options(options)
    except FourscoreError as error:
        if isinstance(error, JudgeError):
            raise ConfigError(str(error)) from None
        raise
    except Exception as error:
        message = f"the judge {protocol!r} could not be made: {type(error).__name__}: {error}"
        raise ConfigError(message) from error
    raise ConfigError(f"{protocol!r} is neither a judge class nor a function")


def _check_options(maker: Any, options: Mapping[str, Any], taken: int = 0) -> None:
    """Raise `ConfigError` for an option that is no parameter of `maker` after the first `taken`."""
    try:
        parameters = list(inspect.signature(maker).parameters.values())[taken:]
    except (TypeError, ValueError):  # compiled: calling it raises the error
        return
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [parameter.name for parameter in parameters if parameter.kind in _NAMED]
    for name in options:
        if name not in known:
            hint = suggest_known(name, known) if known else "the judge takes no options"
            raise ConfigError(f"unknown option; {hint}", field=f"judge_options.{name}")
