"""What an answer may cite: the sources of the case, and what the agent's tools brought back.

A source that only the output names is none: whoever invents one earns nothing with it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from fourscore.core import Case, Trace
from fourscore.core.trace import ToolCall
from fourscore.judges.dimensions.case_fields import cache_by_identity, read_expected

#: Sources that are read, characters of each, and of all that tools brought back.
MOST, LONGEST, MOST_TEXT = 200, 40_000, 400_000
#: How deep a result is searched, and from how many characters on an argument is no query.
_DEPTH, _AT_LENGTH = 5, 40
_URLS = ("url", "link", "href", "uri", "source_url")
_TEXTS = "text content snippet body raw_content page_content summary description".split()
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s?#<>\"'，。；、（）\[\]]{1,200}")


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


@lru_cache(maxsize=4096)
def canonical_url(url: str) -> str:
    """An address as it is compared: without scheme, `www.`, fragment and `utm_` parameters."""
    if "10." in url and (doi := _DOI.search(url)):
        return f"doi:{doi[0].rstrip('.,;:)/').lower()}"
    place, _, query = url.strip().partition("#")[0].partition("?")
    host, _, path = (place.partition("://")[2] or place).partition("/")
    kept = "&".join(part for part in query.split("&") if not part.startswith("utm_"))
    return f"{host.lower().removeprefix('www.')}/{path.rstrip('/')}?{kept}"


def collect_sources(case: Case, trace: Trace) -> tuple[Source, ...]:
    """The sources of the case, then those that tools brought back, joined by their address."""
    given = case_sources(case)
    merged = list(given)
    places = {canonical_url(one.url): place for place, one in enumerate(given) if one.url}
    for source in _tool_sources(trace):
        key = canonical_url(source.url) if source.url else f"\n{source.title}\n{source.text}"
        place = places.setdefault(key, len(merged))
        if place == MOST:
            break
        if place == len(merged):
            merged.append(source)
        elif place >= len(given) or not given[place].text:  # the case's own text stands alone
            old = merged[place]
            text = old.text if source.text in old.text else f"{old.text}\n{source.text}".strip()
            merged[place] = replace(old, text=text[:LONGEST])
    return tuple(merged) if merged != list(given) else given  # the same object is indexed once


@cache_by_identity
def case_sources(case: Case) -> tuple[Source, ...]:
    """The sources that the case gives."""
    if not isinstance(case.expected, dict) or not read_expected(case).sources:
        return ()
    return tuple(
        replace(_source(one, ("text",)), kind=_field(one, "kind"), origin="case")
        for one in case.expected["sources"][:MOST]
    )


def _tool_sources(trace: Trace) -> Iterator[Source]:
    """What tools brought back. What the agent wrote itself and reads again proves nothing."""
    left = MOST_TEXT
    written: list[str] = []
    for step in trace.steps:
        if isinstance(step, ToolCall):
            result, arguments = step.result if step.error is None else None, step.arguments
        else:
            result, arguments = step.content if step.role in ("tool", "function") else None, {}
        given = arguments if isinstance(arguments, dict) else {"": arguments}
        texts = [one[:LONGEST] for one in given.values() if isinstance(one, str)]
        own = [one for one in texts if len(one) >= _AT_LENGTH]
        written += own
        for source in _read(result, _field(given, *_URLS), _DEPTH):
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
        text = value.strip()
        try:
            value = msgspec.json.decode(text) if text[:1] in ("{", "[") else None
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            value = None
        if value is None and address:
            yield Source(url=address, text=text[:LONGEST])
    if depth and isinstance(value, list):
        for item in value[:MOST]:
            yield from _read(item, address if len(value) == 1 else "", depth - 1)
    elif depth and isinstance(value, dict):
        source = _source(value)
        if source.url or (source.text and (address or source.title)):
            yield replace(source, url=source.url or address)
        else:
            for item in value.values():
                if isinstance(item, dict | list):
                    yield from _read(item, address, depth - 1)


def _source(value: dict[str, Any], texts: Sequence[str] = _TEXTS) -> Source:
    """A source by its fields. A snippet beside the body is part of its text."""
    pieces = dict.fromkeys([_field(value, key) for key in texts if key in value])
    return Source(
        _field(value, "id"),
        _field(value, *_URLS),
        _field(value, "title", "name"),
        _field(value, "author", "authors"),
        _field(value, "year", "date", "published")[:40],
        "\n".join(filter(None, pieces))[:LONGEST],
    )


def _field(value: dict[str, Any], *keys: str) -> str:
    """The first of some fields that has a text or a number; of lists, what their items say."""
    for found in filter(None, map(value.get, keys)):
        if isinstance(found, list):
            items = [one.get("name") if isinstance(one, dict) else one for one in found[:50]]
            return "; ".join([one for one in items if isinstance(one, str)])
        if isinstance(found, str | int | float):
            return str(found).strip()
    return ""
