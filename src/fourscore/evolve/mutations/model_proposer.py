"""Mutations that a model writes, from the reasons and the evidence of the failures.

The model has read what an agent wrote, so what comes back is a suggestion and nothing more: it
carries the number of its fence or is not used, it goes through the checks, and it only becomes a
version when cases that it never saw say so.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from msgspec.structs import force_setattr

from fourscore.core import Case, ConfigError
from fourscore.core.numbers import check_whole
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.failures import Failure, Shown, folder_of, show, worst
from fourscore.evolve.mutations.proposers import Draft, Proposal, Refused, check_draft
from fourscore.evolve.mutations.strategies import Choice, MutationRecord, allowed, choose
from fourscore.judges.hidden_text import remove_invisible
from fourscore.judges.llm.injection_defences import FencedTexts
from fourscore.judges.llm.model_judge import ModelJudge
from fourscore.judges.llm.verdicts import make_reply_schema, make_text_schema
from fourscore.models.messages import FREE, ModelError

PROMPT = "mutate"
#: What a model may do wrong in a try. Anything else is about the model, and is raised.
ITS_OWN = frozenset({"malformed", "refused"})
#: Said where a model has nothing to go by.
NOTHING = "there is no failure to learn from"
#: Characters of what the model says about its change.
LONGEST = 300


class Writer(ModelJudge, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Proposes through a model. Of the failures it shows the `most_failures` worst, and of each
    text in them `max_chars` characters. `strategies` and `most_risk` are as for `Operators`."""

    max_chars: int = 1500
    max_tokens: int = 8192
    logprobs: int = 0
    most_failures: int = 5
    checks: Checks = Checks()
    strategies: tuple[str, ...] = ()
    most_risk: Risk = "high"

    def __post_init__(self) -> None:
        folder = folder_of(PROMPT, self.language, self.prompt_folder)
        force_setattr(self, "prompt_folder", folder)
        super().__post_init__()
        check_whole("most_failures", self.most_failures, low=1)
        if not allowed(self.strategies, self.most_risk):
            raise ConfigError("none of these is of that risk", field="strategies")

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
    ) -> Proposal | Refused:
        """One text by the strategy that is next."""
        if not failures:
            return Refused(reason=NOTHING)
        choice = choose(failures, record, rng, allowed(self.strategies, self.most_risk))
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
                attempt=str(record.of(strategy.name).tried + 1),
            )
        except ModelError as error:
            if error.kind not in ITS_OWN:
                raise
            return Refused(
                reason=f"the model gave no text: {error.kind}",
                strategy=strategy.name,
                risk=strategy.risk,
                usage=error.usage or FREE,
            )
        draft = Draft(
            text=ending_like(parent_text, reply.value["prompt"]),
            strategy=strategy.name,
            risk=strategy.risk,
            why=f"{choice.why}; {one_line(reply.value['evidence'])}",
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
    ) -> Shown:
        """Cases that went well are shown only where an example is wanted."""
        wants = choice.strategy.name == "example_inject"
        some = rng.sample(list(passed), min(len(passed), 2)) if wants else []
        return show(
            parent,
            worst(failures, choice.signal, self.most_failures, rng),
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


def _material(shown: Shown) -> FencedTexts:
    failures = "\n\n".join(text for one in shown.failures for text in one.values() if text)
    texts = {
        "parent": shown.parent,
        "keep": shown.keep,
        "failures": failures,
        "passed": "\n\n".join(shown.passed),
    }
    return FencedTexts(number=shown.number, texts=texts)


def ending_like(parent: str, text: str) -> str:
    """The text with the parent's end of file and ends of lines: a model's are chance."""
    body = text.strip()
    if "\r\n" in parent:
        body = body.replace("\r\n", "\n").replace("\n", "\r\n")
    return body + parent[len(parent.rstrip()) :] if body else ""


def one_line(text: str) -> str:
    """What a model says, for people: printable, on one line, and short."""
    line = " ".join("".join(c if c.isprintable() else " " for c in remove_invisible(text)).split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
