"""The `gepa` package: its reflection as a proposer, and an adapter for its own loop.

gepa formats the failures for the model and reads the new prompt from the reply. The prompt around
them is ours, since gepa's own prompt does not separate the agent's texts from the instructions.
It proposes one text; our runner evaluates it and our rule decides. gepa's own loop accepts by the
sum of the scores over a few cases, which accepts a mutation without any effect up to half of the
time. To use that loop nevertheless:

    gepa.optimize({"prompt": text}, trainset=cases, adapter=GepaAdapter(run, proposer, rng), ...)

Every text is still checked and recorded. gepa's loop is synchronous: where an event loop is
running, call it from another thread.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from msgspec.structs import force_setattr

from fourscore.core import Case, ConfigError, JudgeError, Score, Status, Trace, Usage
from fourscore.core.extras import require_extra
from fourscore.core.numbers import check_whole
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.failures import (
    Failure,
    FencedFailures,
    choose_worst,
    fence_failures,
    find_prompt_folder,
    find_weakest_signal,
    sort_cases,
)
from fourscore.evolve.mutations.model_proposer import MODEL_FAULTS, NO_FAILURES, match_line_endings
from fourscore.evolve.mutations.proposers import (
    Draft,
    Proposal,
    Proposer,
    Refusal,
    check_draft,
    record_outcome,
)
from fourscore.evolve.mutations.strategies import RISKS, MutationRecord
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.prompts import read_prompt
from fourscore.models.messages import NO_USAGE, ChatMessage, ModelError, Request, Response

if TYPE_CHECKING:
    from gepa.strategies.instruction_proposal import InstructionProposalSignature

#: The strategy name of its proposals, and the name of its prompt file.
NAME, PROMPT = "gepa", "reflect"


class GepaProposer(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Proposes through gepa, which sees the `max_failures` worst failures, each text cut to
    `max_chars` characters. It may rewrite anything, so its default `risk` is high."""

    max_chars: int = 1500
    max_tokens: int = 8192
    logprobs: int = 0
    max_failures: int = 5
    checks: Checks = Checks()
    risk: Risk = "high"

    def __post_init__(self) -> None:
        signature()  # fails now, before the first case, if gepa is not installed
        folder = find_prompt_folder(PROMPT, self.language, self.prompt_folder)
        force_setattr(self, "prompt_folder", folder)
        super().__post_init__()
        check_whole("max_failures", self.max_failures, low=1)
        if self.risk not in RISKS:
            raise ConfigError(f"{self.risk!r} is none of {', '.join(RISKS)}", field="risk")
        self._check_places()

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions(PROMPT)

    async def propose(
        self,
        parent_text: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],  # noqa: ARG002 - gepa reflects on what went wrong
        record: MutationRecord,
        rng: Random,
    ) -> Proposal | Refusal:
        """Propose one text, with one model request about the worst failures."""
        if not failures:
            return Refusal(reason=NO_FAILURES)
        found = find_weakest_signal(failures)
        signal = found[0] if found else ""
        shown = fence_failures(
            parent_text,
            choose_worst(failures, signal, self.max_failures, rng),
            required=self.checks.required,
            language=self.language,
            limit=self.max_chars,
        )
        salt = f"{NAME} {record.get_tally(NAME).tried}"
        try:
            reply = await self.pool_model.ask(self._question(parent_text, shown, salt))
        except ModelError as error:
            if error.kind not in MODEL_FAULTS:
                raise
            why = f"the model gave no text: {error.kind}"
            return Refusal(reason=why, strategy=NAME, risk=self.risk, usage=error.usage or NO_USAGE)
        if not _has_number(reply, shown.number):
            why = "the reply does not repeat the number of the request before the new prompt"
            return Refusal(reason=why, strategy=NAME, risk=self.risk, usage=reply.usage)
        text = match_line_endings(
            parent_text, signature().output_extractor(reply.text)["new_instruction"]
        )
        n = len(shown.failures)
        draft = Draft(
            text=text,
            strategy=NAME,
            risk=self.risk,
            why=f"a reflection on {n} of {len(failures)} failures",
            usage=reply.usage,
            number=shown.number,
        )
        return check_draft(draft, self.checks, parent_text, record, failures)

    def _question(self, parent: str, shown: FencedFailures, salt: str) -> Request:
        """Return the request: gepa's rendering of the failures in our prompt file."""
        size = len(parent.strip())
        values = {
            "number": shown.number,
            "keep": shown.keep,
            "shortest": str(round(self.checks.shortest * size)),
            "longest": str(round(self.checks.longest * size)),
        }
        words = read_prompt(PROMPT, self.language, self.prompt_folder)
        system, template = words.fill(values)
        user = signature().prompt_renderer(
            {
                "current_instruction_doc": shown.parent,
                "dataset_with_feedback": reflective_dataset(shown),
                "prompt_template": template,
            }
        )
        assert isinstance(user, str)  # a list is for pictures
        turns = (ChatMessage("system", system), ChatMessage("user", user))
        return Request(
            messages=turns,
            max_tokens=self.max_tokens,
            salt=salt,
            is_usable=lambda reply: _has_number(reply, shown.number),
        )

    def _check_places(self) -> None:
        words = read_prompt(PROMPT, self.language, self.prompt_folder)
        try:
            signature().validate_prompt_template(words.user)
        except ValueError as error:
            raise ConfigError(str(error), file=words.file) from None


