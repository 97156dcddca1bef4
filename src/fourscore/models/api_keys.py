"""API keys: where a key is found, and how it is kept out of everything else.

An `ApiKey` is read when connections are opened, and kept with them alone. Its `repr` is hidden, it
cannot be pickled, and it is removed from what an endpoint sends back: some endpoints repeat the key
that they refuse, and one that echoes the request would put it into a reply.
"""

import ipaddress
import os
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from fourscore.core import ConfigError
from fourscore.core.secrets import HIDDEN, MIN_LENGTH, hide_known, remember_secrets


class ApiKey:
    """A secret. Only `reveal` returns it, for the header."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text
        remember_secrets(text)

    def reveal(self) -> str:
        return self._text

    def hide(self, text: str) -> str:
        """Return the text without the key, or the half of it that an endpoint may repeat."""
        for part in self._parts():
            text = text.replace(part, HIDDEN)
        return hide_known(text)

    def hide_in(self, body: bytes) -> bytes:
        """Return a reply without the key: it may be stored, shown and cached."""
        for part in self._parts():
            body = body.replace(part.encode(), HIDDEN.encode())
        return body

    def _parts(self) -> list[str]:
        if len(self._text) < MIN_LENGTH:
            return []
        half = len(self._text) // 2
        return [self._text, *([self._text[:half], self._text[-half:]] if half >= 8 else [])]

    def __repr__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled: name its variable or file instead")


NO_KEY = ApiKey("")


#: How the names of keys begin that a configuration file carried; the names may be stored and shown.
REGISTERED = "api_key of "
_REGISTERED: dict[str, ApiKey] = {}
#: Variables of such a key for processes that did not read the configuration.
FALLBACK_ENV = ("DASHSCOPE_API_KEY", "OPENAI_API_KEY")


def register_key(model: str, text: str) -> str:
    """Keep a key in this process and return a name for it, to be used like that of a variable."""
    name = f"{REGISTERED}{model}"
    _REGISTERED[name] = _check_key(text.strip(), name)
    return name


def _find_registered(name: str) -> ApiKey:
    if name in _REGISTERED:
        return _REGISTERED[name]
    for variable in FALLBACK_ENV:
        if text := os.environ.get(variable, "").strip():
            return _check_key(text, f"the variable {variable}")
    message = "a key from a configuration file exists only in the process that read it"
    raise ConfigError(f"{message}: for other processes set {' or '.join(FALLBACK_ENV)}")


def find_key(
    base_url: str, *, key_env: str | None, key_file: str | None, default_env: str = "OPENAI_API_KEY"
) -> ApiKey:
    """Return the key for an endpoint; one on loopback gets a key only where one is named."""
    if key_env is not None and key_file is not None:
        raise ConfigError("name a variable or a file, not both", field="key_env")
    if key_file is not None:
        return _read(key_file)
    if key_env is not None and key_env.startswith(REGISTERED):
        return _find_registered(key_env)
    host = urlsplit(base_url).hostname or ""
    if key_env is None and is_loopback(host):
        return NO_KEY
    variable = key_env or ("DASHSCOPE_API_KEY" if _is_dashscope(host) else default_env)
    text = os.environ.get(variable, "").strip()
    if not text:
        raise ConfigError(f"there is no key for {host}: set {variable}, or name key_file")
    return _check_key(text, f"the variable {variable}")


def is_loopback(host: str) -> bool:
    """Whether the host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_dashscope(host: str) -> bool:
    return host.endswith(".aliyuncs.com") and host.startswith("dashscope")


def _read(path: str) -> ApiKey:
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path, field="key_file") from None
    except UnicodeDecodeError:
        raise ConfigError("not text", file=path, field="key_file") from None
    if not text:
        raise ConfigError("the file is empty", file=path, field="key_file")
    return _check_key(text, f"the file {path}")


def _check_key(text: str, place: str) -> ApiKey:
    # A line break in a header is an attack, and an error about it would show the key.
    if not (text.isascii() and text.isprintable() and " " not in text):
        raise ConfigError(f"{place} does not hold one key on one line")
    return ApiKey(text)
