"""How an endpoint can be asked for JSON, found by asking it.

Of four ways the strictest that the endpoint takes is used: `json_schema`, a forced tool call,
`json_object` mode, plain text. A 400 or 422 that names what was sent moves on to the next way;
so does prose from an endpoint that has never kept to the present one, since some servers pass
over fields they do not know. Parameters that a model refuses (a temperature, a seed) are left out.

What was found is remembered in the process for each endpoint and model, and only once it has
worked: a server's complaint may quote the prompt, and the prompt quotes an agent. A schema that
one way cannot express is remembered by itself, so that other schemas keep the better way.
"""

import logging
from typing import Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from fourscore.core import digest
from fourscore.models.messages import Request

Way = Literal["json_schema", "tool", "json_object", "text"]
ORDER: tuple[Way, ...] = get_args(Way)
#: The words by which a complaint names a way.
NAMES: dict[Way, tuple[str, ...]] = {
    "json_schema": ("response_format", "json_schema", "schema", "structured output", "grammar"),
    "tool": ("tool", "function"),
    "json_object": ("response_format", "json_object", "json mode", "json_mode"),
    "text": (),
}
OPTIONAL = ("temperature", "seed", "logprobs")
LOG = logging.getLogger("fourscore.models")


class Traits(msgspec.Struct, frozen=True):
    """How to ask: the way to JSON, parameters to leave out, and the name of the token limit."""

    way: Way = "json_schema"
    without: frozenset[str] = frozenset()
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"

    def sends(self, request: Request, name: str) -> bool:
        if name in self.without:
            return False
        if name == "seed":
            return request.seed is not None
        return name == "temperature" or request.logprobs > 0

    def lower(self) -> "Traits | None":
        """The next way, if there is one."""
        at = ORDER.index(self.way) + 1
        return replace(self, way=ORDER[at]) if at < len(ORDER) else None

    def after(self, said: str, request: Request) -> "Traits | None":
        """How to ask after a complaint; None where it names nothing that can be left out."""
        if "max_completion_tokens" in said and self.limit == "max_tokens" and request.max_tokens:
            return replace(self, limit="max_completion_tokens")
        for name in OPTIONAL:
            if name in said and self.sends(request, name):
                return replace(self, without=self.without | {name})
        if request.schema is not None and any(word in said for word in NAMES[self.way]):
            return self.lower()
        return None


class Memory:
    """What is known about one endpoint and model."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.traits = Traits()
        self.proven = False
        self._apart: dict[str, Way] = {}

    def traits_for(self, request: Request) -> Traits:
        if self._apart and request.schema is not None:
            way = self._apart.get(digest(request.schema))
            if way is not None:
                return replace(self.traits, way=way)
        return self.traits

    def worked(self, request: Request, traits: Traits) -> None:
        """Remember how an ask was answered."""
        if traits == self.traits and (self.proven or request.schema is None):
            return
        dropped = traits.without - self.traits.without
        if dropped:
            LOG.warning("%s takes no %s: asked without", self.place, ", ".join(sorted(dropped)))
        way = self.traits.way
        if request.schema is not None:
            if not self.proven:
                way, self.proven = traits.way, True
            elif traits.way != way:
                self._apart[digest(request.schema)] = traits.way
        without = self.traits.without | traits.without
        limit = traits.limit if traits.limit != "max_tokens" else self.traits.limit
        self.traits = Traits(way, without, limit)


_MEMORIES: dict[tuple[str, str], Memory] = {}


def memory(endpoint: str, model: str) -> Memory:
    """The process's memory of an endpoint and model."""
    found = _MEMORIES.get((endpoint, model))
    if found is None:
        found = _MEMORIES.setdefault((endpoint, model), Memory(f"{model} at {endpoint}"))
    return found


def forget() -> None:
    """Begin anew: for tests, and for a server that was replaced by another."""
    _MEMORIES.clear()


def told(schema: dict[str, Any]) -> str:
    """The schema in words, for the ways in which only the prompt can carry it."""
    text = msgspec.json.encode(schema).decode()
    return (
        f"Answer with exactly one JSON object and nothing else. It fits this JSON Schema:\n{text}"
    )
