"""Probes: is an endpoint there, before a command begins? No call of a model is made.

The endpoint of a model is asked for its list of models (`GET /models`), which also shows a wrong
key or a misspelt model. An agent or a service of unknown paths is only connected to, through TLS
where its address says so. What a probe cannot know it does not refuse: an endpoint without a list
passes, and so does one whose list is cut.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, runtime_checkable
from urllib.parse import urlsplit

import msgspec

from fourscore.core import ConfigError
from fourscore.core.errors import find_close_word
from fourscore.models.http_client import (
    HttpClient,
    HttpError,
    HttpResponse,
    ReplyTooLongError,
)

#: Seconds in which an endpoint has to answer a probe.
PROBE_TIMEOUT = 5.0
#: Seconds until the second and last try.
PAUSE = 1.0
#: A gateway or a proxy says that nobody is behind it.
GATEWAY_STATUSES = frozenset({502, 503, 504})
#: Hosts that list models which are not the names of a user's deployments.
UNRELATED_LISTS = (".azure.com", ".azure.us", ".azure.cn")
#: Listed models that an error message is chosen from, and that it shows.
MAX_COMPARED, MAX_SHOWN = 2000, 8


@runtime_checkable
class Probed(Protocol):
    """An agent, a judge or a client with an address of its own."""

    async def probe_endpoint(self) -> None:
        """Raise a `ConfigError` where the address cannot be reached."""


async def probe_all(endpoints: Sequence[Probed]) -> None:
    """Probe all endpoints at once; one `ConfigError` for all that fail."""
    found = await asyncio.gather(
        *(one.probe_endpoint() for one in endpoints), return_exceptions=True
    )
    errors = [error for error in found if error is not None]
    for error in errors:
        if not isinstance(error, ConfigError):
            raise error
    if errors:
        raise ConfigError("; ".join(dict.fromkeys(map(str, errors))))


async def probe_connection(url: str, shown_url: str) -> None:
    """Connect to an address and close the connection."""

    async def connect(client: HttpClient) -> None:
        await client.connect()

    await _try_twice(url, {}, shown_url, connect)


async def probe_models(
    url: str, headers: dict[str, str], *, shown_url: str, model: str, hide: Callable[[str], str]
) -> None:
    """Refuse a model that the endpoint does not list, or a key that it does not take."""

    async def fetch(client: HttpClient) -> HttpResponse | None:
        try:
            return await client.get()
        except ReplyTooLongError:
            return None

    answer = await _try_twice(url, headers, shown_url, fetch, hide)
    if answer is None:
        return
    if answer.status == 401:
        words = hide(answer.body[:200].decode(errors="replace")).strip()
        raise ConfigError(f"{shown_url} refuses the key: it answered 401: {words}")
    if answer.status != 200 or _is_unrelated(url):
        return
    names = _read_names(answer.body)
    if names and not any(_is_same_model(model, name) for name in names):
        raise ConfigError(f"{shown_url} has no model {model!r}: {_suggest(model, names)}")


async def _try_twice(
    url: str,
    headers: dict[str, str],
    shown_url: str,
    ask: Callable[[HttpClient], Awaitable[Any]],
    hide: Callable[[str], str] = str,
) -> Any:
    for is_last in (False, True):
        try:
            return await _ask_once(url, headers, ask)
        except HttpError as error:
            if is_last or error.permanent:
                message = f"{shown_url} cannot be reached: {hide(str(error))}"
                raise ConfigError(f"{message} (--no-probe leaves this check out)") from None
        await asyncio.sleep(PAUSE)
    raise AssertionError("the last try returns or raises")  # pragma: no cover


async def _ask_once(
    url: str, headers: dict[str, str], ask: Callable[[HttpClient], Awaitable[Any]]
) -> Any:
    client = HttpClient(url, headers, connect_timeout=PROBE_TIMEOUT)
    try:
        async with asyncio.timeout(PROBE_TIMEOUT):
            answer = await ask(client)
    except TimeoutError:
        raise HttpError(f"no answer within {PROBE_TIMEOUT:g} s") from None
    finally:
        await client.close()
    if isinstance(answer, HttpResponse) and answer.status in GATEWAY_STATUSES:
        raise HttpError(f"it answered {answer.status}")
    return answer


class _Listed(msgspec.Struct):
    id: str


class _List(msgspec.Struct):
    data: list[_Listed]
    has_more: bool = False


def _read_names(body: bytes) -> list[str]:
    """Return the listed models; an empty list where there is none, or only a part of one."""
    try:
        found = msgspec.json.decode(body, type=_List)
    except (msgspec.DecodeError, RecursionError):
        return []
    return [] if found.has_more else [one.id for one in found.data]


def _is_same_model(model: str, listed: str) -> bool:
    """Whether a listed name stands for the model: itself, its dated or tagged form, a wildcard.

    `claude-haiku-4-5` is listed as `claude-haiku-4-5-20251001`, `llama3` as `llama3:latest`, and
    `gpt-4o:online` as `gpt-4o`.
    """
    asked, known = model.casefold().removesuffix("-latest"), listed.casefold()
    return known.startswith(asked) or asked.partition(":")[0] == known or known.endswith("*")


def _is_unrelated(url: str) -> bool:
    return (urlsplit(url).hostname or "").endswith(UNRELATED_LISTS)


def _suggest(model: str, names: list[str]) -> str:
    shown = [name[:80] for name in names[:MAX_COMPARED]]
    if close := find_close_word(model[:80], shown):
        return f"did you mean {close}?"
    more = ", …" if len(names) > MAX_SHOWN else ""
    return f"known: {', '.join(sorted(shown)[:MAX_SHOWN])}{more}"
