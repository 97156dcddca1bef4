"""Keys: where one is found, and that it goes nowhere else.

A `Key` is read when a connection pool is opened and lives in it alone. It has no picture, is not
pickled, and takes itself out of the words that an endpoint sends back: some repeat the key that
they refuse.
"""

import ipaddress
import os
from pathlib import Path
from typing import NoReturn
from urllib.parse import urlsplit

from rubrica.core import ConfigError

HIDDEN = "[key]"


class Key:
    """A secret. Only `reveal` shows it, to the one who makes the header."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def hide(self, words: str) -> str:
        """The words without the key, or the longer part of it that an endpoint may repeat."""
        if not self._text:
            return words
        words = words.replace(self._text, HIDDEN)
        half = len(self._text) // 2
        if half >= 8:
            for part in (self._text[:half], self._text[-half:]):
                words = words.replace(part, HIDDEN)
        return words

    def __repr__(self) -> str:
        return HIDDEN

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not pickled: name its variable or file instead")


NO_KEY = Key("")


def key_from(
    base_url: str, *, key_env: str | None, key_file: str | None, usual: str = "OPENAI_API_KEY"
) -> Key:
    """The key for an endpoint. A loopback address gets one only where one was named."""
    if key_env is not None and key_file is not None:
        raise ConfigError("name a variable or a file, not both", field="key_env")
    if key_file is not None:
        return _read(key_file)
    host = urlsplit(base_url).hostname or ""
    if key_env is None and loopback(host):
        return NO_KEY
    variable = key_env or ("DASHSCOPE_API_KEY" if _dashscope(host) else usual)
    text = os.environ.get(variable, "").strip()
    if not text:
        raise ConfigError(f"there is no key for {host}: set {variable}, or name key_file")
    return _proper(text, f"the variable {variable}")


def loopback(host: str) -> bool:
    """Whether the host is this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _dashscope(host: str) -> bool:
    return host.endswith(".aliyuncs.com") and host.startswith("dashscope")


def _read(path: str) -> Key:
    try:
        text = Path(path).expanduser().read_text(encoding="utf-8").strip()
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path, field="key_file") from None
    except UnicodeDecodeError:
        raise ConfigError("not text", file=path, field="key_file") from None
    if not text:
        raise ConfigError("the file is empty", file=path, field="key_file")
    return _proper(text, f"the file {path}")


def _proper(text: str, place: str) -> Key:
    # A line break in a header is an attack, and an error about it would show the key.
    if not (text.isascii() and text.isprintable() and " " not in text):
        raise ConfigError(f"what is in {place} is not one key on one line")
    return Key(text)
