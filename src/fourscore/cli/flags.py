"""Flags that several commands share, and flags made from the fields of a settings type.

A field of a settings type is described once, by `setting(…)` in its annotation. Its flag, its key
in a configuration file, its JSON Schema and what `--resume` may do with it all come from there.
"""

import argparse
from collections.abc import Callable
from math import nan
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec

from fourscore.core import ConfigError
from fourscore.formats.yaml_file import parse_yaml
from fourscore.stores.sqlite import DEFAULT_STORE

#: The rule of `--resume` for a setting: keep it, change it, read it from any path with the same
#: content, or give the same again.
Resume = Literal["keep", "change", "same content", "give again"]


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """A field of a settings type: `flag` is None where only a configuration file can set it."""

    key: str = ""
    flag: str | None
    help: str
    metavar: str | None
    resume: Resume
    is_path: bool
    kind: Any = str

    @property
    def is_local(self) -> bool:
        """Whether it names code, an address, a key or a file: it is never read from a store."""
        return self.is_path or self.resume == "give again"


def setting(
    flag: str | None,
    help: str,  # noqa: A002 - argparse's word
    *,
    metavar: str | None = None,
    resume: Resume = "keep",
    is_path: bool = False,
) -> msgspec.Meta:
    """Describe a field, for its annotation. A flag that begins with `--no-` sets it to false."""
    about = Setting(flag=flag, help=help, metavar=metavar, resume=resume, is_path=is_path)
    return msgspec.Meta(description=help, extra={"setting": about})


JUDGE_MODEL = "ask this model where a judge asks one and names none: openai:gpt-4o-mini, …"


def list_settings(kind: type[msgspec.Struct]) -> list[Setting]:
    """Return the settings of a type, in the order of its fields."""
    return [_read_setting(field) for field in msgspec.structs.fields(kind)]


def _read_setting(field: msgspec.structs.FieldInfo) -> Setting:
    kind, *notes = get_args(field.type) if get_origin(field.type) is Annotated else (field.type,)
    for note in notes:
        if isinstance(note, msgspec.Meta) and note.extra and "setting" in note.extra:
            about: Setting = note.extra["setting"]
            return msgspec.structs.replace(about, key=field.name, kind=kind)
    raise TypeError(f"{field.name} is not described by setting(…)")


def add_flags(parser: argparse.ArgumentParser, kind: type[msgspec.Struct], **helps: str) -> None:
    """Add the flag of each setting; `helps` overrides help texts, by key."""
    for each in list_settings(kind):
        if each.flag is not None:
            text = helps.get(each.key, each.help)
            how = _argparse_options(each)
            parser.add_argument(each.flag, dest=each.key, default=None, help=text, **how)


def _argparse_options(each: Setting) -> dict[str, Any]:
    if each.flag is not None and each.flag.startswith("--no-"):
        return {"action": "store_const", "const": False}
    kind = _flag_type(each.kind)
    if kind is bool:
        return {"action": "store_const", "const": True}
    if kind in (list, dict):
        return {"action": "append", "metavar": each.metavar}
    return {"type": kind, "metavar": each.metavar}


def _flag_type(kind: Any) -> type:
    """Return the type of a flag's value; for a union such as `int | None`, its first member."""
    origin = get_origin(kind)
    if origin is None:
        found: type = kind
        return found
    return origin if origin in (list, dict) else _flag_type(get_args(kind)[0])


def read_flags(args: argparse.Namespace, kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the settings that were given as flags, by key; KEY=VALUE pairs as dictionaries."""
    given: dict[str, Any] = {}
    for each in list_settings(kind):
        value = getattr(args, each.key) if each.flag is not None else None
        if value is None:
            continue
        if _flag_type(each.kind) is dict:
            pairs = (parse_key_value(text, each.flag or "") for text in value)
            as_text = get_args(each.kind)[1] is str
            value = {key: str(item) if as_text else item for key, item in pairs}
        given[each.key] = value
    return given


def parse_key_value(text: str, flag: str) -> tuple[str, Any]:
    """Split `key=value`; the value is read as YAML, so 0.2 is a number."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"{text!r}: expected KEY=VALUE", field=flag)
    return key.strip(), parse_yaml(value, flag).value


def parse_count(text: str) -> int:
    """Parse a whole number above 0, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, got {text!r}")
    return int(text)


def parse_seconds(text: str) -> float:
    """Parse seconds above 0, for argparse."""
    return _parse_number(text, "seconds above 0", lambda number: 0 < number < 1e9)


def parse_share(text: str) -> float:
    """Parse a share from 0 to 1, for argparse."""
    return _parse_number(text, "a share from 0 to 1", lambda number: 0 <= number <= 1)


def _parse_number(text: str, expected: str, is_allowed: Callable[[float], bool]) -> float:
    try:
        number = float(text)
    except ValueError:
        number = nan
    if not is_allowed(number):
        raise argparse.ArgumentTypeError(f"expected {expected}, got {text!r}")
    return number


def add_store_argument(parser: argparse.ArgumentParser) -> None:
    text = f"read runs from this store ({DEFAULT_STORE})"
    parser.add_argument("--store", default=DEFAULT_STORE, metavar="FILE", help=text)


def add_scores_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--scores`: a run has scores by its own rubric, and by that of each `rescore`."""
    text = "use the scores that fourscore rescore added for the rubric with this fingerprint"
    parser.add_argument("--scores", metavar="FINGERPRINT", help=text)


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document on stdout")


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run_id", metavar="RUN", help="id of the run, or the start of the id")


def add_judge_model_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--judge-model`, the model of every judge that asks one and names none."""
    parser.add_argument("--judge-model", metavar="SPEC", help=JUDGE_MODEL)


def add_report_argument(parser: argparse.ArgumentParser) -> None:
    """Add `--out` for a report; `check_report_paths` checks its values."""
    text = "also write the results to this file: .md or .json"
    parser.add_argument("--out", action="append", default=[], metavar="FILE", help=text)


def check_report_paths(paths: list[str]) -> None:
    """Refuse a path of `--out` that cannot be written, before the work starts."""
    for path in paths:
        if Path(path).suffix not in (".md", ".json"):
            raise ConfigError("the file name must end in .md or .json", file=path, field="--out")
        if not Path(path).resolve().parent.is_dir():
            raise ConfigError(
                "the folder does not exist: create it first", file=path, field="--out"
            )
