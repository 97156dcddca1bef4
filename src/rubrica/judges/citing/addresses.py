"""Addresses as they are compared: what leads to the same page is the same."""

import re
from functools import lru_cache

_DOI = re.compile(r"\b10\.\d{4,9}/[^\s?#\"'<>]+", re.IGNORECASE)
_ADDRESS = re.compile(r"(?:[a-z][a-z+.-]*:)?//([^/?#]*)([^?#]*)(?:\?([^#]*))?", re.IGNORECASE)
_FOUND = re.compile(r"(?:https?://|www\.)[^\s<>\"'`（）【】，。；、]+", re.IGNORECASE)
_INDEX = re.compile(r"/(?:index\.(?:html?|php)|default\.aspx?)$")
_PAGES = (".htm", ".html", ".php", ".asp", ".aspx", "\n")
_TRACKING = re.compile(
    r"(?:utm_\w*|fbclid|gclid|msclkid|mc_cid|mc_eid|spm|ref|ref_src|igshid|yclid|share|from"
    r"|source|src|campaign|si)\Z",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)
def same_address(url: str) -> str:
    """The address without scheme, www, port, fragment, tracking, and the slash at its end."""
    url = url.strip().strip("<>")
    if "//" not in url[:12]:
        url = f"//{url}"
    found = _ADDRESS.match(url)
    if not found:
        return url.casefold()
    host = found[1].rpartition("@")[2].casefold().removesuffix(":443").removesuffix(":80")
    host = host.removeprefix("www.").removeprefix("m.").rstrip(".")
    path = found[2].replace("%20", " ")
    if path.endswith(_PAGES):
        path = _INDEX.sub("", path)
    path = path.rstrip("/")
    query = found[3]
    if not query:
        return f"{host}{path}"
    kept = sorted(
        part
        for part in query.split("&")[:50]
        if part and not _TRACKING.match(part.partition("=")[0])
    )
    return f"{host}{path}" + (f"?{'&'.join(kept)}" if kept else "")


@lru_cache(maxsize=512)
def doi_of(text: str) -> str:
    """The DOI in an address or a line; empty where there is none."""
    found = _DOI.search(text) if "10." in text else None
    return found[0].rstrip(".,;:)/").casefold() if found else ""


@lru_cache(maxsize=512)
def addresses_in(text: str) -> tuple[str, ...]:
    """The addresses that a line names."""
    return tuple([found.rstrip(".,;:!?)]*_") for found in _FOUND.findall(text[:2000])])
