"""`ajet` where AgentJet is not installed: its judge files import ours under their own names.

The finder stands last in line, so a real AgentJet always wins.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_ROOT, _OURS = "ajet", "fourscore"


class _Alias(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _ROOT:
            return ModuleSpec(fullname, self, is_package=True)
        if not fullname.startswith(f"{_ROOT}.") or not isinstance(
            getattr(sys.modules.get(_ROOT), "__loader__", None), _Alias
        ):
            return None
        try:
            found = importlib.util.find_spec(_twin(fullname))
        except ModuleNotFoundError:
            return None
        package = found is not None and found.submodule_search_locations is not None
        return ModuleSpec(fullname, self, is_package=package) if found else None

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill the stand-in with the public names of its twin; the objects are the same."""
        name = module.__name__
        twin = importlib.import_module(_twin(name) if name != _ROOT else f"{_OURS}.workflow")
        for word in getattr(twin, "__all__", ()):
            setattr(module, word, getattr(twin, word))


def _twin(fullname: str) -> str:
    return _OURS + fullname[len(_ROOT) :]


def install() -> None:
    """Make `import ajet` work from here on, if nothing else provides it."""
    if not any(isinstance(finder, _Alias) for finder in sys.meta_path):
        sys.meta_path.append(_Alias())
