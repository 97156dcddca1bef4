"""Labels that people give to outputs: pass and fail, shares, levels, or whole numbers on a scale.

A file has one kind of label. `true`, `pass`, `yes` and 1 are a pass where nothing in the file is
finer; a number from 0 to 1 is a share; `excellent` to `failed` are levels; on a scale such as 0:10
a label is a whole number. Each becomes a value from 0 to 1, to compare with a judge's. Labels are
read from case files of any format, in the same row as the recorded output.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from fourscore.core import ConfigError, DataError
from fourscore.core.levels import LEVELS, find_level
from fourscore.core.numbers import check_finite

Kind = Literal["verdict", "share", "level", "scale"]
VERDICTS = {
    **dict.fromkeys(("true", "pass", "passed", "yes", "1"), True),
    **dict.fromkeys(("false", "fail", "failed", "no", "0"), False),
}
#: Levels from the worst to the best.
RANKED_LEVELS = tuple(sorted(LEVELS, key=lambda level: LEVELS[level]))
EXPECTED = "true or false, a number from 0 to 1, or a level such as good"


class Scale(msgspec.Struct, frozen=True):
    """How labels are written, and how they become values."""

    kind: Kind
    low: int = 0
    high: int = 1

    def value(self, written: object) -> float:
        """Return a label as a value in [0, 1]; `ValueError` where it is not on the scale."""
        found = self._read(written)
        if found is None:
            raise ValueError(f"expected {self.expected}, got {_shown(written)}")
        return found

    def grade(self, written: object) -> float:
        """Return a judge's number as a value in [0, 1]; it need not be whole."""
        if self.kind != "scale":
            found = _number(written, ("verdict", "share", "level"))
        else:
            number = _float(written)
            found = None if number is None else (number - self.low) / (self.high - self.low)
        if found is None or not 0 <= found <= 1:
            words = f"{self.low} to {self.high}" if self.kind == "scale" else "0 to 1"
            raise ValueError(f"expected a number from {words}, got {_shown(written)}")
        return found

    def _read(self, written: object) -> float | None:
        if self.kind != "scale":
            return _number(written, (self.kind,))
        number = _float(written)
        if number is None or number % 1 or not self.low <= number <= self.high:
            return None
        return (number - self.low) / (self.high - self.low)

    @property
    def expected(self) -> str:
        words = {
            "verdict": f"{EXPECTED}, of one kind throughout; or give --scale",
            "share": "a number from 0 to 1, as before",
            "level": f"one of {', '.join(reversed(RANKED_LEVELS))}",
            "scale": f"a whole number from {self.low} to {self.high}",
        }
        return words[self.kind]

    def category(self, value: float) -> int:
        """Return the category of a value, for kappa; shares have five levels."""
        if self.kind == "verdict":
            return int(value >= 0.5)
        if self.kind == "scale":
            return round(value * (self.high - self.low))
        return RANKED_LEVELS.index(find_level(value))

    @property
    def categories(self) -> int:
        if self.kind == "scale":
            return self.high - self.low + 1
        return 2 if self.kind == "verdict" else len(RANKED_LEVELS)


def parse_scale(text: str) -> Scale:
    """Return the scale that a text such as `0:10` describes."""
    low, colon, high = text.partition(":")
    try:
        found = Scale("scale", int(low), int(high))
    except ValueError:
        colon = ""
    if not colon or not 0 < found.high - found.low <= 100:
        message = "expected LOW:HIGH in whole numbers at most 100 apart, such as 0:10"
        raise ConfigError(f"{message}; got {text!r}", field="--scale")
    return found


def detect_scale(labels: Iterable[object]) -> Scale:
    """Return the coarsest scale that fits all labels: pass and fail, else shares or levels."""
    kinds: list[Kind] = ["verdict", "share", "level"]
    for written in labels:
        left = [kind for kind in kinds if _number(written, (kind,)) is not None]
        if not left:
            break
        kinds = left
    return Scale(kinds[0])


def read_labels(fields: dict[str, object]) -> list[object]:
    """Return the labels of a row: `labels` of several people (None: no label), or `label`."""
    several, one = fields.get("labels"), fields.get("label")
    if several is not None and one is not None:
        raise DataError("give label or labels, not both", field="labels")
    if several is None:
        if one is None or one == "":
            raise DataError(f"missing: expected {EXPECTED}", field="label")
        return [one]
    if not isinstance(several, Sequence) or isinstance(several, str):
        raise DataError(
            "expected a list, one label a person, null where there is none", field="labels"
        )
    if all(label is None for label in several):
        raise DataError("nobody has labelled it", field="labels")
    return list(several)


def _number(written: object, kinds: Sequence[Kind]) -> float | None:
    """Return a label of one of these kinds as a value in [0, 1]; None for any other label."""
    if isinstance(written, bool):
        return float(written) if "verdict" in kinds else None
    word = str(written).strip().lower() if isinstance(written, str | int) else ""
    if "verdict" in kinds and word in VERDICTS:
        return float(VERDICTS[word])
    if "level" in kinds and word in LEVELS:
        return LEVELS[word]
    number = _float(written) if "share" in kinds else None
    return number if number is not None and 0 <= number <= 1 else None


def _float(written: object) -> float | None:
    """Return a number, also one written as text, as in CSV; None where it is not one."""
    if isinstance(written, bool) or not isinstance(written, str | int | float):
        return None
    try:
        number = float(written) if isinstance(written, str) else written
        check_finite("", number)
        return float(number)
    except (ValueError, OverflowError):
        return None


def _shown(written: object) -> str:
    text = msgspec.json.encode(written).decode()
    return text if len(text) <= 60 else f"{text[:59]}…"
