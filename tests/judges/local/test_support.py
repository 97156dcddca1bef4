"""Verdicts of a local model: as the reader gives them, for each kind of model."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.judges.local.conftest import MakeFolder
from tokenizers import Encoding

from fourscore.judges.local import LocalModel, judge_claims_locally, judge_topics_locally
from fourscore.judges.reader.support import ClaimVerdict, judge_claims
from fourscore.judges.reader.text import read_text

TEXT = read_text(
    "It rains in Spain today. Paris is the capital of France. A dog sleeps in the sun."
)
CAPITAL, LYON = "Paris is the capital of France.", "Lyon is the capital of Spain."


@pytest.fixture(params=["entailment", "contradiction", "embedding"])
def any_model(
    request: pytest.FixtureRequest, make_entailment: MakeFolder, make_embedding: MakeFolder
) -> LocalModel:
    if request.param == "embedding":
        folder = make_embedding()
    elif request.param == "entailment":
        folder = make_entailment()
    else:
        folder = make_entailment(("not_contradiction", "contradiction"))
    opened = LocalModel(str(folder))
    assert opened.kind == request.param
    return opened


def test_verdicts_have_the_type_of_the_reader(any_model: LocalModel) -> None:
    claims = [CAPITAL, LYON, "", "x" * 50_000]
    ours = judge_claims_locally(any_model, claims, TEXT, "What is the capital?")
    theirs = judge_claims(claims, TEXT, "What is the capital?")
    assert [type(one) for one in ours] == [type(one) for one in theirs]
    for verdict in ours:
        assert verdict.kind in ("supported", "contradicted", "not stated")
        assert 0 <= verdict.support <= 1
        assert 0 <= verdict.contradiction <= 1
        assert 0 <= verdict.start <= verdict.end <= len(TEXT.raw)


def test_a_text_without_a_sentence_states_nothing(any_model: LocalModel) -> None:
    nothing = ClaimVerdict("not stated", 0.0, 0.0, 0, 0)
    assert judge_claims_locally(any_model, [CAPITAL], read_text(" \n")) == [nothing]
    assert judge_claims_locally(any_model, [], TEXT) == []


def test_a_claim_does_not_depend_on_the_others(any_model: LocalModel) -> None:
    claims = [CAPITAL, LYON, "The dog sleeps."]
    together = judge_claims_locally(any_model, claims, TEXT)
    for claim, verdict in zip(claims, together, strict=True):
        [alone] = judge_claims_locally(any_model, [claim], TEXT)
        assert alone[0] == verdict[0]
        assert alone[1:] == pytest.approx(verdict[1:], abs=1e-6)


def test_the_deciding_sentence_is_named(any_model: LocalModel) -> None:
    [verdict] = judge_claims_locally(any_model, [CAPITAL], TEXT)
    assert TEXT.raw[verdict.start : verdict.end] == CAPITAL


def test_entailment_gives_all_three_kinds(make_entailment: MakeFolder) -> None:
    opened = LocalModel(str(make_entailment()))
    claims = [CAPITAL, "Paris is not the capital of France.", "The cat shines."]
    verdicts = judge_claims_locally(opened, claims, TEXT)
    assert [one.kind for one in verdicts] == ["supported", "contradicted", "not stated"]


def test_a_bare_answer_is_read_with_its_question(make_entailment: MakeFolder) -> None:
    opened = LocalModel(str(make_entailment()))
    question, text = "The capital of France is", read_text("Paris.")
    [right, wrong] = judge_claims_locally(opened, ["Paris", "Lyon not"], text, question)
    assert right.kind == "supported"
    assert wrong.kind != "supported"


def test_an_embedding_model_never_finds_contradiction(make_embedding: MakeFolder) -> None:
    opened = LocalModel(str(make_embedding()))
    claims = [CAPITAL, "Paris is not the capital of France.", "One cat shines."]
    stated, denied, other = judge_claims_locally(opened, claims, TEXT)
    assert stated.kind == denied.kind == "supported"
    assert other.kind == "not stated"
    assert [one.contradiction for one in (stated, denied, other)] == [0.0, 0.0, 0.0]


def test_finds_the_topics_that_a_text_mentions(any_model: LocalModel) -> None:
    mentioned, other = judge_topics_locally(any_model, ["capital", "cat"], TEXT)
    assert mentioned.kind == "supported"
    assert TEXT.raw[mentioned.start : mentioned.end] == CAPITAL
    assert other.kind == "not stated"
    assert mentioned.contradiction == other.contradiction == 0.0
    assert [one.kind for one in judge_topics_locally(any_model, ["cat"], read_text(""))] == [
        "not stated"
    ]


@pytest.mark.parametrize("piece", ["a", ".", "中", "It rains. ", "a\n", "🙂", "\ud800"])
def test_reads_only_the_beginning_of_a_long_text(
    any_model: LocalModel, piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[tuple[int, int]] = []
    run = LocalModel._run

    def count(self: LocalModel, encodings: Sequence[Encoding]) -> list[Any]:
        runs.append((len(encodings), max(len(one) for one in encodings)))
        return run(self, encodings)

    monkeypatch.setattr(LocalModel, "_run", count)
    for size in (100_000, 400_000):
        judge_claims_locally(any_model, [CAPITAL, LYON], read_text(piece * (size // len(piece))))
    half = len(runs) // 2
    assert runs[:half] == runs[half:]
    assert sum(number for number, _ in runs[:half]) <= 202
    assert max(length for _, length in runs) <= any_model.max_tokens
