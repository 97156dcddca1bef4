"""Which strategy is next."""

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from tests.evolve.mutations.planted_failures import failure

import fourscore.judges
from fourscore.core import ConfigError
from fourscore.evolve.mutations.failures import Failure
from fourscore.evolve.mutations.strategies import (
    PATIENCE,
    RISKS,
    STRATEGIES,
    MutationRecord,
    Tally,
    Try,
    allowed,
    choose,
    roulette,
    share,
)
from fourscore.formats.yaml_file import read_document

ALL = allowed((), "high")
FITNESS = ("tool_success_rate", "output_quality", "efficiency", "error_rate", "structure_score")
RESEARCH = (
    "factual_accuracy",
    "completeness",
    "citation_accuracy",
    "source_quality",
    "tool_efficiency",
)


def chosen(failures: list[Failure], record: MutationRecord, n: int = 300) -> Counter[str]:
    rng = Random(7)
    return Counter(choose(failures, record, rng, ALL).strategy.name for _ in range(n))


def test_there_are_eight_and_each_has_a_risk_and_words_in_two_languages() -> None:
    assert list(STRATEGIES) == [
        "instruction_rephrase",
        "step_reorder",
        "constraint_add",
        "constraint_remove",
        "example_inject",
        "emphasis_shift",
        "format_change",
        "persona_adjust",
    ]
    assert {one.risk for one in ALL} == set(RISKS)
    assert all(one.en and one.zh and one.answers for one in ALL)
    assert {name for one in ALL for name in one.answers} == {*FITNESS, *RESEARCH}


@pytest.mark.parametrize("signal", [*FITNESS, *RESEARCH])
def test_the_weakest_signal_decides(signal: str) -> None:
    others: dict[str, Any] = {name: 0.9 for name in (*FITNESS, *RESEARCH) if name != signal}
    found = chosen([failure(**{**others, signal: 0.2})], MutationRecord())
    assert set(found) == {one.name for one in ALL if signal in one.answers}


def test_a_signal_of_ones_own_falls_back_to_the_record() -> None:
    record = MutationRecord({"format_change": Tally(98, 97), "persona_adjust": Tally(98, 0, 98)})
    found = chosen([failure(tone=0.1, completeness=0.9)], record, 2000)
    assert set(found) >= set(STRATEGIES) - {"persona_adjust"}
    assert found["format_change"] > 1.5 * found["step_reorder"] > 20 * found["persona_adjust"]
    assert chosen([], record, 50)  # nothing was measured: the record again


def test_the_share_has_a_prior_and_a_refused_try_counts() -> None:
    record = MutationRecord().after("step_reorder", "d1", refused=True).after("step_reorder", "d2")
    assert record.of("step_reorder") == Tally(tried=2, accepted=0, refused=1)
    assert share("format_change", record) == 0.5
    assert share("step_reorder", record) == 0.25
    assert share("step_reorder", record.after("step_reorder", "d3", accepted=True)) == 0.4


def test_a_record_of_many_tries_is_that_of_one_after_the_other() -> None:
    tries = [
        Try("step_reorder", "a"),
        Try("step_reorder", "b", accepted=True),
        Try("gepa", "", refused=True),
        Try("gepa", "a", refused=True),
    ]
    record = MutationRecord()
    for one in tries:
        record = record.after(one.strategy, one.digest, accepted=one.accepted, refused=one.refused)
    assert MutationRecord.of_tries(tries) == record
    assert record.digests == {"a", "b"}
    assert msgspec.json.decode(msgspec.json.encode(record), type=MutationRecord) == record


def test_what_never_helped_makes_room_for_the_others() -> None:
    weak = [failure(structure_score=0.1)]
    answering = {"example_inject", "format_change"}
    record = MutationRecord({name: Tally(PATIENCE) for name in answering})
    assert not set(chosen(weak, record)) & answering
    once = MutationRecord({**record.tallies, "format_change": Tally(PATIENCE, 1)})
    assert set(chosen(weak, once)) == answering
    only = allowed(("format_change",), "high")
    assert choose(weak, record, Random(1), only).strategy.name == "format_change"


def test_the_same_seed_chooses_the_same() -> None:
    weak = [failure(completeness=0.1)]
    runs = [
        [choose(weak, MutationRecord(), rng, ALL).strategy.name for _ in range(50)]
        for rng in (Random(3), Random(3), Random(4))
    ]
    assert runs[0] == runs[1] != runs[2]
    assert roulette(ALL[:1], MutationRecord(), Random(1)) is ALL[0]


def test_why_is_one_line_whatever_a_signal_is_called() -> None:
    named: dict[str, Any] = {"a\nb" + "x" * 500: 0.1}
    why = choose([failure(**named)], MutationRecord(), Random(1), ALL).why
    assert "\n" not in why
    assert len(why) < 200


def test_risks_and_names_limit_the_choice() -> None:
    assert {one.risk for one in allowed((), "low")} == {"low"}
    assert {one.name for one in allowed((), "medium")} == set(STRATEGIES) - {
        "constraint_remove",
        "persona_adjust",
    }
    assert allowed(("persona_adjust",), "low") == ()
    with pytest.raises(ConfigError, match="strategies: 'step_order': did you mean step_reorder"):
        allowed(("step_order",), "high")
    with pytest.raises(ConfigError, match="most_risk: 'none' is none of low, medium, high"):
        allowed((), "none")  # type: ignore[arg-type]


def test_the_signals_are_those_of_the_rubrics_that_ship() -> None:
    room = Path(fourscore.judges.__file__).parent
    for file, names in (
        ("dimensions/research.yaml", RESEARCH),
        ("fitness/fitness.yaml", FITNESS),
    ):
        assert set(read_document(str(room / file)).value["dimensions"]) == set(names)
