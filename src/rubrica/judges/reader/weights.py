"""What was learned from public data: how much each word weighs, and what each feature is worth.

`weights.json` is written by `tools/train_reader.py` and holds nothing but numbers and word stems.
"""

from functools import cache, lru_cache
from pathlib import Path

import msgspec

from rubrica.core import ConfigError

SHIPPED = Path(__file__).with_name("weights.json")


class LinearModel(msgspec.Struct, frozen=True):
    """A logistic regression: its intercept and one coefficient for each named feature."""

    intercept: float
    coefficients: dict[str, float]


class Weights(msgspec.Struct, frozen=True):
    """All that was learned. `cut` is the probability from which a claim counts as supported."""

    support: LinearModel
    contradiction: LinearModel
    cut: float
    contradiction_cut: float
    #: How rare a stem is, from 0 to 1; one that is not listed is rare.
    words: dict[str, float]


class Fitted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `calibrate --fit` writes: a model of support for one rubric, and how it was made."""

    support: LinearModel
    cut: float
    judge: str
    labels: int
    shipped_log_loss: float
    fitted_log_loss: float


@cache
def shipped_weights() -> Weights:
    """The weights that ship with the package."""
    return msgspec.json.decode(SHIPPED.read_bytes(), type=Weights)


@lru_cache(maxsize=16)
def read_weights(path: str | None) -> Weights:
    """The shipped weights, or those of a file in which `calibrate --fit` has put others."""
    shipped = shipped_weights()
    if path is None:
        return shipped
    try:
        fitted = msgspec.json.decode(Path(path).read_bytes(), type=Fitted)
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path, field="weights") from None
    except msgspec.DecodeError as error:
        raise ConfigError(f"no weights of `calibrate --fit`: {error}", file=path) from None
    odd = sorted(set(fitted.support.coefficients) ^ set(shipped.support.coefficients))
    if odd:
        raise ConfigError(f"made by another version: {odd[0]}", file=path, field="support")
    return msgspec.structs.replace(shipped, support=fitted.support, cut=fitted.cut)


def word_weight(stem: str) -> float:
    """How much a word tells: 1 for a rare one, near 0 for one that stands in every text."""
    return shipped_weights().words.get(stem, 1.0)
