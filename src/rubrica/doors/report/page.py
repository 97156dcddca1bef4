"""The page around the data: template, style and script in one file, under a policy by digest."""

import base64
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from rubrica.doors.report.parcels import Parcel, escaped

#: In the order in which they stand in the page's one script.
SCRIPTS = ("text", "charts", "headline", "parcels", "detail", "table", "start")


def page(head: dict[str, Any], table: list[Parcel], details: list[Parcel]) -> Iterator[bytes]:
    """The file in pieces. Details come last: the page is there before they are read."""
    template, style, script = _parts()
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
def _parts() -> tuple[str, str, str]:
    folder = files(__package__)
    template = folder.joinpath("page.html").read_text(encoding="utf-8")
    style = folder.joinpath("style.css").read_text(encoding="utf-8")
    pieces = [folder.joinpath("script", f"{name}.js").read_text("utf-8") for name in SCRIPTS]
    return template, style, "(() => {\n'use strict';\n" + "\n".join(pieces) + "})();\n"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
