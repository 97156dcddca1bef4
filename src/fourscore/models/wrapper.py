"""The base of wrappers: a model around a model, with the same name and fingerprint.

A wrapper answers as the model inside would, so the cache may be anywhere in the stack.
"""

from types import TracebackType
from typing import Any, Self, TypeVar

from fourscore.models.messages import Model, Request, Response

Layer = TypeVar("Layer")


class ModelWrapper:
    """Passes everything to `model`, the one inside."""

    def __init__(self, model: Model) -> None:
        self.model = model

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def fingerprint(self) -> str:
        return self.model.fingerprint

    async def ask(self, request: Request) -> Response:
        return await self.model.ask(request)

    async def __aenter__(self) -> Self:
        enter = getattr(self.model, "__aenter__", None)
        if enter is not None:
            await enter()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        leave = getattr(self.model, "__aexit__", None)
        if leave is not None:
            await leave(kind, error, trace)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r})"


def find_layer(model: Any, kind: type[Layer]) -> Layer | None:
    """Return the first layer of a class in a stack of wrappers, if any."""
    while model is not None:
        if isinstance(model, kind):
            return model
        model = getattr(model, "model", None)
    return None
