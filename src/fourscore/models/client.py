"""What every client of an endpoint is: settings, a wire that it closes, a pickle without key."""

from types import TracebackType
from typing import Any, ClassVar, Self

from msgspec.structs import asdict

from fourscore.models.api_keys import ApiKey, find_key
from fourscore.models.endpoint import Wire


class EndpointModel:
    """One model at one endpoint; a subclass knows how it is spoken to."""

    #: The variable in which a key stands where none is named.
    usual_key: ClassVar[str]
    name: str
    settings: Any
    _wire: Wire

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r} at {self._wire.shown})"

    def __reduce__(self) -> tuple[object, ...]:
        settings = asdict(self.settings)
        return (_again, (type(self), settings.pop("model"), settings))

    def check(self) -> None:
        """`ConfigError` where no key can be found: better before a run than in every case of it."""
        self._key()

    def _key(self) -> ApiKey:
        settings = self.settings
        return find_key(
            settings.base_url,
            key_env=settings.key_env,
            key_file=settings.key_file,
            usual=self.usual_key,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._wire.close()


def _again(kind: Any, model: str, settings: dict[str, Any]) -> EndpointModel:
    client: EndpointModel = kind(model, **settings)
    return client
