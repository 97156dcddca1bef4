"""`Case`: one question put to an agent."""

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


class Case(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One question put to an agent, with what a judge needs to recognise a good answer.

    Without an `id` the case gets the digest of its `input`. The position in a file never
    identifies a case.
    """

    id: str = ""
    input: Any = None
    expected: Any = None
    metadata: dict[str, Any] = EMPTY
    tags: tuple[str, ...] = ()
    complexity: str | None = None
    task_type: str | None = None

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
        if self.complexity is not None or self.task_type is not None:
            clean_fields(self, "complexity", "task_type")
        if type(self.id) is not str or not self.id.isascii():
            if self.id is None:
                raise ValueError("id: expected text")
            clean_fields(self, "id")
        if not self.id:
            force_setattr(self, "id", digest(self.input, size=8))
