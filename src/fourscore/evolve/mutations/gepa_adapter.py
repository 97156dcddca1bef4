"""Our evaluator and proposer as gepa's adapter, for whoever would rather have gepa's own loop:

    gepa.optimize({"prompt": text}, trainset=cases, adapter=GepaAdapter(run, proposer, rng), ...)

Every text still goes through the checks, and the record remembers it. gepa's loop is synchronous:
call it from a thread of its own where an event loop is running.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from fourscore.core import Case, JudgeError, Score, Status, Trace, Usage
from fourscore.evolve.mutations.failure import Failure, sort_cases
from fourscore.evolve.mutations.proposal import Proposal, Proposer, Refused, remembered
from fourscore.evolve.mutations.record import Record
from fourscore.models.messages import FREE

if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch

#: The one component of a candidate.
COMPONENT = "prompt"
#: What one case came to.
Row = tuple[Case, Trace, Score]
#: Runs the agent by a prompt over cases, one row each, in order.
Run = Callable[[str, Sequence[Case]], Sequence[Row]]


class GepaAdapter:
    """Keeps what gepa does not: `record`, `usage`, and the `outcomes` of all proposals."""

    def __init__(
        self, run: Run, proposer: Proposer, rng: Random, *, record: Record | None = None
    ) -> None:
        self._run, self._proposer, self._rng = run, proposer, rng
        self.record = record or Record()
        self.usage: Usage = FREE
        self.outcomes: list[Proposal | Refused] = []
        self._passed: tuple[Case, ...] = ()

    def evaluate(
        self, batch: list[Case], candidate: dict[str, str], capture_traces: bool = False
    ) -> "EvaluationBatch[Row, Any]":
        """Scores from 0 to 1. gepa knows no score that is missing, and a failure to measure is no
        0: a batch in which something was not measured is an error."""
        from gepa.core.adapter import EvaluationBatch

        rows = list(self._run(candidate[COMPONENT], batch))
        measured = [value for _, _, score in rows if (value := _value(score)) is not None]
        if len(measured) != len(batch):
            missing = len(batch) - len(measured)
            raise JudgeError(f"{missing} of {len(batch)} cases were not measured")
        return EvaluationBatch(
            outputs=[trace.output for _, trace, _ in rows],
            scores=measured,
            trajectories=rows if capture_traces else None,
        )

    def make_reflective_dataset(
        self,
        candidate: dict[str, str],  # noqa: ARG002 - gepa's signature
        eval_batch: "EvaluationBatch[Row, Any]",
        components_to_update: list[str],
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The failures as they are. The proposer fences them: it knows the number."""
        found = sort_cases(eval_batch.trajectories or ())
        self._passed = found.passed
        return {name: [{"Failure": one} for one in found.failures] for name in components_to_update}

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """The proposal; nothing where it was refused."""
        found: dict[str, str] = {}
        for name in components_to_update:
            failures: list[Failure] = [one["Failure"] for one in reflective_dataset[name]]
            outcome = asyncio.run(
                self._proposer.propose(
                    candidate[name], failures, self._passed, self.record, self._rng
                )
            )
            self.record = remembered(self.record, outcome)
            self.usage += outcome.usage
            self.outcomes.append(outcome)
            if isinstance(outcome, Proposal):
                found[name] = outcome.text
        return found


def _value(score: Score) -> float | None:
    """An agent that broke down has 0; a ranking alone says nothing here."""
    broken = score.status in (Status.AGENT_ERROR, Status.TIMEOUT)
    return 0.0 if broken and score.value is None else score.value
