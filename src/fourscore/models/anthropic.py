"""Anthropic's own Messages API: the system prompt stands apart, a verdict is a forced tool call.

It has no log-probabilities and no seed; an ask for them is answered without.
"""

from typing import Any

import msgspec
from msgspec.structs import force_setattr, replace

from fourscore.core import Usage, digest
from fourscore.core.frozen import EMPTY, freeze_field
from fourscore.core.numbers import check_finite, check_whole
from fourscore.models.api_keys import ApiKey
from fourscore.models.endpoint import Endpoint, EndpointModel, StatusError, public_url
from fourscore.models.json_modes import Traits, memory
from fourscore.models.messages import NO_USAGE, ModelError, Request, Response
from fourscore.models.openai_completion import usage_of
from fourscore.models.verdict import verdict

HOME = "https://api.anthropic.com"
VERSION = "2023-06-01"
TOOL = "verdict"


class AnthropicSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom to ask and how. The API wants a limit for every reply: `max_tokens` where an ask has
    none of its own."""

    model: str
    base_url: str = HOME
    key_env: str | None = None
    key_file: str | None = None
    timeout: float = 120.0
    max_tokens: int = 4096
    extra: dict[str, Any] = EMPTY

    def __post_init__(self) -> None:
        check_finite("timeout", self.timeout, low=0)
        check_whole("max_tokens", self.max_tokens, low=1)
        force_setattr(self, "base_url", public_url(self.base_url or HOME).removesuffix("/v1"))
        force_setattr(self, "extra", freeze_field("extra", self.extra, dict))


class Anthropic(EndpointModel):
    """A client for one of Anthropic's models: `Anthropic("claude-haiku-4-5")`."""

    usual_key = "ANTHROPIC_API_KEY"
    settings: AnthropicSettings

    def __init__(self, model: str, **settings: Any) -> None:
        self.settings = AnthropicSettings(model=model, **settings)
        self.name = model
        chosen = self.settings
        parts = [model, chosen.base_url, chosen.max_tokens, chosen.extra]
        self.fingerprint = digest(["anthropic", *parts])
        self._endpoint = Endpoint(
            f"{self.settings.base_url}/v1/messages",
            timeout=self.settings.timeout,
            key=self._key,
            headers=_headers,
        )

    async def ask(self, request: Request) -> Response:
        known = memory(self._endpoint.shown, self.name)
        traits, spent = known.traits, NO_USAGE
        while True:
            body = self._body(request, traits)
            try:
                answer = await self._endpoint.post(msgspec.json.encode(body))
                message = self._endpoint.decoded(answer, _Message)
            except ModelError as error:
                if error.usage is not None:
                    error.usage = spent = spent + error.usage
                lower = _without_temperature(request, traits, error)
                if lower is None:
                    raise
                traits = lower
                continue
            known.worked(replace(request, schema=None), traits)
            return self._reply(request, message, spent + _usage(message.usage))

    def _body(self, request: Request, traits: Traits) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [turn for turn in request.messages if turn.role != "system"],
            "max_tokens": request.max_tokens or self.settings.max_tokens,
        }
        if traits.sends(request, "temperature"):
            body["temperature"] = request.temperature
        system = [turn.content for turn in request.messages if turn.role == "system"]
        if system:
            body["system"] = "\n\n".join(system)
        if request.schema is not None:
            tool = {
                "name": TOOL,
                "description": "Give the verdict.",
                "input_schema": request.schema,
            }
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
        return body | self.settings.extra

    def _reply(self, request: Request, message: "_Message", spent: Usage) -> Response:
        finish = message.stop_reason or ""
        if finish == "refusal":
            raise ModelError("refused", f"{self.name} refused", usage=spent)
        text = "".join(block.text for block in message.content if block.type == "text")
        value = None
        if request.schema is not None:
            inputs = [bytes(b.input).decode() for b in message.content if b.type == "tool_use"]
            if len(inputs) > 1:
                raise ModelError("malformed", f"{len(inputs)} verdicts, not one", usage=spent)
            text = inputs[0] if inputs else text
            value = verdict(text, request.schema, truncated=finish == "max_tokens", usage=spent)
        return Response(
            text=text,
            value=value,
            usage=spent,
            model=message.model or self.name,
            finish=finish,
        )


def _without_temperature(request: Request, traits: Traits, error: ModelError) -> Traits | None:
    """The newest models take no temperature. There is but one way to a verdict."""
    named = isinstance(error, StatusError) and error.status == 400 and "temperature" in error.said
    if not named or not traits.sends(request, "temperature"):
        return None
    return replace(traits, without=traits.without | {"temperature"})


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _Message(msgspec.Struct):
    content: list[_Block]
    stop_reason: str | None = None
    model: str | None = None
    usage: Any = None


#: Tokens read from or put into the prompt cache are input as well.
INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _usage(said: Any) -> Usage:
    return usage_of(said, INPUT, ("output_tokens",))


def _headers(key: ApiKey) -> dict[str, str]:
    headers = {"anthropic-version": VERSION}
    return headers | {"x-api-key": key.reveal()} if key.reveal() else headers
