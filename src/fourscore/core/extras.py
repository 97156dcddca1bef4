"""Optional packages: which extra installs them, and one message for all that are missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from fourscore.core.errors import ConfigError

#: The packages that each extra of `fourscore` installs; they are imported only where used.
EXTRAS = {
    "checks": ("py3langid", "sacrebleu", "sqlglot"),
    "gepa": ("gepa",),
    "local": ("numpy", "onnxruntime", "tokenizers"),
    "math": ("math_verify",),
    "otel": ("opentelemetry.proto",),
    "parquet": ("pyarrow",),
}


class MissingExtraError(ConfigError):
    """Optional packages are missing; the message says which use needs them and how to install."""

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
    """Collects the missing extras of several steps of a command, to raise one error for all."""

    def __init__(self) -> None:
        self.needs: dict[str, str] = {}

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Collect a `MissingExtraError` of the block instead of raising it."""
        try:
            yield
        except MissingExtraError as error:
            self.needs |= error.needs

    def raise_if_any(self) -> None:
        """Raise one `MissingExtraError` for all collected extras, if any."""
        if self.needs:
            raise MissingExtraError(self.needs)
