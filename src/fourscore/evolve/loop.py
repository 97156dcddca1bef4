"""The loop: run the active version, propose, compare, decide, record; and again.

Each generation is a row of steps of the history, each on disk before the next begins. A process
that is killed anywhere leaves a history that ends after one of them, and answers in the store; the
next goes on from there: a candidate without a decision is compared first, and chance is drawn from
the seed and the number of tries, so what was not recorded comes out the same.
"""

from collections.abc import Callable
from math import fsum, sqrt
from random import Random

import msgspec

from fourscore.evolve.comparison import Comparison, HeldOut, compare_held_out
from fourscore.evolve.decision import Rule
from fourscore.evolve.evaluator import Evaluator, Stopped
from fourscore.evolve.folder import Evolution
from fourscore.evolve.history import Version, read_tries
from fourscore.evolve.limits import Risk, Ruling, must_roll_back
from fourscore.evolve.log import HELD_OUT, REFUSED, Noted
from fourscore.evolve.mutations.failures import SortedCases, sort_cases
from fourscore.evolve.mutations.proposers import Proposal, Proposer, Refusal, record_outcome
from fourscore.evolve.split import Split
from fourscore.judges.fitness.rubric import grade_of
from fourscore.models.messages import ModelError

#: Proposals in a row that may be refused before a step ends.
MOST_REFUSED = 20
#: What ends a step in which no more can be asked.
SPENT = ("budget", "cases", "model")
#: Standard errors by which an execution may fall before it counts as a drop.
NOISE = 1.645


class LoopOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How to go about it. `proposer` gives one up to a risk, or None where it has none so low;
    `tell` is given lines for people, in which others' words may stand."""

    rule: Rule
    seed: int
    proposer: Callable[[Risk], Proposer | None]
    tell: Callable[[str], None]


class LoopResult(msgspec.Struct, frozen=True, kw_only=True):
    """How a step ended: after all its generations (`done`), or why before; `missing` cases of its
    executions and of the held-out part could not be measured."""

    generations: int
    reason: str
    why: str = ""
    held_out: HeldOut | None = None
    missing: int = 0


