"""Import the modules of users: by dotted name, or from a file.

Importing runs code, so names come from a configuration file or the command line, never from a
request or a data row.
"""

import ast
import hashlib
import importlib
import importlib.util
import sys
import traceback
from collections.abc import Iterator, Sequence
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeGuard

from fourscore.core import ConfigError, suggest_known

#: AgentJet's modules whose judges are built in here, for where they cannot be imported.
TUTORIALS = {
    "ajet.task_judge.countdown_answer_as_judge": "fourscore.judges.agentjet",
    "ajet.task_judge.env_service_as_judge": "fourscore.judges.agentjet",
    "ajet.task_judge.math_answer_as_judge": "fourscore.judges.agentjet",
    "tutorial.example_math_agent.math_answer_as_judge": "fourscore.judges.agentjet",
    "tutorial.example_countdown.countdown_answer_as_judge": "fourscore.judges.agentjet",
}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
#: Statements around an import that may not be reached, or may do without it.
CONDITIONAL = (ast.If, ast.Try, ast.TryStar, ast.For, ast.While, ast.Match, ast.With, ast.AsyncWith)


def get_attribute(module: ModuleType, attribute: str, protocol: str) -> Any:
    """Return the object that `protocol` names in a module; its name may have dots."""
    found: Any = module
    check_inner_imports(module, attribute.partition(".")[0])
    for part in attribute.split("."):
        if not hasattr(found, part):
            known = [name for name in vars(module) if not name.startswith("_")]
            hint = suggest_known(attribute, known)
            raise ConfigError(f"{protocol!r}: the module has no {attribute}; {hint}")
        found = getattr(found, part)
    return found


def check_inner_imports(module: ModuleType, name: str) -> None:
    """Refuse a function or class that will fail at its first call: what it imports is missing.

    Looks at `name` and at what it uses of its own module, and only at imports without a condition:
    one in an `if`, a `try` or a `with` may be there in case. Nothing is imported.
    """
    path = Path(getattr(module, "__file__", None) or "")
    try:
        tree = ast.parse(path.read_bytes()) if path.suffix == ".py" else None
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    definitions = {node.name: node for node in (tree.body if tree else ()) if _is_definition(node)}
    nodes, waiting = [], [name]
    while waiting:
        found = list(_walk_unconditional(definitions.pop(waiting.pop(), None)))
        waiting += [node.id for node in found if isinstance(node, ast.Name)]
        nodes += found
    if any(isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.path" for node in nodes):
        return  # nobody knows what can be imported then
    for node in nodes:
        for needed in _list_imports(node):
            if not _is_importable(needed.partition(".")[0]):
                message = f"it imports {needed}, which is not installed"
                line = getattr(node, "lineno", None)
                raise ConfigError(message, file=str(path), line=line)


def _is_definition(node: ast.AST) -> TypeGuard[Definition]:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def _walk_unconditional(definition: ast.AST | None) -> Iterator[ast.AST]:
    """Yield the nodes of a definition, but nothing inside of a statement that may not run."""
    waiting = [] if definition is None else [definition]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, CONDITIONAL):
            waiting += ast.iter_child_nodes(node)


def _list_imports(node: ast.AST) -> list[str]:
    """Return the names of the modules that an import names, without relative ones."""
    if isinstance(node, ast.ImportFrom):
        return [node.module] if node.module and not node.level else []
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _is_importable(package: str) -> bool:
    if package in sys.modules:
        return True
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):
        return False


class _UncachedLoader(SourceFileLoader):
    """Ignores .pyc files: an edit in the same second with the same size would not be noticed."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002
        return self.source_to_code(self.get_data(self.path), self.path)


def load_file_module(where: str, folders: Sequence[str]) -> ModuleType:
    """Import a file under a module name of its own, so that files of the same name do not clash."""
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
    loader = _UncachedLoader(name, str(path)) if path.suffix == ".py" else None
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None or spec.loader is None:
        raise ConfigError("not a Python file", file=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, Exception | SystemExit):
            raise _make_import_error(error, str(path)) from error
        raise
    return module


def import_named_module(where: str, folders: Sequence[str]) -> ModuleType:
    """Import a module by its dotted name; installed modules win over those in `folders`."""
    local = _find_local(where, folders)
    if local is not None and local[0] not in sys.path:
        sys.path.append(local[0])
        importlib.invalidate_caches()
    try:
        module = importlib.import_module(where)
    except (Exception, SystemExit) as error:
        if where in TUTORIALS:  # AgentJet's own module may miss one of its many dependencies
            return importlib.import_module(TUTORIALS[where])
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and (where == missing or where.startswith(f"{missing}.")):
            searched = ", ".join(dict.fromkeys(folders))
            raise ConfigError(f"there is no module {where} (searched {searched})") from None
        raise _make_import_error(error, where) from error
    if local is not None and Path(module.__file__ or "").resolve() != local[1]:
        message = (
            f"{where} imports {module.__file__}, not {local[1]}; to use the latter, name its file: "
            f"{local[1]}->…"
        )
        raise ConfigError(message)
    return module


def _find_local(where: str, folders: Sequence[str]) -> tuple[str, Path] | None:
    """Return the folder in which a module is found and the module's file, or None."""
    for folder in folders:
        stem = Path(folder, *where.split("."))
        for path in (stem.with_suffix(".py"), stem / "__init__.py"):
            if path.is_file():
                return str(Path(folder).resolve()), path.resolve()
    return None


def _make_import_error(error: BaseException, where: str) -> ConfigError:
    """Return an error that points to the last line of the user's code that ran."""
    file, line = where, None
    if isinstance(error, SyntaxError):
        file, line = error.filename or where, error.lineno
    else:
        for frame in traceback.extract_tb(error.__traceback__):
            if not frame.filename.startswith("<") and frame.filename != __file__:
                file, line = frame.filename, frame.lineno
    message = f"the module cannot be imported: {type(error).__name__}: {error}"
    return ConfigError(message, file=file, line=line)


def digest_source(module: ModuleType) -> str:
    """Return a digest of a module's source file."""
    path = Path(module.__file__ or "")
    source = path.read_bytes() if path.is_file() else module.__name__.encode()
    return hashlib.blake2b(source, digest_size=16).hexdigest()
