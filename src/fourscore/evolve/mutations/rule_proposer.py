"""Mutations by rules, for whoever has no model: the same parent, failures and seed, the same text.

An operator lists everything it could do; the best that was not tried and passes the checks is
proposed. One strategy has no operator: to rephrase is to know what a sentence means.
"""

from collections.abc import Mapping, Sequence
from random import Random

import msgspec

from fourscore.core import Case, ConfigError
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.constraint_edits import (
    constraint_add,
    constraint_remove,
    emphasis_shift,
)
from fourscore.evolve.mutations.edits import (
    Candidate,
    Operator,
    Situation,
    example_inject,
    format_change,
    persona_adjust,
    step_reorder,
)
from fourscore.evolve.mutations.failures import Failure
from fourscore.evolve.mutations.proposers import Draft, Proposal, Refused, check_draft
from fourscore.evolve.mutations.strategies import Choice, MutationRecord, allowed, choose

OPERATORS: Mapping[str, Operator] = {
    "step_reorder": step_reorder,
    "constraint_add": constraint_add,
    "constraint_remove": constraint_remove,
    "example_inject": example_inject,
    "emphasis_shift": emphasis_shift,
    "format_change": format_change,
    "persona_adjust": persona_adjust,
}


class Operators(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Proposes by rules. `strategies` are those to use (none named: all), up to `most_risk`;
    `constraints` are lines of one's own to try before those that ship."""

    checks: Checks = Checks()
    strategies: tuple[str, ...] = ()
    most_risk: Risk = "high"
    constraints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not any(one.name in OPERATORS for one in allowed(self.strategies, self.most_risk)):
            raise ConfigError("none of these can be done without a model", field="strategies")
        if any("\n" in line or not line.strip() for line in self.constraints):
            raise ConfigError("expected lines, one by one", field="constraints")

    async def propose(
        self,
        parent_text: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],
        record: MutationRecord,
        rng: Random,
    ) -> Proposal | Refused:
        """The best untried text of the strategy that is next; of another where none passes."""
        among = [s for s in allowed(self.strategies, self.most_risk) if s.name in OPERATORS]
        refused: Refused | None = None
        while among:
            choice = choose(failures, record, rng, among)
            found = self.candidates(choice, parent_text, failures, passed, record, rng)
            done = self._best(found, choice, parent_text, failures, record)
            if isinstance(done, Proposal):
                return done
            refused = refused or done
            among.remove(choice.strategy)
        return refused or Refused(reason="no operator has anything left to try")

    def candidates(
        self,
        choice: Choice,
        parent: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],
        record: MutationRecord,
        rng: Random,
    ) -> list[Candidate]:
        """What the strategy could do and has not done, the best first; chance between equals."""
        crlf = "\r\n" in parent and parent.count("\n") == parent.count("\r\n")
        now = Situation(
            parent.replace("\r\n", "\n") if crlf else parent,
            failures,
            passed,
            signal=choice.signal,
            kept=self.checks.required,
            constraints=self.constraints,
        )
        found = OPERATORS[choice.strategy.name](now)
        if crlf:
            found = [one._replace(text=one.text.replace("\n", "\r\n")) for one in found]
        found = [one for one in found if not record.knows(one.text) and one.text != parent]
        rng.shuffle(found)
        return sorted(found, key=lambda one: one.rank)

    def _best(
        self,
        found: Sequence[Candidate],
        choice: Choice,
        parent: str,
        failures: Sequence[Failure],
        record: MutationRecord,
    ) -> Proposal | Refused | None:
        """The first that passes; where none does, the refusal of the first, if there is one."""
        first: Refused | None = None
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
