"""An agent behind HTTP: POST `{"id", "input"}`, answered by `{"output", "steps"?, "usage"?}`.

`{"prompt"}` is posted too where the agent has one. Whatever else comes back is the agent's failure,
in its own words. The address may carry a password or a key; the agent's name and its errors leave
them out.
"""

import asyncio
import json
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self
from urllib.parse import urlsplit

import msgspec

from rubrica.core import ConfigError, Trace
from rubrica.judges.environment import MAX_ANSWER, QUOTED
from rubrica.phases.agent_reply import REPLY, AgentError, read_reply

if TYPE_CHECKING:
    import aiohttp


class HttpAgent:
    """`async with` keeps its connections for the loop it was entered in; else one for each call."""

    version = ""

    def __init__(self, url: str, prompt: str | None = None) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise ConfigError(f"the agent's address cannot be read: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError("the agent's address has no host: expected http://host:port/path")
        try:
            import aiohttp
        except ImportError:
            raise ConfigError("speaking HTTP needs aiohttp: pip install 'rubrica[http]'") from None
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        self.name = f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"
        self._url = url
        self._prompt = {} if prompt is None else {"prompt": prompt}
        self._session: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        self._session, self._loop = _session(), asyncio.get_running_loop()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def run(self, case_id: str, input: Any) -> Trace:  # noqa: A002
        body = msgspec.json.encode({"id": case_id, "input": input, **self._prompt})
        if self._session is not None and self._loop is asyncio.get_running_loop():
            return await self._asked(self._session, body)
        async with _session() as session:
            return await self._asked(session, body)

    async def _asked(self, session: "aiohttp.ClientSession", body: bytes) -> Trace:
        import aiohttp

        try:
            async with session.post(
                self._url,
                data=body,
                headers={"Content-Type": "application/json", "Accept": "application/json"},
                allow_redirects=False,
            ) as response:
                answer = bytearray()
                async for block in response.content.iter_any():
                    answer += block
                    if len(answer) > MAX_ANSWER:
                        size = f"{MAX_ANSWER >> 20} MiB"
                        raise AgentError(f"{self.name}: the answer is longer than {size}")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            words = str(error).replace(self._url, self.name)
            raise AgentError(f"{self.name}: {words or type(error).__name__}") from None
        return self._read(response.status, bytes(answer))

    def _read(self, status: int, answer: bytes) -> Trace:
        words = answer[:QUOTED].decode(errors="replace").strip()
        if not 200 <= status < 300:
            raise AgentError(f"{self.name}: it answered {status}: {words}")
        reply = _decoded(answer)
        if not isinstance(reply, dict) or REPLY.isdisjoint(reply):
            message = "expected a JSON object with an output"
            raise AgentError(f"{self.name}: {message}, got {words!r}")
        return read_reply(reply)


def _session() -> "aiohttp.ClientSession":
    import aiohttp

    return aiohttp.ClientSession(
        # The runner bounds how many attempts are under way, and the attempt has the deadline.
        connector=aiohttp.TCPConnector(limit=0),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
        cookie_jar=aiohttp.DummyCookieJar(),  # one case leaves nothing behind for the next
    )


def _decoded(answer: bytes) -> Any:
    """The JSON value, else None. Half of an emoji stops the fast decoder and not the slow one."""
    try:
        return msgspec.json.decode(answer)
    except (msgspec.DecodeError, RecursionError):
        pass
    try:
        return json.loads(answer, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")
