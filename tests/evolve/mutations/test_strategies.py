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
    acceptance_share,
    choose_strategy,
    draw_strategy,
    select_strategies,
)
from fourscore.formats.yaml_file import read_yaml_file

ALL = select_strategies((), "high")
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
    return Counter(choose_strategy(failures, record, rng, ALL).strategy.name for _ in range(n))


def test_eight_strategies_with_risk_and_instructions() -> None:
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
    assert all(one.en and one.zh and one.signals for one in ALL)
    assert {name for one in ALL for name in one.signals} == {*FITNESS, *RESEARCH}


@pytest.mark.parametrize("signal", [*FITNESS, *RESEARCH])
def test_chooses_strategy_for_weakest_signal(signal: str) -> None:
    others: dict[str, Any] = {name: 0.9 for name in (*FITNESS, *RESEARCH) if name != signal}
    found = chosen([failure(**{**others, signal: 0.2})], MutationRecord())
    assert set(found) == {one.name for one in ALL if signal in one.signals}


def test_unknown_signal_draws_from_all_strategies() -> None:
    record = MutationRecord({"format_change": Tally(98, 97), "persona_adjust": Tally(98, 0, 98)})
    found = chosen([failure(tone=0.1, completeness=0.9)], record, 2000)
    assert set(found) >= set(STRATEGIES) - {"persona_adjust"}
    assert found["format_change"] > 1.5 * found["step_reorder"] > 20 * found["persona_adjust"]
    assert chosen([], record, 50)  # nothing was measured: the record again


def test_acceptance_share_has_prior_and_counts_refusals() -> None:
    record = (
        MutationRecord().add_try("step_reorder", "d1", refused=True).add_try("step_reorder", "d2")
    )
    assert record.get_tally("step_reorder") == Tally(tried=2, accepted=0, refused=1)
    assert acceptance_share("format_change", record) == 0.5
    assert acceptance_share("step_reorder", record) == 0.25
    assert (
        acceptance_share("step_reorder", record.add_try("step_reorder", "d3", accepted=True)) == 0.4
    )


def test_from_tries_equals_repeated_add_try() -> None:
    tries = [
        Try("step_reorder", "a"),
        Try("step_reorder", "b", accepted=True),
        Try("gepa", "", refused=True),
        Try("gepa", "a", refused=True),
    ]
    record = MutationRecord()
    for one in tries:
        record = record.add_try(
            one.strategy, one.digest, accepted=one.accepted, refused=one.refused
        )
    assert MutationRecord.from_tries(tries) == record
    assert record.digests == {"a", "b"}
    assert msgspec.json.decode(msgspec.json.encode(record), type=MutationRecord) == record


def test_prefers_other_strategies_after_three_failed_tries() -> None:
    weak = [failure(structure_score=0.1)]
    answering = {"example_inject", "format_change"}
    record = MutationRecord({name: Tally(PATIENCE) for name in answering})
    assert not set(chosen(weak, record)) & answering
    once = MutationRecord({**record.tallies, "format_change": Tally(PATIENCE, 1)})
    assert set(chosen(weak, once)) == answering
    only = select_strategies(("format_change",), "high")
    assert choose_strategy(weak, record, Random(1), only).strategy.name == "format_change"


def test_same_seed_chooses_same_strategy() -> None:
    weak = [failure(completeness=0.1)]
    runs = [
        [choose_strategy(weak, MutationRecord(), rng, ALL).strategy.name for _ in range(50)]
        for rng in (Random(3), Random(3), Random(4))
    ]
    assert runs[0] == runs[1] != runs[2]
    assert draw_strategy(ALL[:1], MutationRecord(), Random(1)) is ALL[0]


def test_reason_is_one_line_for_hostile_signal_name() -> None:
    named: dict[str, Any] = {"a\nb" + "x" * 500: 0.1}
    why = choose_strategy([failure(**named)], MutationRecord(), Random(1), ALL).why
    assert "\n" not in why
    assert len(why) < 200


def test_selects_strategies_by_name_and_risk() -> None:
    assert {one.risk for one in select_strategies((), "low")} == {"low"}
    assert {one.name for one in select_strategies((), "medium")} == set(STRATEGIES) - {
        "constraint_remove",
        "persona_adjust",
    }
    assert select_strategies(("persona_adjust",), "low") == ()
    with pytest.raises(ConfigError, match="strategies: 'step_order': did you mean step_reorder"):
        select_strategies(("step_order",), "high")
    with pytest.raises(ConfigError, match="max_risk: 'none' is none of low, medium, high"):
        select_strategies((), "none")  # type: ignore[arg-type]


def test_strategies_cover_signals_of_built_in_rubrics() -> None:
    room = Path(fourscore.judges.__file__).parent
    for file, names in (
        ("dimensions/research.yaml", RESEARCH),
        ("fitness/fitness.yaml", FITNESS),
    ):
        assert set(read_yaml_file(str(room / file)).value["dimensions"]) == set(names)
