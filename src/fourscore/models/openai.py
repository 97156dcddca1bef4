"""A client for OpenAI's chat completions API, which many endpoints have: OpenAI, DashScope's
compatible mode, vLLM, SGLang, Ollama, llama.cpp.

One `ask` is one call, except until the JSON mode of the endpoint is found (see `json_modes`).
"""

import os
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from fourscore.core import Usage, digest
from fourscore.core.frozen import EMPTY, freeze_field
from fourscore.core.numbers import check_finite
from fourscore.models.api_keys import ApiKey
from fourscore.models.endpoint import Endpoint, EndpointModel, StatusError, check_public_url
from fourscore.models.json_modes import EndpointMemory, RequestForm, describe_schema, get_memory
from fourscore.models.messages import NO_USAGE, ModelError, Request, Response
from fourscore.models.openai_completion import (
    Completion,
    read_openai_usage,
    read_text,
    read_tokens,
    read_tool_arguments,
)
from fourscore.models.verdict import NO_VERDICT, parse_verdict

DEFAULT_URL = "https://api.openai.com/v1"
TOOL_NAME = "verdict"


class OpenAISettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of a client; `extra` is added to every request as it is: `{"top_p": 0.9}`."""

    model: str
    base_url: str = ""
    key_env: str | None = None
    key_file: str | None = None
    timeout: float = 120.0
    extra: dict[str, Any] = EMPTY

    def __post_init__(self) -> None:
        check_finite("timeout", self.timeout, low=0)
        url = self.base_url or os.environ.get("FOURSCORE_BASE_URL") or DEFAULT_URL
        force_setattr(self, "base_url", check_public_url(url))
        force_setattr(self, "extra", freeze_field("extra", self.extra, dict))


class OpenAI(EndpointModel):
    """A client for one model at one endpoint: `OpenAI("gpt-4o-mini")`."""

    default_key_env = "OPENAI_API_KEY"
    settings: OpenAISettings

    def __init__(self, model: str, **settings: Any) -> None:
        self.settings = OpenAISettings(model=model, **settings)
        self.name = model
        self.fingerprint = digest(["openai", model, self.settings.base_url, self.settings.extra])
        self.models_url = _add_path(self.settings.base_url, "/models")
        self._endpoint = Endpoint(
            _add_path(self.settings.base_url, "/chat/completions"),
            timeout=self.settings.timeout,
            key=self._find_key,
            headers=_make_headers,
        )

    async def ask(self, request: Request) -> Response:
        memory = get_memory(self._endpoint.shown_url, self.name)
        form: RequestForm | None = memory.get_form(request)
        spent = NO_USAGE
        while form is not None:
            try:
                completion = await self._complete(request, form)
            except ModelError as error:
                if error.usage is not None:
                    error.usage = spent = spent + error.usage
                form = _choose_form_after_error(request, form, error)
                if form is None:
                    raise
                continue
            spent += read_openai_usage(completion.usage)
            try:
                response = self._make_response(request, form, completion, spent)
            except ModelError as error:
                form = _choose_form_after_reply(request, form, memory, error)
                if form is None:
                    raise
                continue
            memory.remember(request, form)
            return response
        raise AssertionError("the last form has no next")  # pragma: no cover

    async def _complete(self, request: Request, form: RequestForm) -> Completion:
        body = _make_body(request, form, self.name) | self.settings.extra
        answer = await self._endpoint.post(msgspec.json.encode(body))
        completion = self._endpoint.decode(answer, Completion)
        if not completion.choices:
            message = str(completion.error or "the reply has no choices")[:300]
            message = f"{self._endpoint.shown_url}: {message}"
            raise ModelError("server", message, usage=read_openai_usage(None))
        return completion

    def _make_response(
        self, request: Request, form: RequestForm, completion: Completion, spent: Usage
    ) -> Response:
        choice = completion.choices[0]
        finish = choice.finish_reason or ""
        if choice.message.refusal or finish == "content_filter":
            reason = choice.message.refusal or "its content filter"
            raise ModelError("refused", f"{self.name} refused: {reason[:300]}", usage=spent)
        text, parsed = read_text(choice.message), NO_VERDICT
        if request.schema is not None:
            if form.json_mode == "tool":
                text = read_tool_arguments(choice.message, text, spent)
            parsed = parse_verdict(
                text,
                request.schema,
                prose=form.json_mode == "text",
                truncated=finish == "length",
                usage=spent,
                model=self.name,
            )
        return Response(
            text=text,
            value=parsed.value,
            extra_keys=parsed.extra_keys,
            usage=spent,
            model=completion.model or self.name,
            finish=finish,
            logprobs=read_tokens(choice.logprobs),
        )


def _choose_form_after_error(
    request: Request, form: RequestForm, error: ModelError
) -> RequestForm | None:
    """Return another form where the error names something in the request, else None."""
    if isinstance(error, StatusError) and error.kind == "bad_request":
        return form.after_error(error.server_text, request) if error.status in (400, 422) else None
    return None


def _choose_form_after_reply(
    request: Request, form: RequestForm, memory: EndpointMemory, error: ModelError
) -> RequestForm | None:
    """Return the next form after a malformed verdict, until a form has worked; else None."""
    unsure = error.kind == "malformed" and error.transient and not memory.is_proven
    if not unsure or request.schema is None:
        return None
    following = form.next_mode()
    error.transient = following is not None  # every form was tried: a retry would try them again
    return following


def _make_body(request: Request, form: RequestForm, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {"model": model, "messages": request.messages}
    if form.sends(request, "temperature"):
        body["temperature"] = request.temperature
    if request.max_tokens is not None:
        body[form.limit] = request.max_tokens
    if form.sends(request, "seed"):
        body["seed"] = request.seed
    if form.sends(request, "logprobs"):
        body |= {"logprobs": True, "top_logprobs": request.logprobs}
    if request.schema is None:
        return body
    if form.json_mode == "json_schema":
        shape = {"name": TOOL_NAME, "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": shape}
    elif form.json_mode == "tool":
        function = {
            "name": TOOL_NAME,
            "description": "Give the verdict.",
            "parameters": request.schema,
        }
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": TOOL_NAME}}
    else:
        body["messages"] = _add_schema(request)
        if form.json_mode == "json_object":
            body["response_format"] = {"type": "json_object"}
    return body


def _add_schema(request: Request) -> list[dict[str, str]]:
    """Add the schema to the only system message: many chat templates refuse a second."""
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    text = describe_schema(request.schema or {})
    if messages[0]["role"] == "system":
        messages[0]["content"] += f"\n\n{text}"
        return messages
    return [{"role": "system", "content": text}, *messages]


def _make_headers(key: ApiKey) -> dict[str, str]:
    return {"Authorization": f"Bearer {key.reveal()}"} if key.reveal() else {}


def _add_path(base_url: str, path: str) -> str:
    """Return the address with a path added before its query, if it has one."""
    before, mark, query = base_url.partition("?")
    return f"{before.rstrip('/')}{path}{mark}{query}"
