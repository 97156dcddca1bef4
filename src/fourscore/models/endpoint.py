"""One POST to an endpoint: connections that are kept, a time limit, a bound on the answer's size,
and every way to fail as a `ModelError`.

Errors name the address without its query. None keeps the one that caused it: those of the HTTP
library hold the request, and the request holds the key.
"""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar
from urllib.parse import parse_qsl, urlsplit

import msgspec
from msgspec.structs import asdict

from fourscore.core import ConfigError, Usage
from fourscore.core.frozen import freeze
from fourscore.models.api_keys import ApiKey, find_key
from fourscore.models.deadlines import Deadline, Deadlines
from fourscore.models.http_client import HttpClient, HttpError, HttpResponse, ReplyTooLongError
from fourscore.models.messages import ErrorKind, ModelError
from fourscore.models.per_loop import PerLoop
from fourscore.models.verdict import STRICT

#: How much of an endpoint's words an error repeats, and how much is read to learn what it means.
QUOTED, READ = 300, 4000
#: Seconds until a host that does not answer at all is given up.
CONNECT = 15.0
#: One call that gave nothing and cost nothing.
TRIED = Usage(calls=1)
#: Codes of a 400 by which an endpoint refuses what the text says, not how it was asked.
REFUSALS = frozenset({"content_filter", "content_policy_violation", "data_inspection_failed"})
#: What the name of a secret in an address has in it.
SECRETS = ("key", "token", "secret", "password", "sig")

Form = TypeVar("Form")


class StatusError(ModelError):
    """An answer other than 2xx; `said` has what the endpoint wrote, in lower case."""

    said: str = ""


class _Pool:
    def __init__(self, client: HttpClient, key: ApiKey, deadlines: Deadlines) -> None:
        self.client, self.key, self.deadlines = client, key, deadlines
        self.guard, self.begun = _closing(client), False


async def _closing(client: HttpClient) -> AsyncGenerator[None, None]:
    """`asyncio.run` ends the generators of its loop, and this one connections: nobody has to."""
    try:
        yield
    finally:
        await client.close()


class Endpoint:
    """Posts to one address. `headers` makes the headers from the key, once for each pool."""

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        key: Callable[[], ApiKey],
        headers: Callable[[ApiKey], Mapping[str, str]],
    ) -> None:
        self.shown = shown_url(url)
        self._url, self._timeout = url, timeout
        self._key, self._headers = key, headers
        self._pools: PerLoop[_Pool] = PerLoop(self._open)

    def _open(self) -> _Pool:
        key = self._key()
        client = HttpClient(self._url, self._headers(key), connect_timeout=CONNECT)
        return _Pool(client, key, Deadlines(self._timeout))

    async def close(self) -> None:
        """Close the running loop's connections; the next call opens new ones."""
        pool = self._pools.drop()
        if pool is not None:
            await pool.guard.aclose()
            await pool.client.close()

    async def post(self, body: bytes) -> bytes:
        pool = self._pools.get()
        if pool.client.closed:  # by the end of an earlier `run` of the same loop
            self._pools.drop()
            pool = self._pools.get()
        if not pool.begun:
            pool.begun = True
            await anext(pool.guard)  # up to its yield: from here on the loop knows of it
        try:
            with Deadline(pool.deadlines):
                answer = await pool.client.post(body)
            if 200 <= answer.status < 300:
                return pool.key.hide_in(answer.body)
            failure = self._refused(answer, pool.key)
        except TimeoutError:
            failure = self._failure("timeout", f"no answer within {self._timeout:g} s")
        except ReplyTooLongError as error:
            failure = self._failure("malformed", str(error))
        except HttpError as error:
            words = pool.key.hide(str(error))
            tried = None if error.connected else TRIED
            failure = self._failure("connection", words, tried, False if error.permanent else None)
        raise failure

    def decoded(self, answer: bytes, form: type[Form]) -> Form:
        """The answer as the form it should have. Half of an emoji stops the fast decoder only."""
        try:
            return msgspec.json.decode(answer, type=form)
        except (msgspec.DecodeError, RecursionError):
            pass
        try:
            plain = msgspec.json.encode(freeze(STRICT.decode(answer.decode())))
            return msgspec.json.decode(plain, type=form)
        except (ValueError, RecursionError):
            words = answer[:QUOTED].decode(errors="replace").strip()
        raise self._failure("malformed", f"not an answer of this API: {words!r}")

    def _failure(
        self, kind: ErrorKind, words: str, usage: Usage | None = None, transient: bool | None = None
    ) -> ModelError:
        return ModelError(kind, f"{self.shown}: {words}", usage=usage, transient=transient)

    def _refused(self, answer: HttpResponse, key: ApiKey) -> ModelError:
        status = answer.status
        said, code = _words(answer.body)
        said = key.hide(said)  # some repeat the key that they refuse
        kind: ErrorKind = "bad_request"
        transient = None
        if status == 429:
            kind = "rate_limited"
            transient = "quota" not in code  # an empty account stays empty
        elif status >= 500 or status in (408, 425):
            kind = "server"
        elif REFUSALS & set(code.split()):
            kind = "refused"
        error = StatusError(
            kind,
            f"{self.shown}: it answered {status}: {said[:QUOTED].strip()}",
            status=status,
            retry_after=retry_after(answer),
            usage=TRIED,
            transient=transient,
        )
        error.said = said.lower()
        return error


