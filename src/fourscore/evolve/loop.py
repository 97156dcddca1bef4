"""The evolution loop: run the active version, propose, compare, decide, record, repeat.

Each generation is a sequence of events, each on disk before the next begins. A process that is
killed at any time leaves a valid history and the stored answers, and the next process continues
from there: a candidate without a decision is compared first. Random numbers depend only on the
seed and the number of tries, so a proposal that was not recorded is made again in the same way.
"""

from collections.abc import Callable
from math import fsum
from random import Random

import msgspec

from fourscore.evolve.comparison import Comparison, HeldOut, compare_held_out
from fourscore.evolve.decision import Rule
from fourscore.evolve.evaluator import Evaluator, Stopped
from fourscore.evolve.folder import Evolution
from fourscore.evolve.history import Version, read_tries
from fourscore.evolve.limits import Risk, Ruling
from fourscore.evolve.log import HELD_OUT, REFUSED, Noted
from fourscore.evolve.mutations.failures import SortedCases, sort_cases
from fourscore.evolve.mutations.proposers import Proposal, Proposer, Refusal, record_outcome
from fourscore.evolve.rollback import estimate_noise, must_roll_back
from fourscore.evolve.split import Split
from fourscore.judges.fitness.rubric import grade_of
from fourscore.models.messages import ModelError

#: The most proposals in a row that may be refused before a step ends.
MOST_REFUSED = 20
#: The reasons to stop for which the held-out cases cannot be run either.
SPENT = ("budget", "cases", "model", "connection")


class LoopOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the loop. `proposer` returns a proposer for a maximum risk, or None.

    `report` is called with each progress line, which may quote texts of agents and models.
    """

    rule: Rule
    seed: int
    proposer: Callable[[Risk], Proposer | None]
    report: Callable[[str], None]


class LoopResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a step ended: the reason is `done` after all generations.

    `missing` counts the cases in executions and in the held-out part that were not measured.
    """

    generations: int
    reason: str
    why: str = ""
    held_out: HeldOut | None = None
    missing: int = 0


