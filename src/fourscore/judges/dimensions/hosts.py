"""Rate a URL by its host alone: primary, secondary, unreliable, or unknown.

Checked in this order: the hosts that the user lists, URLs that hide their host, the shipped list
(`hosts.json`), and endings that registries give to public bodies and universities only. The list
comes before the endings because of `academia.edu`, which is no university.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from publicsuffixlist import PublicSuffixList

Kind = Literal["primary", "secondary", "unreliable"]
KINDS: tuple[Kind, ...] = ("primary", "secondary", "unreliable")
#: The hosts that the user lists for each kind: `example.org`, `example.org/path`, `*.example.org`.
HostLists = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]

#: Scheme, host with user and port, path. A backslash ends a host in browsers.
_PARTS = re.compile(r"(?:([a-z][a-z0-9+.-]{0,20}):)?//([^/?#\\\s]*+)([^?#\s]*+)", re.IGNORECASE)
#: A public host: no IP address, which names no publisher.
_NAME = re.compile(r"(?:[a-z0-9_-]{1,63}\.){1,30}[a-z][a-z0-9-]{1,62}")
#: Suffixes that registries give to public bodies and universities, alone or before a country's.
_ALONE = frozenset(["gov", "mil", "edu", "int"])
_SECOND = _ALONE - {"int"} | {"gob", "gouv", "govt", "go", "gub", "gv", "gc", "ac"}


class Address(NamedTuple):
    """Host and path in lower case; `problem` says why the host proves nothing."""

    host: str
    path: str
    problem: str = ""


class Rating(NamedTuple):
    """The kind of a source, `None` if it is unknown, and the reason."""

    kind: Kind | None
    reason: str


@lru_cache(maxsize=4096)
def parse_address(url: str) -> Address:
    """Split a URL, with or without its scheme, into host and path."""
    url = url.strip()[:2000]
    parts = _PARTS.match(url if "//" in url[:24] else f"//{url}")
    if parts is None or (parts[1] or "https").lower() not in ("http", "https"):
        return Address("", "", "not a web address")
    path = parts[3].lower()
    if "@" in parts[2] or "%" in parts[2] or path.startswith("\\"):
        # https://nasa.gov@evil.example
        return Address("", path, "the address hides its host")
    host, _, port = parts[2].lower().partition(":")
    host = host.rstrip(".").removeprefix("www.")
    if not host.isascii() or "xn--" in host:
        return Address(host, path, "letters of the host can be mistaken for others")
    if port.strip("0123456789") or _NAME.fullmatch(host) is None:
        return Address(host, path, "not a public host")
    return Address(host, path)


@lru_cache(maxsize=4096)
def rate_address(url: str, lists: HostLists = ((), (), ())) -> Rating:
    """Rate a URL by its host; the user's `lists` win over everything else."""
    address = parse_address(url)
    if any(lists) and (found := _find(read_lists(lists), address)):
        return found
    if address.problem:
        return Rating("unreliable" if not address.host else None, address.problem)
    return _find(_shipped_table(), address) or _rate_ending(address)


@lru_cache(maxsize=64)
def read_lists(lists: HostLists) -> Mapping[str, Rating]:
    """Return the user's entries by host and path; raise `ValueError` for one that is no host."""
    table: dict[str, Rating] = {}
    for kind, entries in zip(KINDS, lists, strict=True):
        for entry in entries:
            host, _, path = entry.strip().lower().rpartition("://")[2].partition("/")
            host = host.partition(":")[0].removeprefix("www.")
            if not host or any(map(str.isspace, host)):
                raise ValueError(f"{kind}: {entry!r} is no host; expected one like example.org")
            rating = Rating(kind, f"listed as {kind} in the rubric")
            other = table.setdefault(f"{host}/{path}".rstrip("/"), rating).kind
            if other != kind:
                raise ValueError(f"{kind}: {entry!r} is listed as {other} and as {kind}")
    return table


def _rate_ending(address: Address) -> Rating:
    suffix = _suffixes().publicsuffix(address.host) or ""
    label, _, country = suffix.partition(".")
    is_second = label in _SECOND and "." not in country and suffix != "go.it"  # a province
    if suffix not in _ALONE and not (country and is_second):
        return Rating(None, "a host that no list knows")
    if "/~" in address.path:
        return Rating("secondary", "a personal page")
    return Rating("primary", "a public body or university, by its ending")


def _find(table: Mapping[str, Rating], address: Address) -> Rating | None:
    """Return the rating of the longest matching entry; nasa.gov.evil.com is not nasa.gov."""
    host, parts, below = address.host, address.path.strip("/").split("/")[:4], False
    while host:
        for length in range(len(parts), 0, -1):
            if found := table.get(f"{host}/{'/'.join(parts[:length])}"):
                return found
        if found := table.get(host) or (table.get(f"*.{host}") if below else None):
            return found
        host, below = host.partition(".")[2], True
    return None


@cache
def _shipped_table() -> Mapping[str, Rating]:
    data = json.loads(Path(__file__).with_name("hosts.json").read_text(encoding="utf-8"))
    return {
        host: Rating(kind, reason)
        for kind, groups in data.items()
        for reason, hosts in groups.items()
        for host in hosts
    }


@cache
def _suffixes() -> PublicSuffixList:
    """Return the public suffix list of the installed package; loading it takes 35 ms, once."""
    return PublicSuffixList()
