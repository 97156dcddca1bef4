"""Parsers of data: JSON, YAML and TOML, with gaps and pieces let pass. Nothing is constructed."""

import io
import json
import re
import time
import tomllib

from rubrica.judges.fitness.detectors.trees import TooLong

_GAP = re.compile(r"(?<![\w\"])(?:\.\.\.|…+)(?!\w)|<[^\W\d_][^<>\n\"]{0,40}>|\{\{[^{}\n]{0,80}\}\}")
_GAP_LINE = re.compile(r"^[ \t]*(?:#|//)?[ \t]*(?:\.\.\.|…)[^\n\"]{0,80}$", re.MULTILINE)
_COMMA = re.compile(r",(\s*,)+")
_EDGE = re.compile(r"([\[{]\s*),|,(\s*[\]}])")
_REMARK = re.compile(r"(\"(?:\\.|[^\"\\\n])*\")|//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/")
_TRAILING = re.compile(r"(\"(?:\\.|[^\"\\\n])*\")|,(\s*[\]}])")
_QUOTED = re.compile(r"\"(?:\\.|[^\"\\\n])*\"")


def json_broken(code: str, *, remarks: bool = False) -> bool:
    """Whether a text is no JSON, not a row of values and not a piece of a value."""
    text = code.strip()
    if remarks:
        text = _REMARK.sub(lambda hit: hit.group(1) or "", text)
        text = _TRAILING.sub(lambda hit: hit.group(1) or hit.group(2) or "", text)
    if any(map(_is_json, (text, "{" + text.rstrip(",") + "}", "[" + text.rstrip(",") + "]"))):
        return False
    if lines_are_json(text):
        return False
    bare = _QUOTED.sub('""', text)
    if not _GAP.search(bare):
        return True
    return not any(map(_is_json, _mended(text)))


def lines_are_json(text: str) -> bool:
    """Several values one after the other, as `jq` prints them."""
    reader = json.JSONDecoder()
    at = 0
    try:
        while at < len(text):
            _value, at = reader.raw_decode(text, at)
            while at < len(text) and text[at].isspace():
                at += 1
    except (ValueError, RecursionError):
        return False
    return True


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _mended(text: str) -> list[str]:
    """The text with what stands for something left out taken away or filled."""
    without = _GAP_LINE.sub("", text)
    gone = without
    for _ in range(2):
        gone = _EDGE.sub(r"\1\2", _COMMA.sub(",", _GAP.sub("", gone)))
    found = [gone, _GAP.sub("null", without), _GAP.sub('"x": 1', without), _GAP.sub("x", without)]
    return [form for text in found for form in (text, "{" + text.rstrip().rstrip(",") + "}")]


def toml_broken(code: str) -> bool:
    for text in (code, _GAP.sub("0", _GAP_LINE.sub("", code)), _GAP.sub("", code)):
        try:
            tomllib.loads(text)
        except (ValueError, RecursionError):
            continue
        return False
    return True


def yaml_broken(code: str, deadline: float) -> bool:
    """Whether the events of a text end in an error. Aliases stay unresolved: no bomb goes off."""
    text = code.expandtabs(8) if code.lstrip(" \n") != code.lstrip() else code
    filled = _GAP.sub("x", _GAP_LINE.sub("", code))
    return all(_yaml_fails(form, deadline) for form in dict.fromkeys((text, filled)))


def _yaml_fails(text: str, deadline: float) -> bool:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    reader = YAML(typ="safe", pure=True)
    try:
        for count, _event in enumerate(reader.parse(io.StringIO(text))):
            if count % 256 == 0 and time.monotonic() > deadline:
                raise TooLong("yaml")
    except (YAMLError, ValueError, RecursionError):
        return True
    return False
