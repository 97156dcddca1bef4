"""The shipped weights, and those that were fitted to a user's labels."""

import json
from pathlib import Path
from typing import Any

import pytest

from fourscore.core import ConfigError
from fourscore.judges.reader.weights import SHIPPED, read_weights, shipped_weights, word_weight


def fitted(**changes: Any) -> dict[str, Any]:
    held_out = {"log_loss": 0.5, "balanced_accuracy": 0.7}
    support = {"intercept": 0.5, "coefficients": dict(shipped_weights().support.coefficients)}
    return {
        "support": support,
        "cut": 0.6,
        "labels": 120,
        "cases": 60,
        "data": "abc",
        "date": "2026-01-01",
        "shipped": held_out,
        "fitted": held_out,
        **changes,
    }


def test_ships_a_small_file() -> None:
    assert SHIPPED.stat().st_size < 100_000
    weights = read_weights(None)
    assert 0 < weights.cut < 1
    assert weights.version


def test_common_words_weigh_less() -> None:
    assert word_weight("the") < 0.3
    assert word_weight("的") < 0.3
    assert word_weight("zyzzyva") == 1.0


def test_reads_fitted_weights(tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(json.dumps(fitted()))
    weights = read_weights(str(path))
    assert (weights.support.intercept, weights.cut, weights.labels) == (0.5, 0.6, 120)
    assert weights.words == shipped_weights().words
    assert weights.version != shipped_weights().version


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "not a file of weights"),
        ("[]", "not a file of weights"),
        (json.dumps(fitted(cut=2)), "not a file of weights"),
        (json.dumps(fitted(cut="high")), "not a file of weights"),
        (json.dumps(fitted(more=1)), "not a file of weights"),
        (json.dumps(fitted(support={"intercept": 0, "coefficients": {"x": 1}})), "another version"),
    ],
)
def test_refuses_broken_weights(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "weights.json"
    path.write_text(content)
    with pytest.raises(ConfigError, match=message):
        read_weights(str(path))


def test_refuses_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        read_weights(str(tmp_path / "none.json"))
