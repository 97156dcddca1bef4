"""Reads secrets from the environment or a file: keys, and URLs that contain a key."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fourscore.core import ConfigError
from fourscore.core.secrets import remember_secrets, remember_spec

#: Characters read of a secret's file.
MAX_LENGTH = 1 << 16


class Secret:
    """A secret text. Only `reveal` returns it; `repr` hides it, and it cannot be pickled."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text
        remember_spec(text)
        # Libraries quote only the path of an address, and that of Slack is the secret.
        remember_secrets(text, text.partition("://")[2].partition("/")[2])

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(***)"

    def __reduce__(self) -> Any:
        raise TypeError("a secret cannot be pickled")


def read_secret(
    field: str,
    variable: str | None,
    file: str | None,
    environment: Mapping[str, str] = os.environ,
) -> Secret | None:
    """Read the secret from `variable` (setting `FIELD_env`) or `file` (`FIELD_file`), if given."""
    if variable is not None and file is not None:
        raise ConfigError(f"give {field}_env or {field}_file, not both", field=f"{field}_file")
    if variable is not None:
        text = environment.get(variable, "").strip()
        if not text:
            raise ConfigError(
                f"the environment variable {variable} is not set or empty", field=f"{field}_env"
            )
        return Secret(text)
    if file is None:
        return None
    try:
        with Path(file).open(encoding="utf-8") as stream:
            text = stream.read(MAX_LENGTH).strip()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror}", field=f"{field}_file") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8", field=f"{field}_file") from None
    if not text:
        raise ConfigError(f"{file}: the file is empty", field=f"{field}_file")
    return Secret(text)
