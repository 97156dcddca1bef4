"""The fields of a case in a file, checked and made into a `Case`.

The types below are both what the reader accepts and what `json_schemas.py` publishes, so the two
cannot disagree. Keys that are not fields are kept in `metadata`. Inside `expected` the keys that
judges know are checked; others are kept as they are.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from fourscore.core import Case, DataError
from fourscore.core.case import Turn
from fourscore.core.errors import find_close_word
from fourscore.core.frozen import freeze_field, replace_surrogates
from fourscore.formats.validation import explain_error

Weight = Annotated[float, Meta(ge=0)]
Count = Annotated[int, Meta(ge=0)]


class Claim(msgspec.Struct):
    """A fact that a good answer states."""

    text: str
    weight: Weight = 1.0

    def __post_init__(self) -> None:
        if not any(map(str.isalnum, self.text)):
            raise ValueError("text: it has no words, so every answer would match it")


class Source(msgspec.Struct, kw_only=True):
    """A document that an answer may cite."""

    id: str | int | None = None
    url: str | None = None
    text: str | None = None
    kind: Annotated[
        Literal["primary", "secondary", "unreliable"] | None,
        Meta(description="how good it is; by its host where absent"),
    ] = None


class Tools(msgspec.Struct, forbid_unknown_fields=True):
    """What a good run does with its tools."""

    expected: Annotated[
        list[str | dict[str, Any]], Meta(description="tools that a good run calls")
    ] = []
    max_calls: Annotated[Count | None, Meta(description="more calls than this are wasteful")] = None


class Expected(msgspec.Struct, kw_only=True):
    """What a good answer contains; keys beyond these are for judges of your own."""

    answer: Annotated[Any, Meta(description="the reference answer")] = None
    claims: Annotated[
        list[Claim], Meta(description="facts that a good answer states, with their weight")
    ] = []
    aspects: Annotated[
        list[str | dict[str, Any]], Meta(description="what a complete answer covers")
    ] = []
    sources: Annotated[list[Source], Meta(description="documents an answer may cite")] = []
    tools: Annotated[Tools | None, Meta(description="what a good run does with its tools")] = None


Checks = Annotated[
    list[dict[str, Any]] | None,
    Meta(
        description="checks of this case alone: each has the name of one built-in check as a key",
        examples=[[{"contains": "Rome"}, {"number": 42, "tolerance": 0.5}]],
    ),
]


class TurnFields(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A further question of a conversation."""

    input: Annotated[Any, Meta(description="what the agent is asked next")]
    expected: Annotated[Any, Meta(description="the reference answer to this question")] = None
    checks: Checks = None


class CaseFields(msgspec.Struct, kw_only=True):
    """One question put to an agent, with what a judge needs to tell a good answer."""

    input: Annotated[Any, Meta(description="what the agent is asked; it is given nothing else")]
    id: Annotated[
        str | int | None,
        Meta(description="its name, used once in a file; without one, the digest of its input"),
    ] = None
    expected: Annotated[
        Expected | str | int | float | bool | list[Any] | None,
        Meta(description="the reference answer, or an object that says more; agents never see it"),
    ] = None
    metadata: Annotated[
        dict[str, Any] | None,
        Meta(description="anything else; other keys of the case join it"),
    ] = None
    tags: Annotated[list[str] | None, Meta(description="words to select cases by")] = None
    complexity: Annotated[
        str | None,
        Meta(
            description="simple, medium, complex, very_complex or a word of your own",
            examples=["simple", "medium", "complex", "very_complex"],
        ),
    ] = None
    task_type: Annotated[str | None, Meta(description="what kind of work it is")] = None
    group: Annotated[
        str | int | None,
        Meta(description="what it shares with other cases: a template, document or conversation"),
    ] = None
    checks: Checks = None
    turns: Annotated[
        list[TurnFields] | None,
        Meta(description="the questions that follow `input` in a conversation"),
    ] = None


