"""What an answer may cite: the sources of the case, and what the agent's tools brought back.

A source that only the output names is none: whoever invents one earns nothing with it.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from rubrica.core import Case, Trace
from rubrica.core.trace import ToolCall
from rubrica.judges.dimensions.expected import expected_of
from rubrica.judges.dimensions.known import known

#: Sources that are read, characters of each, and of all that the tools brought back.
MOST_SOURCES, LONGEST_TEXT, MOST_TEXT = 200, 40_000, 400_000
_DEPTH = 5
#: Characters from which on an argument is text that could be given back, and no query.
_AT_LENGTH = 40
_URLS = ("url", "link", "href", "uri", "source_url", "source", "page_url", "permalink", "doi")
_TEXTS = [
    "text", "content", "snippet", "body", "raw_content", "page_content", "abstract", "summary",
    "description", "markdown", "passage", "excerpt", "extract",
]  # fmt: skip
_LISTS = [
    "results", "items", "documents", "docs", "data", "organic", "organic_results", "hits",
    "pages", "web", "webPages", "value", "search_results", "sources", "citations", "articles",
    "papers", "entries", "output", "result", "response",
]  # fmt: skip
_BLANK = re.compile(r"\n\s*\n")
_ADDRESSING, _TELLING, _LISTING = frozenset(_URLS), frozenset(_TEXTS), frozenset(_LISTS)
_SAYING = _ADDRESSING | _TELLING
_ADDRESS = re.compile(r"https?://[^\s<>\"'`\[\]{}|（）【】，。；、)]+")


class Source(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """Something that can be cited. Fields that are not known are empty."""

    id: str
    url: str
    text: str
    title: str
    author: str
    year: str
    kind: str
    origin: str  # case or trace


def sources_of(case: Case, trace: Trace) -> tuple[Source, ...]:
    """The sources of the case, then those of the trace, each address once per text."""
    held = _last[0] if _last else None
    if held is not None and held[0] is case and held[1] is trace:
        return held[2]
    found = _found_in(case, trace)
    _last[:] = [(case, trace, found)]
    return found


#: Two judges ask for the sources of one answer, one after the other.
_last: list[tuple[Case, Trace, tuple[Source, ...]]] = []


def _found_in(case: Case, trace: Trace) -> tuple[Source, ...]:
    given = _of_case(case)
    found = dict.fromkeys(given)
    least = len(given) - len(found)  # what a case gives twice counts twice
    for source in _of_trace(trace):
        if len(found) + least >= MOST_SOURCES:
            break
        found[source] = None
    return (*given, *list(found)[len(given) - least :])


@known
def _of_case(case: Case) -> tuple[Source, ...]:
    if not isinstance(case.expected, dict):
        return ()
    listed = expected_of(case).sources  # refuses what is malformed
    return _given(case.expected["sources"]) if listed else ()


def _given(raw: Any) -> tuple[Source, ...]:
    return tuple(
        [
            Source(
                _plain(get("id")),
                _plain(get("url")),
                _plain(get("text"))[:LONGEST_TEXT],
                _plain(get("title")),
                _names(get("author") or get("authors")),
                _plain(get("year") or get("date")),
                _plain(get("kind")),
                "case",
            )
            for get in [item.get for item in raw[:MOST_SOURCES]]
        ]
    )


def _of_trace(trace: Trace) -> Iterator[Source]:
    left = MOST_TEXT
    for step in trace.steps:
        if isinstance(step, ToolCall):
            result, arguments = step.result, step.arguments
            address = _address(arguments) if isinstance(arguments, dict) else ""
            own = _written(arguments)
        elif step.role in ("tool", "function"):
            result, address, own = step.content, "", ()
        else:
            continue
        for source in _read(result, address, _DEPTH):
            left -= len(source.text)
            if left < 0:
                return
            if not own or not _echoes(source.text.strip(), own):
                yield source


def _written(arguments: Any) -> Sequence[str]:
    """What the agent itself wrote at length to call a tool: a thought, a note, a file."""
    if isinstance(arguments, dict):
        return [a for a in arguments.values() if type(a) is str and len(a) >= _AT_LENGTH]
    return [arguments] if isinstance(arguments, str) and len(arguments) >= _AT_LENGTH else ()


def _echoes(text: str, own: Sequence[str]) -> bool:
    """Whether a tool only gave back what it was given: nobody is his own source."""
    return any(text in written or written in text for written in own)


def _read(value: Any, address: str, depth: int) -> Iterator[Source]:
    """The sources in what a tool gave back; `address` is what it was asked to fetch."""
    if isinstance(value, str):
        yield from _read_text(value, address, depth)
    elif depth and isinstance(value, list):
        for item in value[:MOST_SOURCES]:
            yield from _read(item, address if len(value) == 1 else "", depth - 1)
    elif depth and isinstance(value, dict):
        if value.keys().isdisjoint(_SAYING):
            text = url = ""
        else:
            text, url = _texts(value), _address(value)
        inner = [] if _LISTING.isdisjoint(value) else [value[key] for key in _LISTS if key in value]
        if url or (text and not any(isinstance(each, list) for each in inner)):
            yield _found(value, url or address, text)
        else:
            for each in inner:
                if isinstance(each, dict | list | str):
                    yield from _read(each, address, depth - 1)


def _found(value: dict[str, Any], url: str, text: str) -> Source:
    get = value.get
    return Source(
        _plain(get("id")),
        url,
        text,
        _plain(get("title") or get("name")),
        _names(get("author") or get("authors")),
        _plain(get("year") or get("date") or get("published")),
        _plain(get("kind")),
        "trace",
    )


def _read_text(text: str, address: str, depth: int) -> Iterator[Source]:
    """Text that is JSON as what it says; a fetched page; or a list of hits with their addresses."""
    text = text[:LONGEST_TEXT].strip()
    if text[:1] in ("{", "[") and depth:
        try:
            inner = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            inner = None
        if isinstance(inner, dict | list):
            yield from _read(inner, address, depth - 1)
            return
    if not text:
        return
    if address:
        yield Source("", address, text, "", "", "", "", "trace")
        return
    blocks = [block for block in _BLANK.split(text) if block.strip()] if "\n" in text else [text]
    for block in blocks:
        named = _ADDRESS.search(block)
        yield Source("", named[0].rstrip(".,;:") if named else "", block, "", "", "", "", "trace")


def _address(value: dict[str, Any]) -> str:
    for key in () if _ADDRESSING.isdisjoint(value) else _URLS:
        if key in value and isinstance(item := value[key], str) and item:
            return item
    return ""


def _texts(value: dict[str, Any]) -> str:
    """All that it says: a snippet beside the body is part of the source."""
    if _TELLING.isdisjoint(value):
        return ""
    pieces = [
        item for key in _TEXTS if key in value and isinstance(item := value[key], str) and item
    ]
    return "\n".join(dict.fromkeys(pieces))[:LONGEST_TEXT]


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _names(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return "; ".join(filter(None, map(_names, value[:50])))
    return _plain(value.get("name")) if isinstance(value, dict) else _plain(value)
