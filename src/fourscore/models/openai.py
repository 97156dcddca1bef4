"""Any endpoint that speaks OpenAI's chat completions: OpenAI, DashScope's compatible mode, vLLM,
SGLang, Ollama, llama.cpp.

One `ask` is one call, except while the endpoint's way to JSON is still to be found (see `ways`).
A client is its settings: it pickles as them, and the key is found anew where it is used.
"""

import os
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from fourscore.core import Usage, digest
from fourscore.core.frozen import EMPTY, freeze_field
from fourscore.core.numbers import check_finite
from fourscore.models.api_keys import ApiKey
from fourscore.models.endpoint import Endpoint, EndpointModel, StatusError, public_url
from fourscore.models.json_modes import Memory, Traits, memory, told
from fourscore.models.messages import NO_USAGE, ModelError, Request, Response
from fourscore.models.openai_completion import (
    Completion,
    arguments_of,
    text_of,
    tokens_of,
    usage_in,
)
from fourscore.models.verdict import verdict

HOME = "https://api.openai.com/v1"
TOOL = "verdict"


class OpenAISettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whom to ask and how. `extra` is added to every request as it is: `{"top_p": 0.9}`."""

    model: str
    base_url: str = ""
    key_env: str | None = None
    key_file: str | None = None
    timeout: float = 120.0
    extra: dict[str, Any] = EMPTY

    def __post_init__(self) -> None:
        check_finite("timeout", self.timeout, low=0)
        url = self.base_url or os.environ.get("FOURSCORE_BASE_URL") or HOME
        force_setattr(self, "base_url", public_url(url))
        force_setattr(self, "extra", freeze_field("extra", self.extra, dict))


class OpenAI(EndpointModel):
    """A client for one model at one endpoint: `OpenAI("gpt-4o-mini")`."""

    usual_key = "OPENAI_API_KEY"
    settings: OpenAISettings

    def __init__(self, model: str, **settings: Any) -> None:
        self.settings = OpenAISettings(model=model, **settings)
        self.name = model
        self.fingerprint = digest(["openai", model, self.settings.base_url, self.settings.extra])
        self._endpoint = Endpoint(
            _path(self.settings.base_url, "/chat/completions"),
            timeout=self.settings.timeout,
            key=self._key,
            headers=_headers,
        )

    async def ask(self, request: Request) -> Response:
        known = memory(self._endpoint.shown, self.name)
        traits: Traits | None = known.traits_for(request)
        spent = NO_USAGE
        while traits is not None:
            try:
                completion = await self._completion(request, traits)
            except ModelError as error:
                if error.usage is not None:
                    error.usage = spent = spent + error.usage
                traits = _next_after(request, traits, error)
                if traits is None:
                    raise
                continue
            spent += usage_in(completion.usage)
            try:
                reply = self._reply(request, traits, completion, spent)
            except ModelError as error:
                traits = _next_way(request, traits, known, error)
                if traits is None:
                    raise
                continue
            known.worked(request, traits)
            return reply
        raise AssertionError("the last way has no next")  # pragma: no cover

    async def _completion(self, request: Request, traits: Traits) -> Completion:
        body = _body(request, traits, self.name) | self.settings.extra
        answer = await self._endpoint.post(msgspec.json.encode(body))
        completion = self._endpoint.decoded(answer, Completion)
        if not completion.choices:
            words = str(completion.error or "it has no choices")[:300]
            raise ModelError("server", f"{self._endpoint.shown}: {words}", usage=usage_in(None))
        return completion

    def _reply(
        self, request: Request, traits: Traits, completion: Completion, spent: Usage
    ) -> Response:
        choice = completion.choices[0]
        finish = choice.finish_reason or ""
        if choice.message.refusal or finish == "content_filter":
            words = choice.message.refusal or "its content filter"
            raise ModelError("refused", f"{self.name} refused: {words[:300]}", usage=spent)
        text, value = text_of(choice.message), None
        if request.schema is not None:
            if traits.way == "tool":
                text = arguments_of(choice.message, text, spent)
            value = verdict(
                text,
                request.schema,
                prose=traits.way == "text",
                truncated=finish == "length",
                usage=spent,
            )
        return Response(
            text=text,
            value=value,
            usage=spent,
            model=completion.model or self.name,
            finish=finish,
            logprobs=tokens_of(choice.logprobs),
        )


def _next_after(request: Request, traits: Traits, error: ModelError) -> Traits | None:
    """How to ask after an error: otherwise, if it complains of how it was asked."""
    if isinstance(error, StatusError) and error.kind == "bad_request":
        return traits.after(error.said, request) if error.status in (400, 422) else None
    return None


def _next_way(request: Request, traits: Traits, known: Memory, error: ModelError) -> Traits | None:
    """Where to go after a reply that is no verdict: on, while no way has been seen to work."""
    unsure = error.kind == "malformed" and error.transient and not known.proven
    return traits.lower() if unsure and request.schema is not None else None


def _body(request: Request, traits: Traits, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": request.messages}
    if traits.sends(request, "temperature"):
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[traits.limit] = request.max_tokens
    if traits.sends(request, "seed"):
        body["seed"] = request.seed
    if traits.sends(request, "logprobs"):
        body |= {"logprobs": True, "top_logprobs": request.logprobs}
    if request.schema is None:
        return body
    if traits.way == "json_schema":
        shape = {"name": TOOL, "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    elif traits.way == "tool":
        function = {"name": TOOL, "description": "Give the verdict.", "parameters": request.schema}
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": TOOL}}
    else:
        body["messages"] = _with_schema(request)
        if traits.way == "json_object":
            body["response_format"] = {"type": "json_object"}
    return body


def _with_schema(request: Request) -> list[dict[str, str]]:
    """The schema goes into the one system message: many chat templates refuse a second."""
    turns = [{"role": turn.role, "content": turn.content} for turn in request.messages]
    words = told(request.schema or {})
    if turns[0]["role"] == "system":
        turns[0]["content"] += f"\n\n{words}"
        return turns
    return [{"role": "system", "content": words}, *turns]


def _headers(key: ApiKey) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.reveal()}"} if key.reveal() else {}


def _path(base_url: str, path: str) -> str:
    """The address with a path added before its query, if it has one."""
    before, mark, query = base_url.partition("?")
    return f"{before.rstrip('/')}{path}{mark}{query}"