FIELDS = CaseFields.__struct_fields__
_FIELDS = frozenset(FIELDS)
_CLAIM = frozenset(Claim.__struct_fields__)
_EXPECTED = frozenset(Expected.__struct_fields__)
#: The types of the keys of `expected`; an answer may be anything.
_SHAPES: dict[str, type] = {"claims": list, "aspects": list, "sources": list, "tools": dict}


def parse_case(fields: Mapping[str, Any]) -> Case:
    """Make a case from its fields; a `DataError` names the field that does not fit."""
    if "input" not in fields:
        had = ", ".join(sorted(map(str, fields))[:8])
        raise DataError(f"missing; the case has {had or 'nothing'}", field="input")
    try:
        known = msgspec.convert(fields, CaseFields)
    except msgspec.ValidationError as error:
        raise _explained(error, fields) from None
    except UnicodeEncodeError:  # the converter stops at a lone surrogate
        return parse_case(_mended(fields))
    if isinstance(known.expected, Expected):
        _refuse_misspelt(fields["expected"])
    try:
        return Case(
            id="" if known.id is None else str(known.id),
            input=known.input,
            expected=fields.get("expected"),
            metadata=_metadata(fields, known.metadata),
            tags=tuple(known.tags or ()),
            complexity=known.complexity,
            task_type=known.task_type,
            group=None if known.group is None else str(known.group),
            checks=tuple(known.checks or ()),
            turns=tuple(
                Turn(input=one.input, expected=one.expected, checks=tuple(one.checks or ()))
                for one in known.turns or ()
            ),
        )
    except ValueError as error:
        field, _, message = str(error).partition(": ")
        above = field.removeprefix("metadata.")  # where its author wrote it
        written = re.split(r"[.\[]", above, maxsplit=1)[0] in fields.keys() - _FIELDS
        raise DataError(message, field=above if written else field) from None


def _refuse_misspelt(expected: Mapping[str, Any]) -> None:
    """Raise a `DataError` for a key that looks misspelt, such as `aspect` for `aspects`.

    Other unknown keys of `expected` are for the user's own judges. A misspelt one would be ignored
    and nobody would notice.
    """
    for key in expected.keys() - _EXPECTED:
        meant = find_close_word(key, _SHAPES)
        if meant and meant not in expected and isinstance(expected[key], _SHAPES[meant]):
            raise DataError(f"did you mean {meant}?", field=f"expected.{key}")
    for number, claim in enumerate(expected.get("claims") or ()):
        for key in claim.keys() - _CLAIM:
            if meant := find_close_word(key, _CLAIM):
                place = f"expected.claims[{number}].{key}"
                raise DataError(f"did you mean {meant}?", field=place)


def _mended(fields: Mapping[str, object]) -> dict[str, object]:
    mended: dict[str, object] = {}
    for key, value in fields.items():
        if not isinstance(key, str):
            raise DataError(f"the key {key!r} is not text")
        try:
            mended[replace_surrogates(key)] = freeze_field(replace_surrogates(key), value)
        except ValueError as error:
            field, _, message = str(error).partition(": ")
            raise DataError(message, field=field) from None
    return mended


def has_own_id(fields: Mapping[str, object]) -> bool:
    """Return whether the case has an id; null and empty text do not count."""
    return fields.get("id") not in (None, "")


def _metadata(fields: Mapping[str, object], given: dict[str, object] | None) -> dict[str, object]:
    """Return `metadata` with the keys that are not fields; refuse a key that is in both."""
    if _FIELDS.issuperset(fields):
        return given or {}
    for key in fields.keys() - _FIELDS:
        if isinstance(fields[key], list) and (meant := find_close_word(key, ("checks", "turns"))):
            raise DataError(f"did you mean {meant}?", field=key)
    merged = dict(given or {})
    for key, value in fields.items():
        if key not in _FIELDS:
            if key in merged:
                raise DataError("it is in metadata too; keep one of the two", field=str(key))
            merged[key] = value
    return merged


def _explained(error: msgspec.ValidationError, fields: Mapping[str, object]) -> DataError:
    for key in fields:
        if not isinstance(key, str):
            return DataError(f"the key {key!r} is not text")
    message, field = explain_error(error, fields, CaseFields)
    return DataError(message, field=field)
