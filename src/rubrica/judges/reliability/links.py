"""Where addresses stand in prose: with a scheme, with www, or bare with a path."""

import re
from collections.abc import Iterator

_SIGNS = r"\s<>\"'`\[\]{}|^（）【】「」『』《》“”，。；、！"
# Each begins with something rare, which keeps the scan fast. The host is in Latin letters or what
# looks like them, as Chinese text often follows without a space.
_REST = rf"[^/?#()\u2e80-\uffef{_SIGNS}]+(?:[/?#][^{_SIGNS}]*)?"
_SCHEMED = re.compile(rf"://{_REST}")
_WWW = re.compile(rf"www\.{_REST}")
_BARE = re.compile(rf"\.(?:com|org|net|gov|edu|int|io|dev|cn|uk|eu|de|jp)/[^{_SIGNS}]+")
_HOST = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-."
#: Characters of a bare host.
_LONGEST = 100
#: Addresses of one's own machine: something to try, never a source.
_OWN = frozenset("lL10[")
_OWN_MACHINE = re.compile(
    r"https?://(?:localhost|127\.|0\.0\.0\.0|192\.168\.|10\.\d|\[::1\])", re.IGNORECASE
)


def links(body: str) -> Iterator[tuple[int, str]]:
    """Start and text of each address, in order."""
    last = 0
    for start, end in sorted((*_schemed(body), *_www(body), *_bare(body))):
        url = _trimmed(body[start:end])
        if start >= last and not _is_own(url):
            yield start, url
        last = max(last, start + len(url))


def _is_own(url: str) -> bool:
    host = url.find("://") + 3
    return url[host : host + 1] in _OWN and _OWN_MACHINE.match(url) is not None


def _schemed(body: str) -> Iterator[tuple[int, int]]:
    if "://" in body:
        for found in _SCHEMED.finditer(body):
            before = body[max(0, found.start() - 5) : found.start()].casefold()
            if before.endswith("http") or before == "https":
                size = 5 if before == "https" else 4
                yield found.start() - size, found.end()


def _www(body: str) -> Iterator[tuple[int, int]]:
    if "www." in body:
        for found in _WWW.finditer(body):
            if body[found.start() - 1 : found.start()] not in ("/", ".", "@"):
                yield found.span()


def _bare(body: str) -> Iterator[tuple[int, int]]:
    for found in _BARE.finditer(body):
        ahead = body[max(0, found.start() - _LONGEST) : found.start()]
        host = ahead[len(ahead.rstrip(_HOST)) :]
        start = found.start() - len(host)
        before = body[start - 1 : start] if start else ""
        if host and host[0] not in ".-" and before not in ("/", "@", ":", "=", "_"):
            yield start, found.end()


def _trimmed(url: str) -> str:
    """Without the punctuation of the sentence and brackets that were opened before the address."""
    url = url.rstrip(".,;:!?*_'…~：？")
    if ")" not in url:
        return url
    if "(" not in url:
        return url[: url.index(")")].rstrip(".,;:!?*_'")
    opened = 0
    for at, sign in enumerate(url):
        opened += (sign == "(") - (sign == ")")
        if opened < 0:
            return url[:at].rstrip(".,;:!?*_'")
    return url
