"""The reader's learned weights: of words, and of the features of a claim.

`weights.json` is written by `tools/train_reader.py` and holds nothing but numbers and word stems.
"""

from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec

from fourscore.core import ConfigError, digest

SHIPPED = Path(__file__).with_name("weights.json")


class LinearModel(msgspec.Struct, frozen=True):
    """A logistic regression: its intercept and one coefficient for each named feature."""

    intercept: float
    coefficients: dict[str, float]


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """All learned weights. `cut` is the probability from which a claim counts as supported."""

    support: LinearModel
    contradiction: LinearModel
    cut: float
    contradiction_cut: float
    #: How rare a stem is, from 0 to 1; a stem that is not listed is rare.
    words: dict[str, float]
    #: A digest of the weights, for a judge's fingerprint; and the number of the user's labels used.
    version: str = ""
    labels: int = 0


class HeldOut(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How good weights were on labels that they were not fitted to."""

    log_loss: float
    balanced_accuracy: float


class Fitted(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The file of `calibrate --fit`: a model of support for one rubric, and how it was fitted."""

    support: LinearModel
    cut: Annotated[float, msgspec.Meta(ge=0, le=1)]
    labels: int
    cases: int
    #: A digest of the labelled outputs, and the day.
    data: str
    date: str
    shipped: HeldOut
    fitted: HeldOut


@cache
def shipped_weights() -> Weights:
    """Return the weights that ship with the package."""
    raw = SHIPPED.read_bytes()
    weights = msgspec.json.decode(raw, type=Weights)
    return msgspec.structs.replace(weights, version=digest(raw.decode(), size=8))


def read_weights(path: str | None) -> Weights:
    """Return the shipped weights, or those of a file that `calibrate --fit` wrote."""
    shipped = shipped_weights()
    if path is None:
        return shipped
    try:
        raw = Path(path).read_bytes()
        fitted = msgspec.json.decode(raw, type=Fitted)
    except OSError as error:
        raise ConfigError(error.strerror or "cannot be read", file=path, field="weights") from None
    except msgspec.DecodeError as error:
        message = f"not a file of weights that `calibrate --fit` wrote: {error}"
        raise ConfigError(message, file=path) from None
    odd = sorted(set(fitted.support.coefficients) ^ set(shipped.support.coefficients))
    if odd:
        message = f"fitted by another version ({odd[0]}): run `calibrate --fit` again"
        raise ConfigError(message, file=path, field="support")
    return msgspec.structs.replace(
        shipped,
        support=fitted.support,
        cut=fitted.cut,
        version=digest([shipped.version, raw.decode()], size=8),
        labels=fitted.labels,
    )


def word_weight(stem: str) -> float:
    """Return the weight of a word: 1 for a rare one, near 0 for one that is in every text."""
    return shipped_weights().words.get(stem, 1.0)
