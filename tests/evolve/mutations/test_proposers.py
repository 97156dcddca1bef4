"""Proposers by name."""

import asyncio
import subprocess
import sys
from random import Random

import pytest
from tests.evolve.mutations.planted_failures import PARENT, failure, writing

from fourscore.core import ConfigError
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.model_proposer import ModelProposer
from fourscore.evolve.mutations.proposers import Proposal, Proposer, make_proposer
from fourscore.evolve.mutations.rule_proposer import RuleProposer
from fourscore.evolve.mutations.strategies import MutationRecord

NEW = PARENT.replace("Be polite.", "Be polite and calm.")
CHECKS = Checks(longest=3.0)


def test_default_proposer_depends_on_model() -> None:
    rules = make_proposer(checks=CHECKS, constraints=["Be calm."], max_risk="medium")
    assert rules == RuleProposer(checks=CHECKS, constraints=("Be calm.",), max_risk="medium")
    model = writing(NEW)
    for kind in (None, "model"):
        found = make_proposer(kind, model, checks=CHECKS, strategies=["step_reorder"])
        assert found == ModelProposer(model=model, checks=CHECKS, strategies=("step_reorder",))
    assert isinstance(make_proposer("rules", model), RuleProposer)


def test_makes_gepa_proposer_by_name() -> None:
    pytest.importorskip("gepa")
    from fourscore.evolve.mutations.gepa import GepaProposer

    model = writing(NEW)
    assert make_proposer("gepa", model, checks=CHECKS) == GepaProposer(model=model, checks=CHECKS)


def test_rejects_mistakes_at_construction() -> None:
    with pytest.raises(ConfigError, match="proposer: 'geppa': did you mean gepa"):
        make_proposer("geppa")
    for kind in ("model", "gepa"):
        with pytest.raises(ConfigError, match=f"model: the proposer '{kind}' needs a model"):
            make_proposer(kind)


def test_all_proposers_have_the_same_interface() -> None:
    some: list[Proposer] = [make_proposer(), make_proposer(model=writing(NEW))]
    for one in some:
        found = asyncio.run(
            one.propose(PARENT, [failure(completeness=0.1)], (), MutationRecord(), Random(1))
        )
        assert isinstance(found, Proposal)


def test_rule_proposer_imports_neither_gepa_nor_client() -> None:
    code = (
        "import sys\n"
        "from fourscore.evolve.mutations.proposers import make_proposer\n"
        "make_proposer()\n"
        "print([name for name in ('gepa', 'httptools', 'litellm') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
