"""`Case`: one question put to an agent, or several turns of a conversation with it."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import force_setattr

from fourscore.core.frozen import (
    EMPTY,
    check_tuple,
    clean_fields,
    digest,
    freeze_field,
    replace_surrogates,
)


class Turn(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question of a conversation, and what a good answer to it has."""

    input: Any
    expected: Any = None
    checks: tuple[dict[str, Any], ...] = ()

    def __post_init__(self) -> None:
        force_setattr(self, "input", freeze_field("input", self.input))
        force_setattr(self, "expected", freeze_field("expected", self.expected))
        force_setattr(self, "checks", freeze_checks(self.checks))


def freeze_checks(checks: Sequence[Mapping[str, Any]]) -> tuple[dict[str, Any], ...]:
    """Return the checks of a case as frozen mappings; raise `ValueError` for anything else."""
    if not isinstance(checks, list | tuple):
        raise ValueError("checks: expected a list")
    return tuple(
        freeze_field(f"checks[{place}]", check, dict) for place, check in enumerate(checks)
    )


class Case(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question put to an agent, with what a judge needs to recognise a good answer.

    Without an `id` the case gets the digest of its `input`. The position in a file never
    identifies a case. Cases of one template, document or conversation share a `group`. `checks`
    are the case's own checks; `turns` follow its input in a conversation.
    """

    id: str = ""
    input: Any = None
    expected: Any = None
    metadata: dict[str, Any] = EMPTY
    tags: tuple[str, ...] = ()
    complexity: str | None = None
    task_type: str | None = None
    group: str | None = None
    checks: tuple[dict[str, Any], ...] = ()
    turns: tuple[Turn, ...] = ()

    def __post_init__(self) -> None:
        if type(self.input) is not str or not self.input.isascii():
            force_setattr(self, "input", freeze_field("input", self.input))
        if self.expected is not None:
            force_setattr(self, "expected", freeze_field("expected", self.expected))
        if self.metadata is not EMPTY:
            force_setattr(self, "metadata", freeze_field("metadata", self.metadata, dict))
        if self.tags != ():
            check_tuple(self, "tags", str)
            force_setattr(self, "tags", tuple(replace_surrogates(tag) for tag in self.tags))
        if not (self.complexity is self.task_type is self.group is None):
            clean_fields(self, "complexity", "task_type", "group")
        if self.checks != ():
            force_setattr(self, "checks", freeze_checks(self.checks))
        if self.turns != ():
            check_tuple(self, "turns", Turn)
        if type(self.id) is not str or not self.id.isascii():
            if self.id is None:
                raise ValueError("id: expected text")
            clean_fields(self, "id")
        if not self.id:
            force_setattr(self, "id", digest(self.input, size=8))
