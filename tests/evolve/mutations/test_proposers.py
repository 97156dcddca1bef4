"""Proposers by name."""

import asyncio
import subprocess
import sys
from random import Random

import pytest
from tests.evolve.mutations.planted_failures import PARENT, failure, writing

from fourscore.core import ConfigError
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.model_proposer import Writer
from fourscore.evolve.mutations.proposers import Proposal, Proposer, proposer_of
from fourscore.evolve.mutations.rule_proposer import Operators
from fourscore.evolve.mutations.strategies import MutationRecord

NEW = PARENT.replace("Be polite.", "Be polite and calm.")
CHECKS = Checks(longest=3.0)


def test_rules_without_a_model_and_the_model_where_there_is_one() -> None:
    rules = proposer_of(checks=CHECKS, constraints=["Be calm."], most_risk="medium")
    assert rules == Operators(checks=CHECKS, constraints=("Be calm.",), most_risk="medium")
    model = writing(NEW)
    for kind in (None, "model"):
        found = proposer_of(kind, model, checks=CHECKS, strategies=["step_reorder"])
        assert found == Writer(model=model, checks=CHECKS, strategies=("step_reorder",))
    assert isinstance(proposer_of("rules", model), Operators)


def test_gepa_by_name() -> None:
    pytest.importorskip("gepa")
    from fourscore.evolve.mutations.gepa import GepaProposer

    model = writing(NEW)
    assert proposer_of("gepa", model, checks=CHECKS) == GepaProposer(model=model, checks=CHECKS)


def test_mistakes_are_told_at_once() -> None:
    with pytest.raises(ConfigError, match="proposer: 'geppa': did you mean gepa"):
        proposer_of("geppa")
    for kind in ("model", "gepa"):
        with pytest.raises(ConfigError, match=f"model: the proposer '{kind}' needs a model"):
            proposer_of(kind)


def test_all_of_them_are_asked_alike() -> None:
    some: list[Proposer] = [proposer_of(), proposer_of(model=writing(NEW))]
    for one in some:
        found = asyncio.run(
            one.propose(PARENT, [failure(completeness=0.1)], (), MutationRecord(), Random(1))
        )
        assert isinstance(found, Proposal)


def test_rules_load_neither_gepa_nor_a_client() -> None:
    code = (
        "import sys\n"
        "from fourscore.evolve.mutations.proposers import proposer_of\n"
        "proposer_of()\n"
        "print([name for name in ('gepa', 'httptools', 'litellm') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
