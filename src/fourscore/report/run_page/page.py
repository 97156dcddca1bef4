"""The page around the data: template, style and script in one file, under a policy by digest."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from fourscore.report.run_page.compressed_blocks import Parcel, escaped

#: In the order in which they stand in the page's one script.
SCRIPTS = ("text", "charts", "theme", "headline", "parcels", "detail", "table", "start")


class Parts(NamedTuple):
    """What a page is made of, beside its data."""

    template: str
    style: str
    script: str


def page(
    head: dict[str, Any], table: list[Parcel], details: list[Parcel], parts: Parts | None = None
) -> Iterator[bytes]:
    """The file in pieces. Details come last: the page is there before they are read."""
    template, style, script = parts or _parts()
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    before, rest = template.split("<!-- style -->")
    between, after = rest.split("<!-- data -->")
    yield before.replace("<!-- policy -->", policy).encode()
    yield f"<style>{style}</style>".encode()
    yield between.encode()
    data = escaped(msgspec.json.encode(head).decode())
    yield f'<script type="application/json" id="head">{data}</script>\n'.encode()
    yield from _elements("line", table)
    yield f"<script>{script}</script>\n".encode()
    yield from _elements("case", details)
    yield after.encode()


def _elements(kind: str, parcels: list[Parcel]) -> Iterator[bytes]:
    for number, parcel in enumerate(parcels):
        form = "text/plain" if parcel.packed else "application/json"
        yield f'<script type="{form}" class="{kind}" id="{kind}-{number}">'.encode()
        yield parcel.body
        yield b"</script>\n"


@cache
def _parts() -> Parts:
    pieces = [part(f"script/{name}.js") for name in SCRIPTS]
    return Parts(part("page.html"), part("style.css"), scripted(pieces))


def part(name: str, package: str = __package__) -> str:
    """A file that belongs to a page."""
    return files(package).joinpath(*name.split("/")).read_text(encoding="utf-8")


def scripted(pieces: Iterable[str]) -> str:
    """One script of several files, with no name outside of it."""
    return "(() => {\n'use strict';\n" + "\n".join(pieces) + "})();\n"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
