"""The options of a judge of the user's own: which there are, by its signature."""

import inspect
from collections.abc import Mapping
from inspect import Parameter
from typing import Any

from fourscore.core import ConfigError, suggest_known

_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def check_options(maker: Any, options: Mapping[str, Any], taken: int = 0) -> None:
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