class EvolutionLoop:
    """Runs generations, with at most `budget` cases of each part of the split."""

    def __init__(
        self, evolution: Evolution, evaluator: Evaluator, cases: Split, options: LoopOptions
    ) -> None:
        self.evolution, self.evaluator, self.options = evolution, evaluator, options
        most = evolution.settings.budget
        self._inform, self._hold = cases.inform[:most], cases.hold[:most]
        plan = evolution.settings.plan_for(len(cases.decide))
        self._comparison = Comparison(evaluator, cases.decide, plan)
        self._left_over = evolution.pending  # from a step that was interrupted or could not measure
        self._missing = 0

    async def run(self, generations: int) -> LoopResult:
        """Run up to `generations` generations, then the held-out cases where the budget allows."""
        done, stop = 0, Stopped("done", "")
        try:
            while done < generations:
                self.options.report(f"generation {done + 1} of {generations}")
                await self._run_generation()
                done += 1
        except Stopped as stopped:
            stop = stopped
        except ModelError as error:  # the proposer's model failed: this does not count as a try
            reason = "budget" if error.kind == "budget" else "model"
            stop = Stopped(reason, f"the proposer's model did not answer: {error.message}")
        held = None
        if stop.reason not in SPENT:
            try:
                held = await self._check_held_out()
            except Stopped as stopped:
                stop = stopped
        return LoopResult(
            generations=done,
            reason=stop.reason,
            why=stop.why,
            held_out=held,
            missing=self._missing + (held.missing if held else 0),
        )

    async def _run_generation(self) -> None:
        if self.evolution.pending is None:
            await self._prepare_mutation()
            await self._propose()
        await self._compare()

    # Before a mutation

    async def _prepare_mutation(self) -> None:
        """Run the active version until a mutation is allowed; roll back where the rules say so."""
        while True:
            falls = self._must_roll_back()
            if falls.yes:
                left = self.evolution.active.number
                back = self.evolution.rollback(reason=falls.reason, why=falls.why)
                why = f"rolled back from version {left} to {back.number}: {falls.why}"
                raise Stopped("rolled_back", why)
            ruling = self.evolution.may_mutate("low")
            if not ruling.yes and ruling.reason != "cool_down":
                raise Stopped(ruling.reason, f"no mutation: {ruling.why}")
            if ruling.yes and self._read_newest_results() != SortedCases():
                return
            await self._execute(ruling)

    async def _execute(self, ruling: Ruling) -> None:
        active, number = self.evolution.active, self._count_executions() + 1
        found = await self.evaluator.measure(active, self._inform, f"x{number}")
        known = found.known
        if not known:
            why = f"none of the {len(found.scores)} inform cases was measured"
            raise Stopped("unmeasured", why)
        self._missing += found.missing
        score = fsum(known) / len(known)
        self.evolution.record_execution(score, error_rate=found.error_rate, n=len(known))
        failed = f", {found.error_rate:.0%} failed" if found.error_rate else ""
        grade = grade_of(score).letter  # shown only; it decides nothing
        text = f"version {active.number}: {score:.2f} ({grade}) over {len(known)} cases{failed}"
        waits = "" if ruling.yes else f" (cool-down: {ruling.why})"
        self.options.report(f"{text}{waits}")

    def _count_executions(self) -> int:
        """Return the number of recorded executions of the active version."""
        active = self.evolution.history.active
        return sum(each.version == active for each in self.evolution.history.executions)

    def _read_newest_results(self) -> SortedCases:
        """Return the stored failures and passed cases of the newest execution."""
        number = self._count_executions()
        return sort_cases(self.evaluator.rows(self.evolution.active, f"x{number}"))

    def _must_roll_back(self) -> Ruling:
        """Return whether to roll back; with the paired rule, drops within the noise are ignored."""
        ruling = self.evolution.must_roll_back()
        if not ruling.yes or ruling.reason != "drops" or self.options.rule == "literal":
            return ruling
        noise = self._noise()
        rules = self.evolution.settings.rollback
        rules = msgspec.structs.replace(rules, drop=max(rules.drop, noise))
        again = must_roll_back(self.evolution.history.scores, rules=rules)
        if not again.yes:
            self.options.report(
                f"{ruling.why}; within the noise of {noise:.2f} points, so no rollback"
            )
        return again

    def _noise(self) -> float:
        """Return how far the mean may fall by chance, from the cases of the last two executions."""
        number, active = self._count_executions(), self.evolution.active
        before, after = (
            self.evaluator.scores(active, self._inform, f"x{each}") for each in (number - 1, number)
        )
        return estimate_noise(before, after)

    # A mutation

    async def _propose(self) -> None:
        """Add a candidate made from the failures of the `inform` cases; record each refusal."""
        tries = read_tries(self.evolution.events())
        record, seen = tries.record, self._read_newest_results()
        parent = self._choose_parent()
        text = self.evolution.text(parent.number)
        why = ""
        for number in range(MOST_REFUSED):
            rng = Random(f"{self.options.seed} {tries.made + number}")  # noqa: S311 - no secret
            proposer = self._make_proposer()
            came = await proposer.propose(text, seen.failures, seen.passed, record, rng)
            if isinstance(came, Proposal):
                self._add_candidate(came, parent)
                return
            if not came.strategy:
                raise Stopped("nothing_left", f"nothing is left to try: {came.reason}")
            self._record_refusal(came)
            record, why = record_outcome(record, came), came.reason
        raise Stopped("refused", f"{MOST_REFUSED} proposals in a row were refused: {why}")

    def _make_proposer(self) -> Proposer:
        """Return a proposer that keeps to the daily limit of high-risk mutations."""
        ruling = self.evolution.may_mutate("high")
        found = self.options.proposer("high" if ruling.yes else "medium")
        if found is None:
            raise Stopped(ruling.reason, f"no mutation: {ruling.why}")
        return found

    def _choose_parent(self) -> Version:
        """Return the version to mutate: the active one, or with the literal rule an open branch."""
        versions = self.evolution.history.versions
        followed = {each.parent for each in versions.values()}
        open_ = [n for n in self.evolution.history.branches if n not in followed]
        if self.options.rule == "literal" and open_:
            return versions[open_[-1]]
        return self.evolution.active

    def _add_candidate(self, proposal: Proposal, parent: Version) -> None:
        strategy, risk = proposal.strategy, proposal.risk
        new = self.evolution.add(
            proposal.text, strategy=strategy, risk=risk, why=proposal.why, parent=parent.number
        )
        text = f"version {new.number} from {parent.number} by {strategy}, {risk} risk"
        self.options.report(f"{text}: {proposal.why}")
        for line in proposal.diff.rstrip().split("\n")[2:]:
            self.options.report(f"    {line}")

    def _record_refusal(self, refused: Refusal) -> None:
        self.evolution.add_note(REFUSED, msgspec.to_builtins(refused))
        self.options.report(f"a proposal by {refused.strategy} was refused: {refused.reason}")

    # A decision

    async def _compare(self) -> None:
        new, old = self.evolution.pending, self.evolution.active
        assert new is not None
        # A child of a branch is always compared by the paired rule.
        branched = new.parent in self.evolution.history.branches
        try:
            if self.options.rule == "paired" or branched:
                decision = await self._comparison.decide_by_pairs(old, new)
            else:
                rng = Random(f"{self.options.seed} version {new.number}")  # noqa: S311 - no secret
                decision = await self._comparison.decide_by_means(old, new, rng)
        except Stopped as stopped:
            # An earlier step could not decide about this candidate either: withdraw it.
            if stopped.reason == "unmeasured" and new == self._left_over:
                self.evolution.withdraw(new.number, stopped.why)
                why = f"version {new.number} was withdrawn: {stopped.why}"
                raise Stopped("unmeasured", why) from None
            raise
        result = self.evolution.decide(new.number, decision)
        text = f"version {new.number} against {old.number}: {result}, {decision.reason}"
        self.options.report(f"{text}; {decision.why}")

    async def _check_held_out(self) -> HeldOut | None:
        versions = self.evolution.history.versions
        found = await compare_held_out(
            self.evaluator, self._hold, versions[1], self.evolution.active
        )
        if found is None:
            return None
        text = found.to_document()
        notes = [each for each in self.evolution.events() if isinstance(each, Noted)]
        before = [each.data for each in notes if each.about == HELD_OUT]
        if before[-1:] != [text]:
            self.evolution.add_note(HELD_OUT, text)
        return found
