"""Make `import ajet` work without AgentJet: judge files written for it get Fourscore's modules.

The finder is the last one in `sys.meta_path`, so an installed AgentJet always wins.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

_ROOT, _OURS = "ajet", "fourscore"


class _AjetFinder(MetaPathFinder, Loader):
    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _ROOT:
            return ModuleSpec(fullname, self, is_package=True)
        if not fullname.startswith(f"{_ROOT}.") or not isinstance(
            getattr(sys.modules.get(_ROOT), "__loader__", None), _AjetFinder
        ):
            return None
        try:
            found = importlib.util.find_spec(_translate(fullname))
        except ModuleNotFoundError:
            return None
        package = found is not None and found.submodule_search_locations is not None
        return ModuleSpec(fullname, self, is_package=package) if found else None

    def create_module(self, _spec: ModuleSpec) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Fill the module with the public names of Fourscore's module; the objects are the same."""
        name = module.__name__
        ours = importlib.import_module(_translate(name) if name != _ROOT else f"{_OURS}.workflow")
        for public in getattr(ours, "__all__", ()):
            setattr(module, public, getattr(ours, public))


def _translate(fullname: str) -> str:
    """Return the name of Fourscore's module for a module of `ajet`."""
    return _OURS + fullname[len(_ROOT) :]


def install() -> None:
    """Make `import ajet` work from now on, unless it is installed."""
    if not any(isinstance(finder, _AjetFinder) for finder in sys.meta_path):
        sys.meta_path.append(_AjetFinder())
