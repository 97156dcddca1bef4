"""What an answer may cite: the sources of the case, and what the agent's tools brought back.

A source that only the output names is none: whoever invents one earns nothing with it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from rubrica.core import Case, Trace
from rubrica.core.trace import ToolCall
from rubrica.judges.dimensions.expected import expected_of
from rubrica.judges.dimensions.known import known

#: Sources that are read, characters of each, and of all that tools brought back.
MOST, LONGEST, MOST_TEXT = 200, 40_000, 400_000
_DEPTH = 5
#: Characters from which on an argument is text of the agent's own, and no query.
_AT_LENGTH = 40
_URLS = ("url", "link", "href", "uri", "source_url")
_TEXTS = (
    "text", "content", "snippet", "body", "raw_content", "page_content", "abstract", "summary",
    "description", "markdown",
)  # fmt: skip
_BLOCK = re.compile(r"\n\s*?\n")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\[\]{}|（）【】，。；、)]{1,2000}")
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s?#<>\"'，。；、（）\[\]]{1,200}")
_TRACKING = re.compile(r"(?:utm_\w{1,20}|fbclid|gclid|ref|spm)=")


class Source(msgspec.Struct, frozen=True, gc=False):
    """Something that can be cited. Fields that nobody gave are empty."""

    id: str = ""
    url: str = ""
    title: str = ""
    author: str = ""
    year: str = ""
    text: str = ""
    kind: str = ""
    origin: Literal["case", "tool"] = "tool"


def collect_sources(case: Case, trace: Trace) -> tuple[Source, ...]:
    """The sources of the case, then those that tools brought back, each address once."""
    return _merge(case_sources(case), _tool_sources(trace))


@lru_cache(maxsize=4096)
def canonical_url(url: str) -> str:
    """An address as it is compared: without scheme, `www.`, fragment and tracking."""
    if "10." in url and (doi := _DOI.search(url)):
        return f"doi:{doi[0].rstrip('.,;:)/').lower()}"
    place, _, query = url.strip().partition("#")[0].partition("?")
    host, _, path = (place.partition("://")[2] or place).partition("/")
    path = path.rstrip("/").removesuffix("/index.html").removesuffix("index.html")
    kept = "&".join(part for part in query.split("&") if part and not _TRACKING.match(part))
    return f"{host.lower().removeprefix('www.')}/{path}{'?' if kept else ''}{kept}"


def _merge(given: Sequence[Source], found: Iterator[Source]) -> tuple[Source, ...]:
    """Join what tools brought back from one address; the text that the case gives stands alone."""
    merged = list(given)
    places = {canonical_url(one.url): place for place, one in enumerate(given) if one.url}
    for source in found:
        key = canonical_url(source.url) if source.url else f"\n{source.title}\n{source.text}"
        place = places.setdefault(key, len(merged))
        if place == MOST:
            break
        if place == len(merged):
            merged.append(source)
        elif place >= len(given) or not given[place].text:
            text = merged[place].text
            if source.text not in text:
                text = f"{text}\n{source.text}" if text else source.text
                merged[place] = replace(merged[place], text=text[:LONGEST])
    return tuple(merged)


@known
def case_sources(case: Case) -> tuple[Source, ...]:
    """The sources that the case gives."""
    if not isinstance(case.expected, dict) or not expected_of(case).sources:
        return ()
    return tuple(
        _source(one, _plain(one.get("url")), _plain(one.get("text")), "case")
        for one in case.expected["sources"][:MOST]
    )


def _tool_sources(trace: Trace) -> Iterator[Source]:
    """What tools brought back, without what the agent itself wrote to call them or those before.

    A note that is read again and a search for one's own claim prove nothing.
    """
    left = MOST_TEXT
    written: list[str] = []
    for step in trace.steps:
        if isinstance(step, ToolCall):
            result, arguments = step.result if step.error is None else None, step.arguments
        elif step.role in ("tool", "function"):
            result, arguments = step.content, None
        else:
            continue
        values = arguments.values() if isinstance(arguments, dict) else (arguments,)
        own = [one[:LONGEST] for one in values if isinstance(one, str) and len(one) >= _AT_LENGTH]
        written += own
        address = _first(arguments, _URLS) if isinstance(arguments, dict) else ""
        for source in _read(result, address, _DEPTH):
            text = source.text
            left -= len(text)
            if left < 0:
                return
            repeats = any(text in one for one in written[-MOST:]) or any(one in text for one in own)
            if not text or not repeats:
                yield source


def _read(value: Any, address: str, depth: int) -> Iterator[Source]:
    """The sources in a tool's result; `address` is what the tool was asked to fetch."""
    if isinstance(value, str):
        yield from _read_text(value.strip(), address, depth)
    elif depth and isinstance(value, list):
        for item in value[:MOST]:
            yield from _read(item, address if len(value) == 1 else "", depth - 1)
    elif depth and isinstance(value, dict):
        url, text = _first(value, _URLS), _texts(value)
        if url or (text and (address or value.get("title"))):
            yield _source(value, url or address, text, "tool")
        else:
            for item in value.values():
                if isinstance(item, dict | list):
                    yield from _read(item, address, depth - 1)


def _read_text(text: str, address: str, depth: int) -> Iterator[Source]:
    """JSON as what it says; a fetched page; or blocks of text, each with its address."""
    if depth and text[:1] in ("{", "["):
        try:
            inner = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            inner = None
        if isinstance(inner, dict | list):
            yield from _read(inner, address, depth - 1)
            return
    text = text[:LONGEST]
    if address:
        yield Source(url=address, text=text)
    elif "://" in text:
        for block in _BLOCK.split(text)[:MOST]:
            if named := _ADDRESS.search(block):
                yield Source(url=named[0].rstrip(".,;:"), text=block)


def _source(value: dict[str, Any], url: str, text: str, origin: Literal["case", "tool"]) -> Source:
    get = value.get
    return Source(
        _plain(get("id")),
        url,
        _plain(get("title") or get("name")),
        _names(get("author") or get("authors")),
        _plain(get("year") or get("date") or get("published"))[:40],
        text[:LONGEST],
        _plain(get("kind")) if origin == "case" else "",
        origin,
    )


def _first(value: dict[str, Any], keys: Sequence[str]) -> str:
    return next((value[key] for key in keys if isinstance(value.get(key), str)), "")


def _texts(value: dict[str, Any]) -> str:
    """All that it says: a snippet beside the body is part of the source."""
    texts = [one for key in _TEXTS if key in value and isinstance(one := value[key], str)]
    return "\n".join(dict.fromkeys(texts))


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int | float) else ""


def _names(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(filter(None, map(_names, value[:50])))
    return _plain(value.get("name") if isinstance(value, dict) else value)
