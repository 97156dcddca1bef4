"""The HTML around the data: template, style and script in one file, with a policy by digest."""

import base64
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec

from fourscore.report.run_page.compressed_blocks import Block, escape_markup

#: In the order in which they stand in the page's one script.
SCRIPTS = ("text", "charts", "theme", "headline", "blocks", "detail", "table", "start")


class Parts(NamedTuple):
    """Template, style and script of a page."""

    template: str
    style: str
    script: str


def render_page(
    head: dict[str, Any], table: list[Block], details: list[Block], parts: Parts | None = None
) -> Iterator[bytes]:
    """Yield the file in pieces. Details come last, so that the page shows before they are read."""
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
    data = escape_markup(msgspec.json.encode(head).decode())
    yield f'<script type="application/json" id="head">{data}</script>\n'.encode()
    yield from _elements("line", table)
    yield f"<script>{script}</script>\n".encode()
    yield from _elements("case", details)
    yield after.encode()


def _elements(kind: str, blocks: list[Block]) -> Iterator[bytes]:
    for number, block in enumerate(blocks):
        form = "text/plain" if block.packed else "application/json"
        yield f'<script type="{form}" class="{kind}" id="{kind}-{number}">'.encode()
        yield block.body
        yield b"</script>\n"


@cache
def _parts() -> Parts:
    pieces = [read_part(f"script/{name}.js") for name in SCRIPTS]
    return Parts(read_part("page.html"), read_part("style.css"), join_scripts(pieces))


def read_part(name: str, package: str = __package__) -> str:
    """Return the text of a file that belongs to a page."""
    return files(package).joinpath(*name.split("/")).read_text(encoding="utf-8")


def join_scripts(pieces: Iterable[str]) -> str:
    """Join several files to one script that defines no global name."""
    return "(() => {\n'use strict';\n" + "\n".join(pieces) + "})();\n"


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
