"""How an endpoint is asked for JSON: the strictest mode that it accepts, found by trying.

The modes are `json_schema`, a forced tool call, `json_object` and plain text. A status 400 or 422
that names what was sent moves on to the next mode; so does prose from an endpoint that has never
followed the present mode, since some servers ignore fields that they do not know. Parameters that a
model refuses (a temperature, a seed) are left out.

What was found is remembered in the process for each endpoint and model, and only once it has
worked: an error message may quote the prompt, and the prompt quotes an agent. A schema that one
mode cannot express is remembered by itself, so that other schemas keep the stricter mode.
"""

import logging
from typing import Any, Literal, get_args

import msgspec
from msgspec.structs import replace

from fourscore.core import digest
from fourscore.models.messages import Request

JsonMode = Literal["json_schema", "tool", "json_object", "text"]
MODES: tuple[JsonMode, ...] = get_args(JsonMode)
#: Words by which an error message names a mode.
MODE_WORDS: dict[JsonMode, tuple[str, ...]] = {
    "json_schema": ("response_format", "json_schema", "schema", "structured output", "grammar"),
    "tool": ("tool", "function"),
    "json_object": ("response_format", "json_object", "json mode", "json_mode"),
    "text": (),
}
OPTIONAL_PARAMETERS = ("temperature", "seed", "logprobs")
LOG = logging.getLogger("fourscore.models")


class RequestForm(msgspec.Struct, frozen=True):
    """How to ask an endpoint: JSON mode, parameters to leave out, name of the token limit."""

    json_mode: JsonMode = "json_schema"
    without: frozenset[str] = frozenset()
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"

    def sends(self, request: Request, name: str) -> bool:
        if name in self.without:
            return False
        if name == "seed":
            return request.seed is not None
        return name == "temperature" or request.logprobs > 0

    def next_mode(self) -> "RequestForm | None":
        """Return the form with the next mode; None after the last."""
        at = MODES.index(self.json_mode) + 1
        return replace(self, json_mode=MODES[at]) if at < len(MODES) else None

    def after_error(self, text: str, request: Request) -> "RequestForm | None":
        """Return the form to use after an error message; None where it names nothing to change."""
        if "max_completion_tokens" in text and self.limit == "max_tokens" and request.max_tokens:
            return replace(self, limit="max_completion_tokens")
        for name in OPTIONAL_PARAMETERS:
            if name in text and self.sends(request, name):
                return replace(self, without=self.without | {name})
        if request.schema is not None and any(word in text for word in MODE_WORDS[self.json_mode]):
            return self.next_mode()
        return None


class EndpointMemory:
    """The form that works for one endpoint and model."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.form = RequestForm()
        self.is_proven = False
        self._by_schema: dict[str, JsonMode] = {}

    def get_form(self, request: Request) -> RequestForm:
        if self._by_schema and request.schema is not None:
            mode = self._by_schema.get(digest(request.schema))
            if mode is not None:
                return replace(self.form, json_mode=mode)
        return self.form

    def remember(self, request: Request, form: RequestForm) -> None:
        """Remember the form that a request was answered with."""
        if form == self.form and (self.is_proven or request.schema is None):
            return
        dropped = form.without - self.form.without
        if dropped:
            LOG.warning("%s accepts no %s: it is left out", self.place, ", ".join(sorted(dropped)))
        mode = self.form.json_mode
        if request.schema is not None:
            if not self.is_proven:
                mode, self.is_proven = form.json_mode, True
            elif form.json_mode != mode:
                self._by_schema[digest(request.schema)] = form.json_mode
        without = self.form.without | form.without
        limit = form.limit if form.limit != "max_tokens" else self.form.limit
        self.form = RequestForm(mode, without, limit)


_MEMORIES: dict[tuple[str, str], EndpointMemory] = {}


def get_memory(endpoint: str, model: str) -> EndpointMemory:
    """Return what this process knows about an endpoint and model."""
    found = _MEMORIES.get((endpoint, model))
    if found is None:
        found = _MEMORIES.setdefault((endpoint, model), EndpointMemory(f"{model} at {endpoint}"))
    return found


def forget_endpoints() -> None:
    """Forget all endpoints: for tests, and for a server that was replaced by another."""
    _MEMORIES.clear()


def describe_schema(schema: dict[str, Any]) -> str:
    """Return the instruction for modes in which only the prompt can carry the schema."""
    text = msgspec.json.encode(schema).decode()
    return (
        f"Answer with exactly one JSON object and nothing else. It fits this JSON Schema:\n{text}"
    )
