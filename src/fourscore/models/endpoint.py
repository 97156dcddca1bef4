"""POST to the endpoint of a model: connections per event loop, a deadline, and `ModelError`s.

Errors name the address without its query, and keep no cause: an error of the HTTP library holds the
request, and the request holds the key.
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
from fourscore.models.probe import probe_models
from fourscore.models.verdict import STRICT_DECODER

#: Characters of a reply that an error message quotes, and that are searched for its meaning.
MAX_QUOTED, MAX_SEARCHED = 300, 4000
#: Seconds to wait for a connection.
CONNECT_TIMEOUT = 15.0
#: One call without tokens.
ONE_CALL = Usage(calls=1)
#: Codes of a status 400 that refuse the content of the prompt, not the form of the request.
REFUSAL_CODES = frozenset({"content_filter", "content_policy_violation", "data_inspection_failed"})
#: Parts of the names of query parameters that are secret.
SECRET_NAMES = ("key", "token", "secret", "password", "sig")

Form = TypeVar("Form")


class StatusError(ModelError):
    """A status other than 2xx; `server_text` is what the endpoint wrote, in lower case."""

    server_text: str = ""


class _Connections:
    """The HTTP client of one event loop, with the key it was made with."""

    def __init__(self, client: HttpClient, key: ApiKey, deadlines: Deadlines) -> None:
        self.client, self.key, self.deadlines = client, key, deadlines
        self.guard, self.is_guarded = _close_with_loop(client), False


async def _close_with_loop(client: HttpClient) -> AsyncGenerator[None, None]:
    """Close the client when `asyncio.run` ends the generators of its loop."""
    try:
        yield
    finally:
        await client.close()


class Endpoint:
    """Posts to one address; `headers` makes the headers from the key, once for each event loop."""

    def __init__(
        self,
        url: str,
        *,
        timeout: float,
        key: Callable[[], ApiKey],
        headers: Callable[[ApiKey], Mapping[str, str]],
    ) -> None:
        self.shown_url = shorten_url(url)
        self._url, self._timeout = url, timeout
        self._make_key, self._make_headers = key, headers
        self._per_loop: PerLoop[_Connections] = PerLoop(self._open)

    def _open(self) -> _Connections:
        key = self._make_key()
        client = HttpClient(self._url, self._make_headers(key), connect_timeout=CONNECT_TIMEOUT)
        return _Connections(client, key, Deadlines(self._timeout))

    def check(self) -> None:
        """Raise a `ConfigError` where the address cannot be used, or not through its proxy."""
        HttpClient(self._url)

    async def probe(self, models_url: str, model: str) -> None:
        """Ask for the list of models, over a connection of its own; see `probe_models`."""
        key = self._make_key()
        shown_url = shorten_url(models_url)
        headers = dict(self._make_headers(key))
        await probe_models(models_url, headers, shown_url=shown_url, model=model, hide=key.hide)

    async def close(self) -> None:
        """Close the connections of the running loop; the next call opens new ones."""
        connections = self._per_loop.drop()
        if connections is not None:
            await connections.guard.aclose()
            await connections.client.close()

    async def post(self, body: bytes) -> bytes:
        """Return the body of a reply with a 2xx status; `ModelError` for everything else."""
        connections = self._per_loop.get()
        if connections.client.closed:  # by an earlier `run` of the same loop
            self._per_loop.drop()
            connections = self._per_loop.get()
        if not connections.is_guarded:
            connections.is_guarded = True
            await anext(connections.guard)  # up to its yield: from here on the loop knows it
        try:
            with Deadline(connections.deadlines):
                answer = await connections.client.post(body)
            if 200 <= answer.status < 300:
                return connections.key.hide_in(answer.body)
            failure = self._make_status_error(answer, connections.key)
        except TimeoutError:
            failure = self._make_error("timeout", f"no answer within {self._timeout:g} s")
        except ReplyTooLongError as error:
            failure = self._make_error("malformed", str(error))
        except HttpError as error:
            words = connections.key.hide(str(error))
            transient = False if error.permanent else None
            if error.connected:
                failure = self._make_error("connection", words, None, transient)
            else:
                failure = self._make_error("unreachable", words, ONE_CALL, transient)
        raise failure

    def decode(self, answer: bytes, form: type[Form]) -> Form:
        """Decode a reply. Half of a surrogate pair stops the fast decoder, but not the slow one."""
        try:
            return msgspec.json.decode(answer, type=form)
        except (msgspec.DecodeError, RecursionError):
            pass
        try:
            plain = msgspec.json.encode(freeze(STRICT_DECODER.decode(answer.decode())))
            return msgspec.json.decode(plain, type=form)
        except (ValueError, RecursionError):
            words = answer[:MAX_QUOTED].decode(errors="replace").strip()
        raise self._make_error("malformed", f"the reply has not the form of this API: {words!r}")

    def _make_error(
        self, kind: ErrorKind, words: str, usage: Usage | None = None, transient: bool | None = None
    ) -> ModelError:
        return ModelError(kind, f"{self.shown_url}: {words}", usage=usage, transient=transient)

    def _make_status_error(self, answer: HttpResponse, key: ApiKey) -> ModelError:
        status = answer.status
        text, code = _read_error(answer.body)
        text = key.hide(text)  # some endpoints repeat the key that they refuse
        kind: ErrorKind = "bad_request"
        transient = None
        if status == 429:
            kind = "rate_limited"
            transient = "quota" not in code  # retrying does not fill an empty account
        elif status >= 500 or status in (408, 425):
            kind = "server"
        elif REFUSAL_CODES & set(code.split()):
            kind = "refused"
        error = StatusError(
            kind,
            f"{self.shown_url}: it answered {status}: {text[:MAX_QUOTED].strip()}",
            status=status,
            retry_after=read_retry_after(answer),
            usage=ONE_CALL,
            transient=transient,
        )
        error.server_text = text.lower()
        return error


class EndpointModel:
    """A client of one model at one endpoint; a subclass knows the API.

    It pickles as its settings, without the key, which is read again where it is used.
    """

    #: The environment variable of the key where the settings name none.
    default_key_env: ClassVar[str]
    name: str
    #: The address of the endpoint's list of models.
    models_url: str
    settings: Any
    _endpoint: Endpoint

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._endpoint.shown_url})"

    def __reduce__(self) -> tuple[object, ...]:
        settings = asdict(self.settings)
        return (_rebuild, (type(self), settings.pop("model"), settings))

    def check(self) -> None:
        """Raise a `ConfigError` for a missing key or an unusable proxy, before the first case."""
        self._find_key()
        self._endpoint.check()

    async def probe_endpoint(self) -> None:
        """Raise a `ConfigError` for an endpoint that is not there, or does not list the model."""
        await self._endpoint.probe(self.models_url, self.name)

    def _find_key(self) -> ApiKey:
        settings = self.settings
        return find_key(
            settings.base_url,
            key_env=settings.key_env,
            key_file=settings.key_file,
            default_env=self.default_key_env,
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


def _rebuild(kind: Any, model: str, settings: dict[str, Any]) -> EndpointModel:
    client: EndpointModel = kind(model, **settings)
    return client


def _read_error(answer: bytes) -> tuple[str, str]:
    """Return the message and the codes of an error reply."""
    text = answer[:MAX_SEARCHED].decode(errors="replace")
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
    return f"{message[:MAX_SEARCHED]} {value.get('param') or ''}".strip(), codes


def read_retry_after(answer: HttpResponse) -> float | None:
    """Return the seconds to wait that the endpoint asks for, in any of the usual headers."""
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


def shorten_url(url: str) -> str:
    """Return an address without its query and user; `ConfigError` where it is no address."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"not a URL: {error}", field="base_url") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError("expected http://host:port/path", field="base_url")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"


def check_public_url(url: str) -> str:
    """Return an address that may be stored and shown; `ConfigError` where it carries a secret."""
    shorten_url(url)
    parts = urlsplit(url)
    names = [name.lower() for name, _ in parse_qsl(parts.query, keep_blank_values=True)]
    if parts.username or parts.password or any(w in n for n in names for w in SECRET_NAMES):
        message = (
            "the address carries a secret: name a variable (key_env) or a file (key_file) instead"
        )
        raise ConfigError(message, field="base_url")
    return url.rstrip("/")
