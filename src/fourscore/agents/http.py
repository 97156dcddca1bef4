"""An agent behind HTTP: POST `{"id", "input"}`, answered by `{"output", "steps"?, "usage"?}`.

`{"prompt"}` is posted too where the agent has one. Any other reply is a failure of the agent, and
quoted in the error. No connection (refused, no such host, TLS, the proxy), and one that ends before
the first byte of a reply, are no failure of the agent: the attempt is not measured. The address may
carry a password or a key; the agent's name and its errors leave them out.
"""

import asyncio
import json
from types import TracebackType
from typing import Any, NoReturn, Self
from urllib.parse import urlsplit

import msgspec

from fourscore.agents.reply import REPLY_KEYS, AgentError, ConnectionLostError, read_reply
from fourscore.core import ConfigError, Trace
from fourscore.core.secrets import hide_in_spec, remember_spec
from fourscore.judges.environment import MAX_QUOTE
from fourscore.models.endpoint import CONNECT_TIMEOUT
from fourscore.models.http_client import HttpClient, HttpError
from fourscore.models.probe import probe_connection


class HttpAgent:
    """Connections are kept within `async with`, on that event loop; else each call opens one."""

    version = ""

    def __init__(self, url: str, prompt: str | None = None) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise ConfigError(f"the agent's address cannot be read: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError("the agent's address has no host: expected http://host:port/path")
        remember_spec(url)
        HttpClient(url)  # refuses now what it cannot reach, such as a socks proxy
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self.name = hide_in_spec(f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}")
        self._url = url
        self._prompt = {} if prompt is None else {"prompt": prompt}
        self._client: HttpClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        self._client, self._loop = self._open_client(), asyncio.get_running_loop()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002
        body = msgspec.json.encode({"id": case_id, "input": input, **self._prompt})
        if self._client is not None and self._loop is asyncio.get_running_loop():
            return await self._post(self._client, body)
        client = self._open_client()
        try:
            return await self._post(client, body)
        finally:
            await client.close()

    async def probe_endpoint(self) -> None:
        """Raise a `ConfigError` where the agent cannot be reached; it is sent no request."""
        await probe_connection(self._url, self.name)

    def _open_client(self) -> HttpClient:
        return HttpClient(self._url, connect_timeout=CONNECT_TIMEOUT)

    async def _post(self, client: HttpClient, body: bytes) -> Trace:
        try:
            answer = await client.post(body)
        except HttpError as error:
            if error.lost:
                raise ConnectionLostError(f"{self.name}: {error}") from None
            raise AgentError(f"{self.name}: {error}") from None
        return self._read_response(answer.status, answer.body)

    def _read_response(self, status: int, answer: bytes) -> Trace:
        quoted = answer[:MAX_QUOTE].decode(errors="replace").strip()
        if not 200 <= status < 300:
            raise AgentError(f"{self.name}: it answered {status}: {quoted}")
        reply = _decode(answer)
        if not isinstance(reply, dict) or REPLY_KEYS.isdisjoint(reply):
            message = "expected a JSON object with an output"
            raise AgentError(f"{self.name}: {message}, got {quoted!r}")
        return read_reply(reply)


def _decode(answer: bytes) -> Any:
    """Return the JSON value, else None; only `json` reads lone surrogates (half an emoji)."""
    try:
        return msgspec.json.decode(answer)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(answer, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
