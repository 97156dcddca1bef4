"""A web address taken apart, with a distrustful eye for what hides the host."""

import re
from functools import lru_cache

import msgspec

from rubrica.judges.reliability.lexicon import words

_PARTS = re.compile(r"(?:([a-z][a-z0-9+.-]{0,20}):)?//([^/?#]*)([^?#]*)", re.IGNORECASE)
#: Characters of a host, by its standard.
_LONGEST = 253
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_HOST = re.compile(rf"(?:{_LABEL}\.)*{_LABEL}\Z")
_NUMBER = re.compile(r"(?:0x[0-9a-f]+|\d+)\Z")
_PORT = re.compile(r":\d{0,5}\Z")


class Address(msgspec.Struct, frozen=True, gc=False):
    """Host and path; `trouble` says why the host cannot be trusted whatever its name."""

    host: str
    path: str
    trouble: str = ""

    @property
    def labels(self) -> list[str]:
        return self.host.split(".")

    @property
    def owner(self) -> str:
        """What somebody registered: example.co.uk of www.example.co.uk."""
        labels = self.labels
        deep = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in words("second-labels")
        return ".".join(labels[-3:] if deep else labels[-2:])


@lru_cache(maxsize=512)
def address_of(url: str) -> Address:
    """The parts of an address, with or without its scheme."""
    url = url.strip().strip("<>")
    found = _PARTS.match(url if "//" in url[:24] else f"//{url}")
    if found is None:
        return Address("", "", "not a web address")
    scheme, place, path = (found[1] or "https").casefold(), found[2], found[3]
    if scheme not in ("http", "https"):
        return Address("", path, f"a {scheme}: address leads to no public document")
    # who.int@evil.example and who.int\@evil.example lead elsewhere than they seem to.
    if "@" in place or "\\" in place or "%" in place:
        return Address("", path, "the address hides its host")
    host = _PORT.sub("", place).casefold().rstrip(".").removeprefix("www.")
    return Address(host, path, _trouble(host))


def _trouble(host: str) -> str:
    labels = host[-_LONGEST - 1 :].split(".")
    if host.startswith("[") or _NUMBER.match(labels[-1]):
        return "a bare IP address names no publisher"
    if labels[-1] in words("nobody"):
        return "a placeholder that belongs to nobody"
    if len(labels) < 2 or len(host) > _LONGEST:
        return "not a web address"
    if not host.isascii() or host.startswith("xn--") or ".xn--" in host:
        return "letters in the host can be mistaken for others"
    if not _HOST.match(host):
        return "not a web address"
    if "example" in host and "example" in host.replace("-", ".").split("."):
        return "a placeholder that belongs to nobody"
    return ""
