"""Collect what an answer may cite: the sources of the case, and what the agent's tools returned.

A source that only the output names does not count: an invented source must earn nothing.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec
from msgspec.structs import replace

from fourscore.core import Case, Trace
from fourscore.core.trace import ToolCall
from fourscore.judges.dimensions.case_fields import cache_by_identity, read_expected

#: Most sources read, most characters of each, and most characters of all tool results.
MAX_SOURCES, MAX_SOURCE, MAX_TOOL_TEXT = 200, 40_000, 400_000
#: How deep a result is searched, and the length from which an argument is a text, not a query.
_DEPTH, _MIN_WRITTEN = 5, 40
_URLS = ("url", "link", "href", "uri", "source_url")
_TEXTS = "text content snippet body raw_content page_content summary description".split()
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s?#<>\"'，。；、（）\[\]]{1,200}")


class Source(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that can be cited. Fields that are not known are empty."""

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
    """Return a URL in the form for comparison: no scheme, `www.`, fragment or `utm_` parameter."""
    if "10." in url and (doi := _DOI.search(url)):
        return f"doi:{doi[0].rstrip('.,;:)/').lower()}"
    place, _, query = url.strip().partition("#")[0].partition("?")
    host, _, path = (place.partition("://")[2] or place).partition("/")
    kept = "&".join(part for part in query.split("&") if not part.startswith("utm_"))
    return f"{host.lower().removeprefix('www.')}/{path.rstrip('/')}?{kept}"


def collect_sources(case: Case, trace: Trace) -> tuple[Source, ...]:
    """Return the sources of the case, then those that tools returned, merged by their URL."""
    given = read_case_sources(case)
    merged = list(given)
    places = {canonical_url(one.url): place for place, one in enumerate(given) if one.url}
    for source in _read_tool_sources(trace):
        key = canonical_url(source.url) if source.url else f"\n{source.title}\n{source.text}"
        place = places.setdefault(key, len(merged))
        if place == MAX_SOURCES:
            break
        if place == len(merged):
            merged.append(source)
        elif place >= len(given) or not given[place].text:  # the case's own text is not extended
            old = merged[place]
            text = old.text if source.text in old.text else f"{old.text}\n{source.text}".strip()
            merged[place] = replace(old, text=text[:MAX_SOURCE])
    return tuple(merged) if merged != list(given) else given  # the same object: its index is kept


@cache_by_identity
def read_case_sources(case: Case) -> tuple[Source, ...]:
    """Read the sources in `expected.sources` of a case."""
    if not isinstance(case.expected, dict) or not read_expected(case).sources:
        return ()
    return tuple(
        replace(_read_source(one, ("text",)), kind=_read_field(one, "kind"), origin="case")
        for one in case.expected["sources"][:MAX_SOURCES]
    )


def _read_tool_sources(trace: Trace) -> Iterator[Source]:
    """Yield the sources in tool results, without texts that the agent itself wrote before.

    Otherwise an agent could write a file, read it again, and cite it as a source.
    """
    left = MAX_TOOL_TEXT
    written: list[str] = []
    for step in trace.steps:
        if isinstance(step, ToolCall):
            result, arguments = step.result if step.error is None else None, step.arguments
        else:
            result, arguments = step.content if step.role in ("tool", "function") else None, {}
        given = arguments if isinstance(arguments, dict) else {"": arguments}
        texts = [one[:MAX_SOURCE] for one in given.values() if isinstance(one, str)]
        own = [one for one in texts if len(one) >= _MIN_WRITTEN]
        written += own
        for source in _read_result(result, _read_field(given, *_URLS), _DEPTH):
            text = source.text
            left -= len(text)
            if left < 0:
                return
            is_own = any(text in one for one in written[-MAX_SOURCES:])
            is_own = is_own or any(one in text for one in own)
            if not text or not is_own:
                yield source


def _read_result(value: object, url: str, depth: int) -> Iterator[Source]:
    """Yield the sources in a tool's result; `url` is what the tool was asked to fetch."""
    if isinstance(value, str):
        text = value.strip()
        try:
            value = msgspec.json.decode(text) if text[:1] in ("{", "[") else None
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            value = None
        if value is None and url:
            yield Source(url=url, text=text[:MAX_SOURCE])
    if depth and isinstance(value, list):
        for item in value[:MAX_SOURCES]:
            yield from _read_result(item, url if len(value) == 1 else "", depth - 1)
    elif depth and isinstance(value, dict):
        source = _read_source(value)
        if source.url or (source.text and (url or source.title)):
            yield replace(source, url=source.url or url)
        else:
            for item in value.values():
                if isinstance(item, dict | list):
                    yield from _read_result(item, url, depth - 1)


def _read_source(value: dict[str, object], texts: Sequence[str] = _TEXTS) -> Source:
    """Read a source from an object. A snippet beside the body is part of its text."""
    pieces = dict.fromkeys([_read_field(value, key) for key in texts if key in value])
    return Source(
        id=_read_field(value, "id"),
        url=_read_field(value, *_URLS),
        title=_read_field(value, "title", "name"),
        author=_read_field(value, "author", "authors"),
        year=_read_field(value, "year", "date", "published")[:40],
        text="\n".join(filter(None, pieces))[:MAX_SOURCE],
    )


def _read_field(value: dict[str, object], *keys: str) -> str:
    """Return the first of some fields that has a text, a number or a list of names, as text."""
    for found in filter(None, map(value.get, keys)):
        if isinstance(found, list):
            items = [one.get("name") if isinstance(one, dict) else one for one in found[:50]]
            return "; ".join([one for one in items if isinstance(one, str)])
        if isinstance(found, str | int | float):
            return str(found).strip()
    return ""
