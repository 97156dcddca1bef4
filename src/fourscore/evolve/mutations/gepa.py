"""The `gepa` package: its reflection as a proposer, and our parts as an adapter for its own loop.

gepa says what a reflective question looks like and reads the new prompt out of the reply; the words
around it are ours, since gepa's own put what an agent wrote beside the instructions. It proposes
one text; our runner evaluates it and our rule decides. gepa's own loop accepts by the sum over a
few cases, which a mutation without any effect passes up to half of the time. To use that loop all
the same:

    gepa.optimize({"prompt": text}, trainset=cases, adapter=GepaAdapter(run, proposer, rng), ...)

Every text still goes through the checks, and the record remembers it. gepa's loop is synchronous:
call it from a thread of its own where an event loop is running.
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
    Shown,
    folder_of,
    show,
    sort_cases,
    weakest,
    worst,
)
from fourscore.evolve.mutations.model_proposer import ITS_OWN, NOTHING, ending_like
from fourscore.evolve.mutations.proposers import (
    Draft,
    Proposal,
    Proposer,
    Refused,
    check_draft,
    remembered,
)
from fourscore.evolve.mutations.strategies import RISKS, MutationRecord
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.prompts import read_prompt
from fourscore.models.messages import FREE, ChatMessage, ModelError, Request

if TYPE_CHECKING:
    from gepa.strategies.instruction_proposal import InstructionProposalSignature

#: The strategy of its proposals in a record, and the prompt it asks with.
NAME, PROMPT = "gepa", "reflect"


class GepaProposer(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Proposes through gepa. Of the failures it shows the `most_failures` worst, and of each text
    in them `max_chars` characters. It rewrites what it likes, so its `risk` is high unless told."""

    max_chars: int = 1500
    max_tokens: int = 8192
    logprobs: int = 0
    most_failures: int = 5
    checks: Checks = Checks()
    risk: Risk = "high"

    def __post_init__(self) -> None:
        signature()  # a package that is missing is told of before the first case
        folder = folder_of(PROMPT, self.language, self.prompt_folder)
        force_setattr(self, "prompt_folder", folder)
        super().__post_init__()
        check_whole("most_failures", self.most_failures, low=1)
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
    ) -> Proposal | Refused:
        """One text, by one reflection on the worst failures."""
        if not failures:
            return Refused(reason=NOTHING)
        found = weakest(failures)
        signal = found[0] if found else ""
        shown = show(
            parent_text,
            worst(failures, signal, self.most_failures, rng),
            required=self.checks.required,
            language=self.language,
            limit=self.max_chars,
        )
        salt = f"{NAME} {record.of(NAME).tried}"
        try:
            reply = await self.pool_model.ask(self._question(parent_text, shown, salt))
        except ModelError as error:
            if error.kind not in ITS_OWN:
                raise
            why = f"the model gave no text: {error.kind}"
            return Refused(reason=why, strategy=NAME, risk=self.risk, usage=error.usage or FREE)
        head, fence, _ = reply.text.partition("```")
        if not fence or shown.number not in head:
            why = "the reply does not carry the number of the material before the new prompt"
            return Refused(reason=why, strategy=NAME, risk=self.risk, usage=reply.usage)
        text = ending_like(parent_text, signature().output_extractor(reply.text)["new_instruction"])
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

    def _question(self, parent: str, shown: Shown, salt: str) -> Request:
        """gepa's rendering of the failures, in the words of our prompt file."""
        size = len(parent.strip())
        told = {
            "number": shown.number,
            "keep": shown.keep,
            "shortest": str(round(self.checks.shortest * size)),
            "longest": str(round(self.checks.longest * size)),
        }
        words = read_prompt(PROMPT, self.language, self.prompt_folder)
        system, template = words.fill(told)
        user = signature().prompt_renderer(
            {
                "current_instruction_doc": shown.parent,
                "dataset_with_feedback": reflective_dataset(shown),
                "prompt_template": template,
            }
        )
        assert isinstance(user, str)  # a list is for pictures
        turns = (ChatMessage("system", system), ChatMessage("user", user))
        return Request(messages=turns, max_tokens=self.max_tokens, salt=salt)

    def _check_places(self) -> None:
        words = read_prompt(PROMPT, self.language, self.prompt_folder)
        try:
            signature().validate_prompt_template(words.user)
        except ValueError as error:
            raise ConfigError(str(error), file=words.file) from None


def reflective_dataset(shown: Shown) -> list[dict[str, str]]:
    """The failures under the names that gepa recommends, each text in its fence."""
    return [
        {
            "Inputs": one["input"],
            "Generated Outputs": one["output"],
            "Feedback": one["remarks"],
        }
        for one in shown.failures
    ]


def signature() -> "type[InstructionProposalSignature]":
    """gepa's question, loaded when it is first needed."""
    require_extra("gepa", "--proposer gepa")
    from gepa.strategies.instruction_proposal import InstructionProposalSignature

    return InstructionProposalSignature


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
        self, run: Run, proposer: Proposer, rng: Random, *, record: MutationRecord | None = None
    ) -> None:
        self._run, self._proposer, self._rng = run, proposer, rng
        self.record = record or MutationRecord()
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
