"""Any text at all: operators never crash, never lose a placeholder, and every outcome is a text
that passes the checks or a refusal with a reason."""

import asyncio
from importlib.util import find_spec
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evolve.mutations.planted_failures import number_of, writing

from fourscore.core import Case
from fourscore.evolve.mutations.checks import Checks, find_copied_text
from fourscore.evolve.mutations.edits import EditContext, reorder_steps
from fourscore.evolve.mutations.failures import Failure, Remark
from fourscore.evolve.mutations.model_proposer import ModelProposer
from fourscore.evolve.mutations.prompt_text import (
    find_blocks,
    find_placeholders,
    parse_outline,
    split_sentences,
)
from fourscore.evolve.mutations.proposers import Proposal, Proposer, record_outcome
from fourscore.evolve.mutations.rule_proposer import EDITS, RuleProposer
from fourscore.evolve.mutations.strategies import MutationRecord
from fourscore.models.scripted import ScriptedModel

PIECES = st.sampled_from(
    [
        *("- ", "* ", "1. ", "2) ", "3、", "  ", "\t", "\n", "\n\n", "\r\n", "```", "~~~", "# "),
        *("{name}", "{{x}}", "$y", "<<Z>>", "{% if a %}", "{% endif %}", "{", "}", "%(w)s"),
        *("You are a ", "你是一位", "Never guess. ", "Always cite. ", "必须核对。", "Be kind. "),
        *("step 2", "important", "judge", "https://a.example", "\u200b", "|", "> ", "---", "word "),
    ]
)
TEXTS = st.one_of(st.text(max_size=300), st.lists(PIECES, max_size=40).map("".join))
FAILURES = st.lists(
    st.builds(
        lambda output, name, value, reason: Failure(
            case="c",
            input="q",
            output=output,
            remarks=(Remark(signal=name, value=value, reason=reason, evidence=(output,)),),
        ),
        TEXTS,
        st.sampled_from(["completeness", "structure_score", "error_rate", "own", ""]),
        st.floats(0, 1),
        TEXTS,
    ),
    max_size=3,
)
CASES = st.lists(st.builds(Case, input=TEXTS, expected=TEXTS), max_size=2)


@settings(max_examples=100, deadline=None)
@given(TEXTS, FAILURES, CASES)
def test_edits_change_only_their_own_part(
    parent: str, failures: list[Failure], passed: list[Case]
) -> None:
    context = EditContext(parent, failures, passed, signal="completeness")
    for name, operator in EDITS.items():
        for one in operator(context):
            assert find_placeholders(one.text) >= find_placeholders(parent), name
            assert sorted(find_blocks(one.text)) == sorted(find_blocks(parent)), name
            assert "\n" not in one.why


@settings(max_examples=100, deadline=None)
@given(TEXTS, FAILURES, CASES, st.integers(0, 5), st.lists(TEXTS, max_size=1))
def test_rule_proposer_returns_checked_proposal_or_reason(
    parent: str, failures: list[Failure], passed: list[Case], seed: int, tried: list[str]
) -> None:
    record, rng = MutationRecord(), Random(seed)
    lines = [line for line in parent.split("\n") if line.strip()]
    checks = Checks(required=tuple(lines[:1]))
    for _ in range(4):
        found = asyncio.run(
            RuleProposer(checks=checks).propose(parent, failures, passed, record, rng)
        )
        if isinstance(found, Proposal):
            assert checks.find_problem(parent, found.text, record, failures) is None
            assert find_placeholders(found.text) == find_placeholders(parent)
            assert lines[0].strip() in {line.strip() for line in found.text.split("\n")}
            assert len(parent.strip()) <= 2 * len(found.text.strip()) <= 4 * len(parent.strip())
            assert found.diff
        else:
            assert found.reason
        assert not found.digest or found.digest not in record.digests
        record = record_outcome(record, found)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_reordered_steps_keep_every_character(parent: str) -> None:
    for one in reorder_steps(EditContext(parent)):
        assert sorted(one.text.split()) == sorted(parent.split())


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_outline_round_trips(text: str) -> None:
    found = parse_outline(text)
    for list_ in found.lists:
        lines = found.replace_list(list_, [item.lines for item in list_.items])
        assert "".join("".join(lines).split()) == "".join(text.split())
    for line in text.split("\n"):
        format_ranges = split_sentences(line)
        assert "".join(line[a:b] for a, b in format_ranges) == line


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS, FAILURES)
def test_checks_never_raise(parent: str, text: str, failures: list[Failure]) -> None:
    why = Checks().find_problem(parent, text, MutationRecord(), failures, "0123456789ab")
    assert why is None or why
    assert find_copied_text(text, text, [text]) is None


@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, FAILURES, CASES)
def test_model_proposer_returns_checked_proposal_or_reason(
    parent: str, reply: str, failures: list[Failure], passed: list[Case]
) -> None:
    proposers: list[Proposer] = [ModelProposer(model=writing(reply))]
    if find_spec("gepa") is not None:
        from fourscore.evolve.mutations.gepa import GepaProposer

        answering = ScriptedModel(lambda ask: f"{number_of(ask)}\n{reply}")
        proposers.append(GepaProposer(model=answering))
    for one in proposers:
        found = asyncio.run(one.propose(parent, failures, passed, MutationRecord(), Random(1)))
        if isinstance(found, Proposal):
            assert Checks().find_problem(parent, found.text, MutationRecord(), failures) is None
        else:
            assert found.reason
            assert "\n" not in found.reason
            assert found.usage.calls == (1 if failures else 0)
