"""Prices of tokens: dollars per million, list prices of about the day `AS_OF`.

Only Anthropic's were compared with the vendor's own page; check those that matter to you. Discounts
(cached prompts, batches) are not included. A user's own table, mapping or YAML file, goes first:

    gpt-4o-mini: {input: 0.15, output: 0.60}

A model that is in neither has no price: its dollars are 0, and reports say so.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from fourscore.core import ConfigError, Usage
from fourscore.core.numbers import check_finite

AS_OF = "2025-11-25"
#: Of a user's own table.
MAX_BYTES = 100_000
#: The date in the name of a release, which costs what the model does.
RELEASE_DATE = re.compile(r"-(\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


class Price(msgspec.Struct, frozen=True):
    """Dollars for a million input and a million output tokens."""

    input: float
    output: float

    def __post_init__(self) -> None:
        check_finite("input", self.input, low=0)
        check_finite("output", self.output, low=0)

    def dollars(self, usage: Usage) -> float:
        return (usage.input_tokens * self.input + usage.output_tokens * self.output) / 1e6


_LISTED = """
gpt-5 1.25 10, gpt-5.1 1.25 10, gpt-5-mini 0.25 2, gpt-5-nano 0.05 0.4, gpt-4.1 2 8
gpt-4.1-mini 0.4 1.6, gpt-4.1-nano 0.1 0.4, gpt-4o 2.5 10, gpt-4o-mini 0.15 0.6
o1 15 60, o3 2 8, o3-mini 1.1 4.4, o4-mini 1.1 4.4
claude-opus-4-5 5 25, claude-opus-4-1 15 75, claude-opus-4 15 75, claude-opus-4-0 15 75
claude-sonnet-4-5 3 15, claude-sonnet-4 3 15, claude-sonnet-4-0 3 15, claude-3-7-sonnet 3 15
claude-haiku-4-5 1 5, claude-3-5-haiku 0.8 4, claude-3-haiku 0.25 1.25
qwen3-max 1.2 6, qwen-max 1.6 6.4, qwen-plus 0.4 1.2, qwen-flash 0.05 0.4, qwen-turbo 0.05 0.2
deepseek-chat 0.28 0.42, deepseek-reasoner 0.28 0.42
gemini-2.5-pro 1.25 10, gemini-2.5-flash 0.3 2.5, gemini-2.5-flash-lite 0.1 0.4
"""


@cache
def list_prices() -> dict[str, Price]:
    """Return the built-in table."""
    rows = [row.split() for row in _LISTED.replace("\n", ",").split(",") if row.strip()]
    return {name: Price(float(read), float(written)) for name, read, written in rows}


class Prices:
    """Prices by model, the user's own first."""

    def __init__(self, own: Mapping[str, Any] | str | Path | None = None) -> None:
        file = str(own) if isinstance(own, str | Path) else None
        table: Any = _read(file) if file is not None else (own or {})
        if not isinstance(table, Mapping):
            raise ConfigError("expected a mapping of models to prices", file=file, field="prices")
        self._own = {
            str(name): _parse_price(str(name), value, file) for name, value in table.items()
        }

    def find(self, model: str) -> Price | None:
        """Return the price of a model, or of the model that it is a dated release of."""
        for name in (model, RELEASE_DATE.sub("", model)):
            for table in (self._own, list_prices()):
                if name in table:
                    return table[name]
        return None


def _parse_price(name: str, value: Any, file: str | None) -> Price:
    if isinstance(value, Price):
        return value
    try:
        price = msgspec.convert(value, Price)
    except (msgspec.ValidationError, ValueError):
        message = "expected {input: dollars, output: dollars}, each per million tokens"
        raise ConfigError(message, file=file, field=f"prices.{name}") from None
    return price


def _read(path: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        with Path(path).open("rb") as stream:
            text = stream.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            raise ConfigError(f"longer than {MAX_BYTES:,} bytes", file=path)
        _check_events(text, path)
        return YAML(typ="safe", pure=True).load(text) or {}
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path) from None
    except (YAMLError, ValueError, LookupError, ArithmeticError, TypeError) as error:
        raise ConfigError(f"not YAML: {(str(error).splitlines() or [''])[0]}", file=path) from None


def _check_events(text: bytes, path: str) -> None:
    """Refuse aliases and deep nesting, which cost time and memory; no table of prices has them."""
    from ruamel.yaml import YAML
    from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent

    depth = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if getattr(event, "anchor", None) is not None or depth > 3:
            message = "expected only models with their prices, without aliases"
            raise ConfigError(message, file=path, line=event.start_mark.line + 1)