class EndpointModel:
    """One model at one endpoint; a subclass knows how it is spoken to."""

    #: The variable in which a key stands where none is named.
    usual_key: ClassVar[str]
    name: str
    settings: Any
    _endpoint: Endpoint

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._endpoint.shown})"

    def __reduce__(self) -> tuple[object, ...]:
        settings = asdict(self.settings)
        return (_again, (type(self), settings.pop("model"), settings))

    def check(self) -> None:
        """`ConfigError` where no key can be found: better before a run than in every case of it."""
        self._key()

    def _key(self) -> ApiKey:
        settings = self.settings
        return find_key(
            settings.base_url,
            key_env=settings.key_env,
            key_file=settings.key_file,
            usual=self.usual_key,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._endpoint.close()


def _again(kind: Any, model: str, settings: dict[str, Any]) -> EndpointModel:
    client: EndpointModel = kind(model, **settings)
    return client


def _words(answer: bytes) -> tuple[str, str]:
    """What an error answer says, and its codes."""
    text = answer[:READ].decode(errors="replace")
    try:
        value: Any = msgspec.json.decode(answer)
    except (msgspec.DecodeError, RecursionError):
        return text, ""
    if isinstance(value, dict) and isinstance(value.get("error"), dict):
        value = value["error"]
    if not isinstance(value, dict):
        return text, ""
    codes = " ".join(str(value.get(name) or "") for name in ("code", "type")).lower()
    message = next((value[k] for k in ("message", "error", "detail") if value.get(k)), None)
    if not isinstance(message, str):
        return text, codes
    return f"{message[:READ]} {value.get('param') or ''}".strip(), codes


def retry_after(answer: HttpResponse) -> float | None:
    """Seconds to wait, as the endpoint wishes: given in milliseconds, seconds or as a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(answer.header(name)) / unit
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        wished = parsedate_to_datetime(answer.header("retry-after"))
        return max(0.0, wished.timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def shown_url(url: str) -> str:
    """The address without what may be secret in it; `ConfigError` where it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"it cannot be read: {error}", field="base_url") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("it has no host: expected http://host:port/path", field="base_url")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"


def public_url(url: str) -> str:
    """The address as it may be kept and shown; one that carries a secret is refused."""
    shown_url(url)
    parts = urlsplit(url)
    names = [name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if parts.username or parts.password or any(w in n for n in names for w in SECRETS):
        message = "it carries a secret: name a variable (key_env) or a file (key_file) instead"
        raise ConfigError(message, field="base_url")
    return url.rstrip("/")