def _has_number(reply: Response, number: str) -> bool:
    """Whether the reply has a prompt, and before it the number of the fence."""
    head, fence, _ = reply.text.partition("```")
    return bool(fence) and number in head


def reflective_dataset(shown: FencedFailures) -> list[dict[str, str]]:
    """Return the failures under the names that gepa recommends, each text in its fence."""
    return [
        {
            "Inputs": one["input"],
            "Generated Outputs": one["output"],
            "Feedback": one["remarks"],
        }
        for one in shown.failures
    ]


def signature() -> "type[InstructionProposalSignature]":
    """Return gepa's class for reflection; raise a `ConfigError` if gepa is not installed."""
    require_extra("gepa", "--proposer gepa")
    from gepa.strategies.instruction_proposal import InstructionProposalSignature

    return InstructionProposalSignature


if TYPE_CHECKING:
    from gepa.core.adapter import EvaluationBatch

#: The name of the prompt in gepa's candidates.
COMPONENT = "prompt"
#: The result of one case.
Row = tuple[Case, Trace, Score]
#: Runs the agent with a prompt on cases; returns one row for each case, in order.
RunPrompt = Callable[[str, Sequence[Case]], Sequence[Row]]


class GepaAdapter:
    """An adapter for `gepa.optimize`, with `record`, `usage` and `outcomes` of all proposals."""

    def __init__(
        self,
        run: RunPrompt,
        proposer: Proposer,
        rng: Random,
        *,
        record: MutationRecord | None = None,
    ) -> None:
        self._run, self._proposer, self._rng = run, proposer, rng
        self.record = record or MutationRecord()
        self.usage: Usage = NO_USAGE
        self.outcomes: list[Proposal | Refusal] = []
        self._passed: tuple[Case, ...] = ()

    def evaluate(
        self, batch: list[Case], candidate: dict[str, str], capture_traces: bool = False
    ) -> "EvaluationBatch[Row, Any]":
        """Return scores from 0 to 1; an unmeasured case raises a `JudgeError`.

        gepa has no missing scores, and an unmeasured case must not count as 0.
        """
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
        """Return the failures without fences: the proposer adds the fences."""
        found = sort_cases(eval_batch.trajectories or ())
        self._passed = found.passed
        return {name: [{"Failure": one} for one in found.failures] for name in components_to_update}

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Return the proposed text by component, without components whose text was refused."""
        found: dict[str, str] = {}
        for name in components_to_update:
            failures: list[Failure] = [one["Failure"] for one in reflective_dataset[name]]
            outcome = asyncio.run(
                self._proposer.propose(
                    candidate[name], failures, self._passed, self.record, self._rng
                )
            )
            self.record = record_outcome(self.record, outcome)
            self.usage += outcome.usage
            self.outcomes.append(outcome)
            if isinstance(outcome, Proposal):
                found[name] = outcome.text
        return found


def _value(score: Score) -> float | None:
    """Return the value of a score; 0 where the agent itself failed."""
    broken = score.status in (Status.AGENT_ERROR, Status.TIMEOUT)
    return 0.0 if broken and score.value is None else score.value