class EvolutionLoop:
    """Of no part more cases are used than a decision has pairs at the most."""

    def __init__(
        self, evolution: Evolution, evaluator: Evaluator, cases: Split, way: LoopOptions
    ) -> None:
        self.evolution, self.evaluator, self.way = evolution, evaluator, way
        most = evolution.settings.budget
        self._inform, self._hold = cases.inform[:most], cases.hold[:most]
        plan = evolution.settings.plan_for(len(cases.decide))
        self._comparing = Comparison(evaluator, cases.decide, plan)
        self._left = evolution.pending  # by a step that was cut off, or that could not measure
        self._missing = 0

    async def run(self, generations: int) -> LoopResult:
        """So many generations, or fewer where something stands against them; and what the held-out
        cases say, unless the means are spent."""
        done, stop = 0, Stopped("done", "")
        try:
            while done < generations:
                self.way.tell(f"generation {done + 1} of {generations}")
                await self._generation()
                done += 1
        except Stopped as stopped:
            stop = stopped
        except ModelError as error:  # the proposer's; nobody's try
            reason = "budget" if error.kind == "budget" else "model"
            stop = Stopped(reason, f"the model that proposes did not answer: {error.message}")
        held = None
        if stop.reason not in SPENT:
            try:
                held = await self._held_out()
            except Stopped as stopped:
                stop = stopped
        return LoopResult(
            generations=done,
            reason=stop.reason,
            why=stop.why,
            held_out=held,
            missing=self._missing + (held.missing if held else 0),
        )

    async def _generation(self) -> None:
        if self.evolution.pending is None:
            await self._ready()
            await self._propose()
        await self._compare()

    # Before a mutation

    async def _ready(self) -> None:
        """Run the active version until a mutation is allowed; go back where the rules say so."""
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
            if ruling.yes and self._seen() != SortedCases():
                return
            await self._execute(ruling)

    async def _execute(self, ruling: Ruling) -> None:
        active, number = self.evolution.active, self._executions() + 1
        found = await self.evaluator.measure(active, self._inform, f"x{number}")
        known = found.known
        if not known:
            why = f"none of the {len(found.scores)} cases that inform mutations was measured"
            raise Stopped("unmeasured", why)
        self._missing += found.missing
        score = fsum(known) / len(known)
        self.evolution.record_execution(score, error_rate=found.error_rate, n=len(known))
        failed = f", {found.error_rate:.0%} failed" if found.error_rate else ""
        grade = grade_of(score).letter  # it advises, the rules decide
        told = f"version {active.number}: {score:.2f} ({grade}) over {len(known)} cases{failed}"
        waits = "" if ruling.yes else f" (cool-down: {ruling.why})"
        self.way.tell(f"{told}{waits}")

    def _executions(self) -> int:
        """Of the active version, as far as the history knows."""
        active = self.evolution.history.active
        return sum(each.version == active for each in self.evolution.history.executions)

    def _seen(self) -> SortedCases:
        """What its newest execution came to, as far as the store has it."""
        number = self._executions()
        return sort_cases(self.evaluator.rows(self.evolution.active, f"x{number}"))

    def _must_roll_back(self) -> Ruling:
        """By the rules; but two drops that are no more than the noise of two executions on the same
        cases are none, unless the literal rules are asked for."""
        ruling = self.evolution.must_roll_back()
        if not ruling.yes or ruling.reason != "drops" or self.way.rule == "literal":
            return ruling
        noise = self._noise()
        rules = self.evolution.settings.rollback
        rules = msgspec.structs.replace(rules, drop=max(rules.drop, noise))
        again = must_roll_back(self.evolution.history.scores, rules=rules)
        if not again.yes:
            self.way.tell(f"{ruling.why}; within the noise of {noise:.2f} points, so it stays")
        return again

    def _noise(self) -> float:
        """How far the mean of an execution falls by chance, from the cases of the last two."""
        number, active = self._executions(), self.evolution.active
        before, after = (
            self.evaluator.scores(active, self._inform, f"x{each}") for each in (number - 1, number)
        )
        both = zip(before, after, strict=True)
        apart = [b - a for a, b in both if a is not None and b is not None]
        if len(apart) < 2:
            return 0.0
        mean = fsum(apart) / len(apart)
        spread = sqrt(fsum((x - mean) ** 2 for x in apart) / (len(apart) - 1))
        return NOISE * spread / sqrt(len(apart))

    # A mutation

    async def _propose(self) -> None:
        """A candidate from the failures of the cases that inform; each refusal is recorded."""
        tries = read_tries(self.evolution.events())
        record, seen = tries.record, self._seen()
        parent = self._parent()
        text = self.evolution.text(parent.number)
        why = ""
        for number in range(MOST_REFUSED):
            rng = Random(f"{self.way.seed} {tries.made + number}")  # noqa: S311 - no secret
            proposer = self._proposer()
            came = await proposer.propose(text, seen.failures, seen.passed, record, rng)
            if isinstance(came, Proposal):
                self._with_line(came, parent)
                return
            if not came.strategy:
                raise Stopped("nothing_left", f"nothing is left to try: {came.reason}")
            self._refused(came)
            record, why = record_outcome(record, came), came.reason
        raise Stopped("refused", f"{MOST_REFUSED} proposals in a row were refused: {why}")

    def _proposer(self) -> Proposer:
        """One that keeps to the day's limit of high risks."""
        ruling = self.evolution.may_mutate("high")
        found = self.way.proposer("high" if ruling.yes else "medium")
        if found is None:
            raise Stopped(ruling.reason, f"no mutation: {ruling.why}")
        return found

    def _parent(self) -> Version:
        """The active version; with the literal rule a branch that was not followed yet."""
        versions = self.evolution.history.versions
        followed = {each.parent for each in versions.values()}
        open_ = [n for n in self.evolution.history.branches if n not in followed]
        if self.way.rule == "literal" and open_:
            return versions[open_[-1]]
        return self.evolution.active

    def _with_line(self, proposal: Proposal, parent: Version) -> None:
        strategy, risk = proposal.strategy, proposal.risk
        new = self.evolution.add(
            proposal.text, strategy=strategy, risk=risk, why=proposal.why, parent=parent.number
        )
        told = f"version {new.number} from {parent.number} by {strategy}, {risk} risk"
        self.way.tell(f"{told}: {proposal.why}")
        for line in proposal.diff.rstrip().split("\n")[2:]:
            self.way.tell(f"    {line}")

    def _refused(self, refused: Refusal) -> None:
        self.evolution.add_note(REFUSED, msgspec.to_builtins(refused))
        self.way.tell(f"a proposal by {refused.strategy} was refused: {refused.reason}")

    # A decision

    async def _compare(self) -> None:
        new, old = self.evolution.pending, self.evolution.active
        assert new is not None
        branched = new.parent in self.evolution.history.branches  # it has to win by the other rule
        try:
            if self.way.rule == "paired" or branched:
                decision = await self._comparing.paired(old, new)
            else:
                rng = Random(f"{self.way.seed} version {new.number}")  # noqa: S311 - no secret
                decision = await self._comparing.literal(old, new, rng)
        except Stopped as stopped:
            if stopped.reason == "unmeasured" and new == self._left:  # it had its second chance
                self.evolution.withdraw(new.number, stopped.why)
                why = f"version {new.number} was given up: {stopped.why}"
                raise Stopped("unmeasured", why) from None
            raise
        result = self.evolution.decide(new.number, decision)
        told = f"version {new.number} against {old.number}: {result}, {decision.reason}"
        self.way.tell(f"{told}; {decision.why}")

    async def _held_out(self) -> HeldOut | None:
        versions = self.evolution.history.versions
        found = await compare_held_out(
            self.evaluator, self._hold, versions[1], self.evolution.active
        )
        if found is None:
            return None
        told = found.to_document()
        notes = [each for each in self.evolution.events() if isinstance(each, Noted)]
        before = [each.data for each in notes if each.about == HELD_OUT]
        if before[-1:] != [told]:
            self.evolution.add_note(HELD_OUT, told)
        return found
