"""Mutations that a model writes, from the reasons and the evidence of the failures.

The model has read texts of the agent, which may contain injected instructions. So its reply must
repeat the number of the fence and pass the checks, and it becomes active only after a comparison
on cases that the model has not seen.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from msgspec.structs import force_setattr

from fourscore.core import Case, ConfigError
from fourscore.core.numbers import check_whole
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.failures import (
    Failure,
    FencedFailures,
    choose_worst,
    fence_failures,
    find_prompt_folder,
)
from fourscore.evolve.mutations.proposers import Draft, Proposal, Refusal, check_draft
from fourscore.evolve.mutations.strategies import (
    Choice,
    MutationRecord,
    choose_strategy,
    select_strategies,
)
from fourscore.judges.hidden_text import remove_invisible
from fourscore.judges.llm.injection_defences import FencedTexts
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import make_reply_schema, make_text_schema
from fourscore.models.messages import NO_USAGE, ModelError

PROMPT = "mutate"
#: Kinds of model errors that are refusals and count as a try. All others are raised.
MODEL_FAULTS = frozenset({"malformed", "refused"})
#: The reason of a refusal where there is no failure.
NO_FAILURES = "there is no failure to learn from"
#: The most characters of the model's explanation of its change.
LONGEST = 300


class ModelProposer(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Proposes through a model, which sees the `max_failures` worst failures, each text cut to
    `max_chars` characters. `strategies` and `max_risk` are as for `RuleProposer`."""

    max_chars: int = 1500
    max_tokens: int = 8192
    logprobs: int = 0
    max_failures: int = 5
    checks: Checks = Checks()
    strategies: tuple[str, ...] = ()
    max_risk: Risk = "high"

    def __post_init__(self) -> None:
        folder = find_prompt_folder(PROMPT, self.language, self.prompt_folder)
        force_setattr(self, "prompt_folder", folder)
        super().__post_init__()
        check_whole("max_failures", self.max_failures, low=1)
        if not select_strategies(self.strategies, self.max_risk):
            raise ConfigError(f"all have a higher risk than {self.max_risk}", field="strategies")

    @property
    def prompts(self) -> Mapping[str, str]:
        return self.read_versions(PROMPT)

    async def propose(
        self,
        parent_text: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],
        record: MutationRecord,
        rng: Random,
    ) -> Proposal | Refusal:
        """Propose one text by the strategy that `choose_strategy` returns."""
        if not failures:
            return Refusal(reason=NO_FAILURES)
        choice = choose_strategy(
            failures, record, rng, select_strategies(self.strategies, self.max_risk)
        )
        strategy = choice.strategy
        shown = self._shown(choice, parent_text, failures, passed, rng)
        try:
            reply = await self.ask(
                PROMPT,
                _material(shown),
                self._form(shown.number, parent_text),
                strategy=strategy.zh if self.language == "zh" else strategy.en,
                shortest=str(round(self.checks.shortest * len(parent_text.strip()))),
                longest=str(round(self.checks.longest * len(parent_text.strip()))),
                attempt=str(record.get_tally(strategy.name).tried + 1),
            )
        except ModelError as error:
            if error.kind not in MODEL_FAULTS:
                raise
            return Refusal(
                reason=f"the model gave no text: {error.kind}",
                strategy=strategy.name,
                risk=strategy.risk,
                usage=error.usage or NO_USAGE,
            )
        draft = Draft(
            text=match_line_endings(parent_text, reply.value["prompt"]),
            strategy=strategy.name,
            risk=strategy.risk,
            why=f"{choice.why}; {shorten_to_line(reply.value['evidence'])}",
            usage=reply.usage,
            number=shown.number,
        )
        return check_draft(draft, self.checks, parent_text, record, failures)

    def _shown(
        self,
        choice: Choice,
        parent: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],
        rng: Random,
    ) -> FencedFailures:
        """Return the fenced texts for the model; `example_inject` also gets passed cases."""
        wants = choice.strategy.name == "example_inject"
        some = rng.sample(list(passed), min(len(passed), 2)) if wants else []
        return fence_failures(
            parent,
            choose_worst(failures, choice.signal, self.max_failures, rng),
            some,
            required=self.checks.required,
            language=self.language,
            limit=self.max_chars,
        )

    def _form(self, number: str, parent: str) -> dict[str, Any]:
        bound = number if self.bind == "schema" else None
        text: dict[str, Any] = {"type": "string"}
        if bound is not None:
            text["maxLength"] = max(1, int(self.checks.longest * len(parent)))
        return make_reply_schema({"evidence": make_text_schema(bound), "prompt": text}, bound)


def _material(shown: FencedFailures) -> FencedTexts:
    failures = "\n\n".join(text for one in shown.failures for text in one.values() if text)
    texts = {
        "parent": shown.parent,
        "keep": shown.keep,
        "failures": failures,
        "passed": "\n\n".join(shown.passed),
    }
    return FencedTexts(number=shown.number, texts=texts)


def match_line_endings(parent: str, text: str) -> str:
    """Return the text with the parent's line endings and final line break."""
    body = text.strip()
    if "\r\n" in parent:
        body = body.replace("\r\n", "\n").replace("\n", "\r\n")
    return body + parent[len(parent.rstrip()) :] if body else ""


def shorten_to_line(text: str) -> str:
    """Return a model's text on one line, without invisible characters, cut to `LONGEST`."""
    line = " ".join("".join(c if c.isprintable() else " " for c in remove_invisible(text)).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
