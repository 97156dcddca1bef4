"""Data in an output: JSON, YAML, TOML, CSV and XML that a request asked for."""

import csv
import json
import re
import tomllib
import xml.parsers.expat

from rubrica.judges.fitness.detectors.blocks import blocks
from rubrica.judges.fitness.detectors.data import yaml_broken
from rubrica.judges.fitness.detectors.language import named

_LABELS = {
    "yaml": ("yaml",),
    "toml": ("toml",),
    "json": ("json", "jsonc", "jsonl"),
    "csv": ("text",),
    "xml": (),
}
_CELL = (
    ("number", re.compile(r"[-+$€£¥]?\d[\d.,]*\s?%?\Z")),
    ("colour", re.compile(r"#[0-9a-fA-F]{3,8}\Z")),
    ("date", re.compile(r"\d{2,4}[-/]\d{1,2}[-/]\d{1,4}\Z")),
    ("truth", re.compile(r"(?:true|false|yes|no)\Z", re.IGNORECASE)),
)
_FAR = 10**10


def payload(output: str, kind: str, *, bare: bool) -> str | None:
    """The data in an output: all of it where nothing else may stand; None for another label."""
    if bare:
        return output.strip()
    found = blocks(output)
    for block in found:
        label = block.language
        if label == kind or (named(label) or "") in _LABELS[kind] or not label:
            return block.text.strip()
    return None if found else output.strip()


def is_data(text: str, kind: str) -> bool:
    """Whether a text is data of a kind, and not of one that merely passes for it."""
    text = text.strip()
    if not text:
        return False
    if kind == "json":
        return json_value(text) is not None
    if kind == "yaml":
        first = text.splitlines()[0].lstrip()
        if first.startswith(("{", "[")) or not re.search(
            r"^\s*(?:-\s|[^\s:]+[^:\n]*:(?:\s|$))", text, re.MULTILINE
        ):
            return False
        return not yaml_broken(text, _FAR)
    if kind == "toml":
        try:
            return bool(tomllib.loads(text))
        except (ValueError, RecursionError):
            return False
    if kind == "csv":
        return len(rows(text)) > 0
    try:
        xml.parsers.expat.ParserCreate().Parse(text, True)
    except xml.parsers.expat.ExpatError:
        return False
    return True


def json_value(text: str) -> object:
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def rows(text: str) -> list[list[str]]:
    """The rows of a table with commas, all of the same width; none where it is no such table."""
    try:
        found = [row for row in csv.reader(text.splitlines()) if row]
    except csv.Error:
        return []
    widths = {len(row) for row in found}
    return found if len(widths) == 1 and widths.pop() > 1 else []


def has_header(table: list[list[str]]) -> bool:
    """Whether the first row differs in kind from the others in some column, or cannot be told."""
    if len(table) < 2:
        return False
    plain = True
    for column in range(len(table[0])):
        kinds = {_kind(row[column].strip()) for row in table[1:]}
        if kinds - {"text"}:
            plain = False
            if _kind(table[0][column].strip()) == "text":
                return True
    return plain


def _kind(cell: str) -> str:
    return next((name for name, shape in _CELL if shape.match(cell)), "text")
