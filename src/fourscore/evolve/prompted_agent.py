"""`PromptedAgents`: passes the prompt of a version to any agent of `fourscore run`.

| agent | where the prompt is |
|---|---|
| `file.py:function`, `module:function` | the argument `prompt` |
| `openai:MODEL`, `anthropic:MODEL` | the system message |
| `http://…` | the field `prompt` beside `id` and `input` |
| `shell: …` | a file: `{prompt_file}` in the command, `FOURSCORE_PROMPT_FILE` in its environment |

The text is passed unchanged: the agent fills in the placeholders.
"""

import inspect
import shlex
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fourscore.agents.agent import Agent, load_agent
from fourscore.agents.function import FunctionAgent
from fourscore.agents.http import HttpAgent
from fourscore.agents.model import ModelAgent
from fourscore.agents.replay import RecordedAgent
from fourscore.agents.shell_command import ShellAgent
from fourscore.core import ConfigError

FILE, VARIABLE, PARAMETER = "{prompt_file}", "FOURSCORE_PROMPT_FILE", "prompt"


class PromptedAgents:
    """Makes an agent for each prompt; an agent without a prompt parameter is a `ConfigError`."""

    def __init__(self, spec: str, folders: Sequence[str] = ()) -> None:
        self.spec = spec.strip()
        self.base_agent = load_agent(self.spec, folders=folders)
        if isinstance(self.base_agent, RecordedAgent):
            message = "recorded answers do not depend on a prompt: name an agent that can be run"
            raise ConfigError(message, field="agent")
        if isinstance(self.base_agent, FunctionAgent) and not takes_prompt(
            self.base_agent.function
        ):
            message = f"{self.spec} has no parameter {PARAMETER}: expected function(input, prompt)"
            raise ConfigError(message, field="agent")

    @property
    def version(self) -> str:
        """The digest of the agent's source, empty where it has none."""
        return str(getattr(self.base_agent, "version", "") or "")

    def with_prompt(self, text: str, file: Path) -> Agent:
        """Return the agent with this prompt, whose text is in `file`."""
        base_agent = self.base_agent
        if isinstance(base_agent, FunctionAgent):
            function = partial(base_agent.function, **{PARAMETER: text})
            return FunctionAgent(function, base_agent.name, version=base_agent.version)
        if isinstance(base_agent, ModelAgent):
            return ModelAgent(self.spec, system=text)
        if isinstance(base_agent, HttpAgent):
            return HttpAgent(self.spec, prompt=text)
        assert isinstance(base_agent, ShellAgent)
        return _shell(base_agent, file.resolve())


def takes_prompt(function: Callable[..., Any]) -> bool:
    """Return whether the function can be called with `prompt=` beside its first argument."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = parameters.get(PARAMETER)
    if named is not None:
        return named.kind in kinds and next(iter(parameters)) != PARAMETER
    return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())


def _shell(base_agent: ShellAgent, file: Path) -> ShellAgent:
    quoted = shlex.quote(str(file))
    command = base_agent.command.replace(FILE, quoted)
    agent = ShellAgent(f"export {VARIABLE}={quoted}\n{command}")
    agent.name = base_agent.name
    return agent
