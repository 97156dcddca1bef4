"""The built-in judges as a catalogue: what each does, its options, and an example.

Everything comes from the classes themselves: the first paragraph of a docstring says what the judge
does, a line `option: …` what an option does, and a line `Example: …` how it is used.
"""

import re
import types
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from fourscore.core import ConfigError, suggest_known
from fourscore.judges.checks import CHECKS
from fourscore.judges.loading import BUILT_IN, TIERS
from fourscore.judges.workflow import BuiltInJudge

_OPTION = re.compile(r"`?([a-z_]+(?:`?, `?[a-z_]+)*)`?: (\S.*)")
_TYPES: Mapping[object, str] = {
    str: "text",
    int: "whole number",
    float: "number",
    bool: "true or false",
    dict: "mapping",
    list: "list",
    tuple: "list",
    Any: "any value",
    type(None): "null",
}


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """An option of a judge: its type in words, its default as JSON, and what it does."""

    name: str
    type: str
    default: str | None
    description: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A built-in judge; `by` are the other values of the option `by` that it takes."""

    name: str
    kind: Literal["check", "judge"]
    description: str
    options: tuple[Option, ...]
    example: str
    by: tuple[str, ...] = ()


def list_entries() -> list[Entry]:
    """Return all built-in judges, the plain checks first, each group by name."""
    others = sorted(BUILT_IN.keys() - CHECKS.keys())
    return [describe_judge(name) for name in (*sorted(CHECKS), *others)]


def describe_judge(name: str, tier: str = "rules") -> Entry:
    """Return one built-in judge; an unknown name is a `ConfigError`."""
    if name not in BUILT_IN:
        raise ConfigError(f"{name!r} is no built-in judge: {suggest_known(name, BUILT_IN)}")
    if name not in TIERS[tier]:
        raise ConfigError(f"{name} has no judge with by: {tier}", field="--by")
    module, _, attribute = TIERS[tier][name].partition("->")
    found = getattr(import_module(module), attribute)
    is_face = isinstance(found, type) and issubclass(found, BuiltInJudge)
    kind = getattr(found, "kind", found) if is_face else found
    description, written, example = _read_docstring(kind.__doc__ or "")
    tiers = tuple(tier for tier, judges in TIERS.items() if name in judges and tier != "rules")
    return Entry(
        name=name,
        kind="check" if name in CHECKS else "judge",
        description=description,
        options=_list_options(kind, written),
        example=example or f"{{judge: {name}}}",
        by=tiers,
    )


def _list_options(kind: Any, written: Mapping[str, str]) -> tuple[Option, ...]:
    if not (isinstance(kind, type) and issubclass(kind, msgspec.Struct)):
        return ()
    inherited: dict[str, str] = {}
    for base in reversed(kind.__mro__[1:]):
        inherited |= _read_docstring(base.__doc__ or "")[1]
    return tuple(
        Option(
            name=field.encode_name,
            type=_write_type(field.type),
            default=_write_default(field),
            description=written.get(field.encode_name, inherited.get(field.name, "")),
        )
        for field in msgspec.structs.fields(kind)
    )


def _read_docstring(text: str) -> tuple[str, dict[str, str], str]:
    """Return the first paragraphs, the descriptions of options, and the example."""
    about: list[str] = []
    options: dict[str, str] = {}
    example, names = "", list[str]()
    for line in text.strip().splitlines():
        plain = line.strip()
        if plain.startswith("Example: "):
            example, names = plain.removeprefix("Example: "), []
        elif (found := _OPTION.fullmatch(plain)) is not None:
            names = re.split(r"`?, `?", found[1])
            options |= dict.fromkeys(names, found[2])
        elif not plain:
            names = []
            if about and not options:
                about.append("")
        elif names:
            for name in names:
                options[name] += f" {plain}"
        elif not options and not example:
            about.append(plain)
    paragraphs = "\n".join(about).strip().split("\n\n")
    return "\n\n".join(" ".join(one.split()) for one in paragraphs), options, example


def _write_type(kind: Any) -> str:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " | ".join(map(str, args))
    if origin in (Union, types.UnionType):
        return _write_union([one for one in args if one not in (type(None), msgspec.UnsetType)])
    if origin in (tuple, list):
        inner = dict.fromkeys(_write_type(one) for one in args if one is not ...)
        return f"list of {' or '.join(inner)}" if inner else "list"
    return _TYPES.get(origin or kind, "mapping")


def _write_union(kinds: list[Any]) -> str:
    single = dict.fromkeys(_write_type(one) for one in kinds if get_origin(one) is not tuple)
    if "number" in single:
        single.pop("whole number", None)
    words = " or ".join(single)
    lists = [_write_type(one) for one in kinds if get_origin(one) is tuple]
    return f"{words}, or a list" if lists and words else words or lists[0]


def _write_default(field: msgspec.structs.FieldInfo) -> str | None:
    """Return the default as JSON; None for an option that has to be given."""
    if field.required:
        return None
    value = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
    return "" if value is msgspec.UNSET else msgspec.json.encode(value).decode()
