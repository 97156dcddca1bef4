"""Judges by name: `package.module->Name`, `path/to/file.py->Name`, or a built-in word.

A name comes from a configuration file or the command line, never from a request or a data row:
loading one runs code. What is loaded pickles as its name and a digest of its file, so that another
process loads the same code or says that it changed.
"""

import hashlib
import importlib
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib.machinery import SourceFileLoader
from inspect import Parameter
from pathlib import Path
from types import CodeType, ModuleType
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
from fourscore.judges.workflow import BuiltInJudge, WorkflowJudge, make_judge

#: Words for the judges that ship with the package.
BUILT_IN = {
    "auto_grader": "fourscore.labels.auto_grader_judge->AutoGraderJudge",
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
#: The names that AgentJet's users know for some of them.
AGENTJET_NAMES = {
    "AutoGraderJudge": "auto_grader",
    "CountdownAnswerAsJudge": "countdown",
    "EnvServiceJudge": "environment",
    "MathAnswerAsJudge": "math",
}
#: The same by asking a model: what a name means where its options name one.
BY_MODEL = {
    "citation_accuracy": "fourscore.judges.llm.citation_accuracy->CitationAccuracy",
    "completeness": "fourscore.judges.llm.completeness->Completeness",
    "factual_accuracy": "fourscore.judges.llm.factual_accuracy->FactualAccuracy",
    "source_quality": "fourscore.judges.llm.source_quality->SourceQuality",
    "tool_efficiency": "fourscore.judges.llm.tool_efficiency->ToolEfficiency",
}
#: And by a small model on this machine.
BY_LOCAL = {
    "citation_accuracy": "fourscore.judges.local.dimensions->CitationAccuracy",
    "completeness": "fourscore.judges.local.dimensions->Completeness",
    "factual_accuracy": "fourscore.judges.local.dimensions->FactualAccuracy",
}
#: The ways of judging that `with: {by: ...}` may name.
WAYS: Mapping[str, Mapping[str, str]] = {"rules": BUILT_IN, "local": BY_LOCAL, "model": BY_MODEL}
#: Where AgentJet's tutorials keep the judges that are built in here.
TUTORIALS = {
    "tutorial.example_math_agent.math_answer_as_judge": "fourscore.judges.agentjet",
    "tutorial.example_countdown.countdown_answer_as_judge": "fourscore.judges.agentjet",
}


#: What a judge of somebody else's is taken for that claims to be this.
_DOUBTED: dict[Runs, Runs] = {"inline": "thread", "asks": "loop"}
#: Parameters of a function that are no options.
_CASE_AND_TRACE = 2
_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


class LoadedJudge:
    """A judge of the user's, which another process can load again."""

    def __init__(self, inner: Any, protocol: str, settings: tuple[Any, ...], source: str) -> None:
        self._inner, self._protocol, self._settings = inner, protocol, settings
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._inner, name)

    @property
    def runs(self) -> Runs:
        """What it says, except that only our own judges are trusted to keep their bounds."""
        kind = get_runs(self._inner)
        return _DOUBTED.get(kind, kind)

    @property
    def fingerprint(self) -> str:
        config, options, _ = self._settings
        return digest([self._protocol.rpartition("/")[2], self._source, safe_repr(config), options])

    def __reduce__(self) -> tuple[object, ...]:
        return (_again, (self._protocol, self._settings, self._source))


def _again(protocol: str, settings: tuple[Any, ...], source: str) -> Any:
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
    """The judge of that name, made with `config` (AgentJet's kind) or `options` (all others)."""
    protocol = AGENTJET_NAMES.get(protocol, protocol)
    name, options = _choose_way(protocol, options or {})
    where, arrow, attribute = name.partition("->")
    if not arrow or not where or not attribute:
        hint = suggest_known(protocol, BUILT_IN)
        message = "expected package.module->Name, file.py->Name or the name of a built-in one"
        raise ConfigError(f"{protocol!r} is no judge: {message}; {hint}")
    ajet_alias.install()
    folders = (*folders, str(Path.cwd()))
    options = _anchored(options, folders, protocol in BUILT_IN)
    with redirect_stdout(sys.stderr):  # what a module prints while loading is no result of ours
        module = (
            load_file_module(where, folders)
            if where.endswith(".py")
            else import_named_module(where, folders)
        )
        made = _watched(get_attribute(module, attribute, protocol), protocol, config, options)
    if isinstance(made, BuiltInJudge):
        return made.core
    if protocol in BUILT_IN:
        return made
    settings = (config, dict(options), tuple(folders))
    place = module.__file__ if where.endswith(".py") else where
    return LoadedJudge(made, f"{place}->{attribute}", settings, digest_source(module))


