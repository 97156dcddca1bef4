"""Dimensions judged with `by: local`: the model decides, and the reason names it."""

import asyncio
from pathlib import Path

import pytest
from tests.judges.local.conftest import MakeFolder

from fourscore.core import Case, ConfigError, Signal, Trace
from fourscore.judges.loading import load_judge

CASE = Case(
    input="What is the capital?",
    expected={"claims": [{"text": "Paris is the capital of France."}], "aspects": ["the capital"]},
)


def judge(name: str, folder: Path, output: str) -> Signal:
    judge = load_judge(name, None, {"by": "local", "model": str(folder)})
    (signal,) = asyncio.run(judge.judge(CASE, Trace(output=output)))
    assert isinstance(signal, Signal)
    return signal


@pytest.mark.parametrize("name", ["factual_accuracy", "completeness"])
def test_finds_a_statement_and_names_the_model_in_the_reason(
    name: str, make_entailment: MakeFolder
) -> None:
    folder = make_entailment()
    found = judge(name, folder, "Paris is the capital of France.")
    missing = judge(name, folder, "A dog sleeps in the sun.")
    assert found.value is not None
    assert missing.value is not None
    assert found.value > missing.value
    assert f"by the local model {folder}" in found.reason


def test_a_denied_statement_earns_nothing(make_entailment: MakeFolder) -> None:
    signal = judge("factual_accuracy", make_entailment(), "Paris is not the capital of France.")
    assert signal.value == 0.0


def test_the_fingerprint_changes_with_the_model(
    make_entailment: MakeFolder, make_embedding: MakeFolder
) -> None:
    prints = {
        load_judge("citation_accuracy", None, {"by": "local", "model": str(folder)}).fingerprint
        for folder in (make_entailment(), make_embedding())
    }
    assert len(prints) == 2


def test_a_missing_model_is_an_error_when_the_judge_is_made(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        load_judge("factual_accuracy", None, {"by": "local", "model": str(tmp_path / "nowhere")})


def test_refuses_fitted_weights(make_entailment: MakeFolder, tmp_path: Path) -> None:
    options = {"by": "local", "model": str(make_entailment()), "weights": str(tmp_path / "w.json")}
    with pytest.raises(ConfigError, match="weights"):
        load_judge("factual_accuracy", None, options)
