"""Optional packages: which extra has them, and one message that names all that a command lacks."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from fourscore.core.errors import ConfigError

#: The packages of each extra of the distribution that are imported only where they are used.
EXTRAS = {
    "gepa": ("gepa",),
    "local": ("numpy", "onnxruntime", "tokenizers"),
    "math": ("math_verify",),
    "otel": ("opentelemetry.proto",),
    "parquet": ("pyarrow",),
}


class MissingExtraError(ConfigError):
    """Packages are missing that what was asked for needs; the message says how to install them."""

    def __init__(self, needs: dict[str, str]) -> None:
        self.needs = needs
        uses = " and ".join(f"{use} ({', '.join(EXTRAS[extra])})" for extra, use in needs.items())
        extras = ",".join(sorted(needs))
        super().__init__(f"packages are missing for {uses}: pip install 'fourscore[{extras}]'")

    def __reduce__(self) -> tuple[object, ...]:
        return (MissingExtraError, (self.needs,))


def require_extra(extra: str, use: str) -> None:
    """Raise `MissingExtraError` unless the packages of an extra are installed.

    `use` is the option or file that needs them, in the user's words.
    """
    if not all(map(_is_installed, EXTRAS[extra])):
        raise MissingExtraError({extra: use})


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:  # the package that it is part of is missing
        return False


class MissingExtras:
    """Collects what several steps of a command lack, so that it is named once and together."""

    def __init__(self) -> None:
        self.needs: dict[str, str] = {}

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Note the extras that the block lacks instead of raising."""
        try:
            yield
        except MissingExtraError as error:
            self.needs |= error.needs

    def raise_if_any(self) -> None:
        """Raise one `MissingExtraError` for all that was collected."""
        if self.needs:
            raise MissingExtraError(self.needs)