def _choose_way(protocol: str, options: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The full name of a judge by its option `by`, and its other options.

    Without `by`, a dimension that is given a model is judged by it.
    """
    if protocol not in BY_MODEL:
        return BUILT_IN.get(protocol, protocol), options
    own = {key: value for key, value in options.items() if key != "by"}
    way = options.get("by", "model" if "model" in own else "rules")
    if way not in WAYS:
        raise ConfigError(f"expected rules, local or model, got {way!r}", field="with.by")
    if protocol not in WAYS[way]:
        known = ", ".join(sorted(WAYS[way]))
        raise ConfigError(
            f"{protocol} is not judged by a local model; {known} are", field="with.by"
        )
    if way != "rules" and "model" not in own:
        what = "a folder or hub id" if way == "local" else "a model such as openai:gpt-4o-mini"
        raise ConfigError(f"by: {way} needs {what}", field="with.model")
    if way == "rules" and "model" in own:
        raise ConfigError("by: rules asks no model; leave one of them out", field="with.model")
    return WAYS[way][protocol], own


def _anchored(
    options: Mapping[str, Any], folders: Sequence[str], built_in: bool
) -> Mapping[str, Any]:
    """A folder of prompts and a file of weights lie beside the file that names them."""
    found = dict(options)
    for option in ("prompt_folder", "weights") if built_in else ("prompt_folder",):
        named = options.get(option)
        if isinstance(named, str):
            tried = (Path(folder, named).resolve() for folder in folders)
            found[option] = next((str(path) for path in tried if path.exists()), named)
    return found


def get_attribute(module: ModuleType, attribute: str, protocol: str) -> Any:
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            known = [word for word in vars(module) if not word.startswith("_")]
            message = (
                f"{protocol!r}: there is no {attribute} in it; {suggest_known(attribute, known)}"
            )
            raise ConfigError(message)
        found = getattr(found, part)
    return found


def _watched(found: Any, protocol: str, config: Any, options: Mapping[str, Any]) -> Any:
    """A judge that asks a model takes `canaries` beside its own options."""
    if "canaries" not in options or not _asks_a_model(found):
        return _made(found, protocol, config, options)
    from fourscore.judges.llm.canaries import CanaryJudge

    own = {name: value for name, value in options.items() if name != "canaries"}
    made, share = _made(found, protocol, config, own), options["canaries"]
    return CanaryJudge(made, share) if share != 0 else made


def _asks_a_model(found: Any) -> bool:
    kinds = found.__mro__ if isinstance(found, type) else ()
    return any(kind.__module__.startswith("fourscore.judges.llm.") for kind in kinds)


def _made(found: Any, protocol: str, config: Any, options: Mapping[str, Any]) -> Any:
    """A judge out of whatever stands under the name."""
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
        message = f"{protocol!r} could not be made: {type(error).__name__}: {error}"
        raise ConfigError(message) from error
    raise ConfigError(f"{protocol!r} is neither a judge class nor a function")


def _check_options(maker: Any, options: Mapping[str, Any], taken: int = 0) -> None:
    """Refuse, by its name, an option that nobody reads; the first `taken` parameters are none."""
    try:
        parameters = list(inspect.signature(maker).parameters.values())[taken:]
    except (TypeError, ValueError):  # compiled: calling it will tell
        return
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [parameter.name for parameter in parameters if parameter.kind in _NAMED]
    for name in options:
        if name not in known:
            hint = suggest_known(name, known) if known else "the judge takes no options"
            raise ConfigError(f"unknown option; {hint}", field=f"judge_options.{name}")


class _AsItStands(SourceFileLoader):
    """Without compiled files: they are told from their source by the second and the size only."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(self.get_data(self.path), self.path)


def load_file_module(where: str, folders: Sequence[str]) -> ModuleType:
    """A module of its own for each file: two of the same name do not meet."""
    tried = [(Path(folder) / where).resolve() for folder in folders]
    path = next((path for path in tried if path.is_file()), None)
    if path is None:
        places = " or ".join(str(path) for path in dict.fromkeys(tried))
        raise ConfigError(f"no such file: {places}")
    source = path.read_bytes()
    identity = hashlib.blake2b(bytes(path) + b"\0" + source, digest_size=8).hexdigest()
    name = f"{path.stem}_{identity}"
    if name in sys.modules:
        return sys.modules[name]
    own = _AsItStands(name, str(path)) if path.suffix == ".py" else None
    spec = importlib.util.spec_from_file_location(name, path, loader=own)
    if spec is None or spec.loader is None:
        raise ConfigError("not a Python file", file=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception | SystemExit):
            raise _unusable(error, str(path)) from error
        raise
    return module


def import_named_module(where: str, folders: Sequence[str]) -> ModuleType:
    """An importable module; the folders come after what is installed."""
    local = _local(where, folders)
    if local is not None and local[0] not in sys.path:
        sys.path.append(local[0])
        importlib.invalidate_caches()
    try:
        module = importlib.import_module(where)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if not (where == missing or where.startswith(f"{missing}.")):
            raise _unusable(error, where) from error
        if where in TUTORIALS:
            return importlib.import_module(TUTORIALS[where])
        searched = ", ".join(dict.fromkeys(folders))
        raise ConfigError(f"there is no module {where} (searched {searched})") from None
    except (Exception, SystemExit) as error:
        raise _unusable(error, where) from error
    if local is not None and Path(module.__file__ or "").resolve() != local[1]:
        message = f"{where} is {module.__file__}, not {local[1]}; name the file: {local[1]}->…"
        raise ConfigError(message)
    return module


def _local(where: str, folders: Sequence[str]) -> tuple[str, Path] | None:
    """The folder that holds the module, and its file."""
    for folder in folders:
        stem = Path(folder, *where.split("."))
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file():
                return str(Path(folder).resolve()), path.resolve()
    return None


def _unusable(error: BaseException, where: str) -> ConfigError:
    """What is wrong with a user's module, at the last line of theirs that ran."""
    file, line = where, None
    if isinstance(error, SyntaxError):
        file, line = error.filename or where, error.lineno
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if not frame.filename.startswith("<") and frame.filename != __file__:
                file, line = frame.filename, frame.lineno
    message = f"it cannot be loaded: {type(error).__name__}: {error}"
    return ConfigError(message, file=file, line=line)


def digest_source(module: ModuleType) -> str:
    path = Path(module.__file__ or "")
    source = path.read_bytes() if path.is_file() else module.__name__.encode()
    return hashlib.blake2b(source, digest_size=16).hexdigest()
