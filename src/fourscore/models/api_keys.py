"""Keys: where one is found, and that it goes nowhere else.

A `ApiKey` is read when a connection pool is opened and lives in it alone. It has no picture, is not
pickled, and takes itself out of whatever an endpoint sends back: some repeat the key that they
refuse, and one that echoes what it was sent would put it into a reply.
"""

import ipaddress
import os
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from fourscore.core import ConfigError

HIDDEN = "[key]"
#: What is shorter stands for no key at all ("EMPTY", "x"), and may stand in any answer.
SHORTEST = 8


class ApiKey:
    """A secret. Only `reveal` shows it, to the one who makes the header."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def hide(self, words: str) -> str:
        """The words without the key, or the longer part of it that an endpoint may repeat."""
        for part in self._parts():
            words = words.replace(part, HIDDEN)
        return words

    def hide_in(self, answer: bytes) -> bytes:
        """The same for an answer as it came: what a model says may be stored, shown and cached."""
        for part in self._parts():
            answer = answer.replace(part.encode(), HIDDEN.encode())
        return answer

    def _parts(self) -> list[str]:
        if len(self._text) < SHORTEST:
            return []
        half = len(self._text) // 2
        return [self._text, *([self._text[:half], self._text[-half:]] if half >= 8 else [])]

    def __repr__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled: name its variable or file instead")


NO_KEY = ApiKey("")


#: Keys that a configuration carried, by a name that may be kept and shown; it begins like this.
HELD = "api_key of "
_HELD: dict[str, ApiKey] = {}
#: Where such a key may stand for processes that did not read the configuration.
ELSEWHERE = ("DASHSCOPE_API_KEY", "OPENAI_API_KEY")


def register_key(model: str, text: str) -> str:
    """Keep a key in this process; the name stands for it wherever a variable would be named."""
    name = f"{HELD}{model}"
    _HELD[name] = _proper(text.strip(), name)
    return name


def _held(name: str) -> ApiKey:
    if name in _HELD:
        return _HELD[name]
    for variable in ELSEWHERE:
        if text := os.environ.get(variable, "").strip():
            return _proper(text, f"the variable {variable}")
    message = "the key of a configuration stays in the process that read it"
    raise ConfigError(f"{message}: for others set {' or '.join(ELSEWHERE)}")


def find_key(
    base_url: str, *, key_env: str | None, key_file: str | None, usual: str = "OPENAI_API_KEY"
) -> ApiKey:
    """The key for an endpoint. A loopback address gets one only where one was named."""
    if key_env is not None and key_file is not None:
        raise ConfigError("name a variable or a file, not both", field="key_env")
    if key_file is not None:
        return _read(key_file)
    if key_env is not None and key_env.startswith(HELD):
        return _held(key_env)
    host = urlsplit(base_url).hostname or ""
    if key_env is None and is_loopback(host):
        return NO_KEY
    variable = key_env or ("DASHSCOPE_API_KEY" if _dashscope(host) else usual)
    text = os.environ.get(variable, "").strip()
    if not text:
        raise ConfigError(f"there is no key for {host}: set {variable}, or name key_file")
    return _proper(text, f"the variable {variable}")


def is_loopback(host: str) -> bool:
    """Whether the host is this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _dashscope(host: str) -> bool:
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
    return _proper(text, f"the file {path}")


def _proper(text: str, place: str) -> ApiKey:
    # A line break in a header is an attack, and an error about it would show the key.
    if not (text.isascii() and text.isprintable() and " " not in text):
        raise ConfigError(f"what is in {place} is not one key on one line")
    return ApiKey(text)
