"""Mutations by rules, without a model: the same parent, failures and seed give the same text.

An edit function returns all edited prompts that are possible; the best one that was not tried and
passes the checks is proposed. `instruction_rephrase` has no edit function: it needs a model.
"""

from collections.abc import Mapping, Sequence
from random import Random

import msgspec

from fourscore.core import Case, ConfigError
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.constraint_edits import (
    add_constraint,
    remove_constraint,
    shift_emphasis,
)
from fourscore.evolve.mutations.edits import (
    Candidate,
    EditContext,
    EditFunction,
    adjust_persona,
    change_format,
    inject_example,
    reorder_steps,
)
from fourscore.evolve.mutations.failures import Failure
from fourscore.evolve.mutations.proposers import Draft, Proposal, Refusal, check_draft
from fourscore.evolve.mutations.strategies import (
    Choice,
    MutationRecord,
    choose_strategy,
    select_strategies,
)

EDITS: Mapping[str, EditFunction] = {
    "step_reorder": reorder_steps,
    "constraint_add": add_constraint,
    "constraint_remove": remove_constraint,
    "example_inject": inject_example,
    "emphasis_shift": shift_emphasis,
    "format_change": change_format,
    "persona_adjust": adjust_persona,
}


class RuleProposer(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Proposes by rules. `strategies` are those to use (none named: all), up to `max_risk`;
    `constraints` are the owner's lines to try before the built-in ones."""

    checks: Checks = Checks()
    strategies: tuple[str, ...] = ()
    max_risk: Risk = "high"
    constraints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not any(one.name in EDITS for one in select_strategies(self.strategies, self.max_risk)):
            raise ConfigError("all of these need a model", field="strategies")
        if any("\n" in line or not line.strip() for line in self.constraints):
            raise ConfigError("expected whole lines, one line in each entry", field="constraints")

    async def propose(
        self,
        parent_text: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],
        record: MutationRecord,
        rng: Random,
    ) -> Proposal | Refusal:
        """Propose the best untried text of a strategy; try other strategies where none passes."""
        among = [s for s in select_strategies(self.strategies, self.max_risk) if s.name in EDITS]
        refused: Refusal | None = None
        while among:
            choice = choose_strategy(failures, record, rng, among)
            found = self._list_candidates(
                choice, parent_text, failures, passed, record=record, rng=rng
            )
            done = self._best(found, choice, parent_text, failures, record)
            if isinstance(done, Proposal):
                return done
            refused = refused or done
            among.remove(choice.strategy)
        return refused or Refusal(reason="no edit is left to try")

    def _list_candidates(
        self,
        choice: Choice,
        parent: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],
        *,
        record: MutationRecord,
        rng: Random,
    ) -> list[Candidate]:
        """Return the untried candidates of the strategy, best first; ties are shuffled."""
        crlf = "\r\n" in parent and parent.count("\n") == parent.count("\r\n")
        context = EditContext(
            parent.replace("\r\n", "\n") if crlf else parent,
            failures,
            passed,
            signal=choice.signal,
            kept=self.checks.required,
            constraints=self.constraints,
        )
        found = EDITS[choice.strategy.name](context)
        if crlf:
            found = [one._replace(text=one.text.replace("\n", "\r\n")) for one in found]
        found = [one for one in found if not record.has_text(one.text) and one.text != parent]
        rng.shuffle(found)
        return sorted(found, key=lambda one: one.rank)

    def _best(
        self,
        found: Sequence[Candidate],
        choice: Choice,
        parent: str,
        failures: Sequence[Failure],
        record: MutationRecord,
    ) -> Proposal | Refusal | None:
        """Return the first candidate that passes the checks, else the first refusal, if any."""
        first: Refusal | None = None
        for one in found:
            draft = Draft(
                text=one.text,
                strategy=choice.strategy.name,
                risk=choice.strategy.risk,
                why=f"{choice.why}; {one.why}",
            )
            done = check_draft(draft, self.checks, parent, record, failures)
            if isinstance(done, Proposal):
                return done
            first = first or done
        return first
