"""A client for Anthropic's Messages API: a separate system prompt, verdicts as forced tool calls.

The API has no log-probabilities and no seed; requests for them are answered without.
"""

from typing import Any

import msgspec
from msgspec.structs import force_setattr, replace

from fourscore.core import Usage, digest
from fourscore.core.frozen import EMPTY, freeze_field
from fourscore.core.numbers import check_finite, check_whole
from fourscore.models.api_keys import ApiKey
from fourscore.models.endpoint import Endpoint, EndpointModel, StatusError, check_public_url
from fourscore.models.json_modes import RequestForm, get_memory
from fourscore.models.messages import NO_USAGE, ModelError, Request, Response
from fourscore.models.openai_completion import read_usage
from fourscore.models.verdict import NO_VERDICT, parse_verdict

DEFAULT_URL = "https://api.anthropic.com"
API_VERSION = "2023-06-01"
TOOL_NAME = "verdict"


class AnthropicSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a client. The API needs a limit for every reply: `max_tokens`, where a request
    has none of its own."""

    model: str
    base_url: str = DEFAULT_URL
    key_env: str | None = None
    key_file: str | None = None
    timeout: float = 120.0
    max_tokens: int = 4096
    extra: dict[str, Any] = EMPTY

    def __post_init__(self) -> None:
        check_finite("timeout", self.timeout, low=0)
        check_whole("max_tokens", self.max_tokens, low=1)
        force_setattr(
            self, "base_url", check_public_url(self.base_url or DEFAULT_URL).removesuffix("/v1")
        )
        force_setattr(self, "extra", freeze_field("extra", self.extra, dict))


class Anthropic(EndpointModel):
    """A client for one of Anthropic's models: `Anthropic("claude-haiku-4-5")`."""

    default_key_env = "ANTHROPIC_API_KEY"
    settings: AnthropicSettings

    def __init__(self, model: str, **settings: Any) -> None:
        self.settings = AnthropicSettings(model=model, **settings)
        self.name = model
        chosen = self.settings
        parts = [model, chosen.base_url, chosen.max_tokens, chosen.extra]
        self.fingerprint = digest(["anthropic", *parts])
        self.models_url = f"{chosen.base_url}/v1/models?limit=1000"
        self._endpoint = Endpoint(
            f"{self.settings.base_url}/v1/messages",
            timeout=self.settings.timeout,
            key=self._find_key,
            headers=_make_headers,
        )

    async def ask(self, request: Request) -> Response:
        memory = get_memory(self._endpoint.shown_url, self.name)
        form, spent = memory.form, NO_USAGE
        while True:
            body = self._make_body(request, form)
            try:
                answer = await self._endpoint.post(msgspec.json.encode(body))
                message = self._endpoint.decode(answer, _Message)
            except ModelError as error:
                if error.usage is not None:
                    error.usage = spent = spent + error.usage
                next_form = _drop_temperature(request, form, error)
                if next_form is None:
                    raise
                form = next_form
                continue
            memory.remember(replace(request, schema=None), form)
            return self._make_response(request, message, spent + _read_usage(message.usage))

    def _make_body(self, request: Request, form: RequestForm) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [each for each in request.messages if each.role != "system"],
            "max_tokens": request.max_tokens or self.settings.max_tokens,
        }
        if form.sends(request, "temperature"):
            body["temperature"] = request.temperature
        system = [each.content for each in request.messages if each.role == "system"]
        if system:
            body["system"] = "\n\n".join(system)
        if request.schema is not None:
            tool = {
                "name": TOOL_NAME,
                "description": "Give the verdict.",
                "input_schema": request.schema,
            }
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL_NAME}}
        return body | self.settings.extra

    def _make_response(self, request: Request, message: "_Message", spent: Usage) -> Response:
        finish = message.stop_reason or ""
        if finish == "refusal":
            raise ModelError("refused", f"{self.name} refused", usage=spent)
        text = "".join(block.text for block in message.content if block.type == "text")
        parsed = NO_VERDICT
        if request.schema is not None:
            inputs = [bytes(b.input).decode() for b in message.content if b.type == "tool_use"]
            if len(inputs) > 1:
                raise ModelError(
                    "malformed", f"{len(inputs)} tool calls, expected one", usage=spent
                )
            text = inputs[0] if inputs else text
            parsed = parse_verdict(
                text,
                request.schema,
                truncated=finish == "max_tokens",
                usage=spent,
                model=self.name,
            )
        return Response(
            text=text,
            value=parsed.value,
            extra_keys=parsed.extra_keys,
            usage=spent,
            model=message.model or self.name,
            finish=finish,
        )


def _drop_temperature(request: Request, form: RequestForm, error: ModelError) -> RequestForm | None:
    """Return the form without a temperature, which the newest models refuse; else None."""
    named = (
        isinstance(error, StatusError)
        and error.status == 400
        and "temperature" in error.server_text
    )
    if not named or not form.sends(request, "temperature"):
        return None
    return replace(form, without=form.without | {"temperature"})


class _Block(msgspec.Struct):
    type: str
    text: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _Message(msgspec.Struct, kw_only=True):
    content: list[_Block]
    stop_reason: str | None = None
    model: str | None = None
    usage: Any = None


#: Tokens read from or written to the prompt cache are input as well.
INPUT_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def _read_usage(reported: Any) -> Usage:
    return read_usage(reported, INPUT_TOKENS, ("output_tokens",))


def _make_headers(key: ApiKey) -> dict[str, str]:
    headers = {"anthropic-version": API_VERSION}
    return headers | {"x-api-key": key.reveal()} if key.reveal() else headers
