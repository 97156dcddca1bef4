"""Proposals by the `gepa` package: its reflection over our failures, asked through our models.

gepa says what a reflective question looks like and reads the new prompt out of the reply; the words
around it are ours, since gepa's own put what an agent wrote beside the instructions. It proposes
one text. Our runner evaluates it and our rule decides: gepa's own loop accepts by the sum over a
few cases, which a mutation without any effect passes up to half of the time.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING

from msgspec.structs import force_setattr

from fourscore.core import Case, ConfigError
from fourscore.core.numbers import check_whole
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.checks import Checks, Made
from fourscore.evolve.mutations.failure import Failure, weakest
from fourscore.evolve.mutations.material import Shown, folder_of, show, worst
from fourscore.evolve.mutations.proposal import Proposal, Refused
from fourscore.evolve.mutations.record import Record
from fourscore.evolve.mutations.strategies import RISKS
from fourscore.evolve.mutations.written import ITS_OWN, NOTHING, ending_like
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
        return self.versions(PROMPT)

    async def propose(
        self,
        parent_text: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],  # noqa: ARG002 - gepa reflects on what went wrong
        record: Record,
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
        made = Made(
            NAME,
            self.risk,
            f"a reflection on {n} of {len(failures)} failures",
            reply.usage,
            shown.number,
        )
        return self.checks.outcome(parent_text, text, record, failures, made)

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
        system, template = words.filled(told)
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
    try:
        from gepa.strategies.instruction_proposal import InstructionProposalSignature
    except ImportError as error:
        message = f"it needs the package gepa: pip install 'fourscore[gepa]' ({error})"
        raise ConfigError(message, field="proposer") from None
    return InstructionProposalSignature
