"""`Proposer`, which writes a mutation, and its results: a checked `Proposal` or a `Refusal`."""

from collections.abc import Mapping, Sequence
from difflib import unified_diff
from random import Random
from typing import Any, Literal, Protocol, get_args

import msgspec

from fourscore.core import Case, ConfigError, Usage
from fourscore.core.errors import suggest_known
from fourscore.core.frozen import EMPTY
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.failures import Failure
from fourscore.evolve.mutations.strategies import MutationRecord, digest_prompt
from fourscore.judges.llm.prompts import Language
from fourscore.models.messages import NO_USAGE, Model


class Proposal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A text that passed the checks. `parent` is the digest of the text it was made from."""

    text: str
    strategy: str
    risk: Risk
    parent: str
    why: str
    diff: str
    usage: Usage = NO_USAGE

    @property
    def digest(self) -> str:
        return digest_prompt(self.text)


class Refusal(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A refused mutation. Its text is not stored, since it may contain a key.

    `digest` is empty where there was no text, `strategy` where nothing was left to try.
    """

    reason: str
    strategy: str = ""
    risk: Risk = "low"
    digest: str = ""
    usage: Usage = NO_USAGE


class Proposer(Protocol):
    """Writes a mutation of a prompt.

    `passed` are cases that the prompt passes; `rng` is the only source of chance. A model that
    cannot be reached raises `ModelError`, which does not count as a try.
    """

    async def propose(
        self,
        parent_text: str,
        failures: Sequence[Failure],
        passed: Sequence[Case],
        record: MutationRecord,
        rng: Random,
    ) -> Proposal | Refusal: ...


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A text before it is checked. `number` is that of the fence that a model was shown."""

    text: str
    strategy: str
    risk: Risk
    why: str = ""
    usage: Usage = NO_USAGE
    number: str = ""


def check_draft(
    draft: Draft,
    checks: Checks,
    parent: str,
    record: MutationRecord,
    failures: Sequence[Failure],
) -> Proposal | Refusal:
    """Return the draft as a proposal with its diff, or the refusal where it fails a check."""
    text = draft.text
    why = checks.find_problem(parent, text, record, failures, draft.number)
    if why is None:
        return Proposal(
            text=text,
            strategy=draft.strategy,
            risk=draft.risk,
            parent=digest_prompt(parent),
            why=draft.why,
            diff=make_diff(parent, text),
            usage=draft.usage,
        )
    digest = digest_prompt(text) if text.strip() else ""
    return Refusal(
        reason=why, strategy=draft.strategy, risk=draft.risk, digest=digest, usage=draft.usage
    )


def record_outcome(
    record: MutationRecord, outcome: Proposal | Refusal, *, accepted: bool = False
) -> MutationRecord:
    """Return the record with one more outcome; an outcome without a strategy is not counted."""
    if not outcome.strategy:
        return record
    refused = isinstance(outcome, Refusal)
    return record.add_try(outcome.strategy, outcome.digest, accepted=accepted, refused=refused)


def make_diff(parent: str, text: str) -> str:
    """Return the change as a unified diff."""
    lines = unified_diff(parent.split("\n"), text.split("\n"), "parent", "proposal", lineterm="")
    return "\n".join(lines)


Kind = Literal["rules", "model", "gepa"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def make_proposer(
    kind: str | None = None,
    model: Model | str | None = None,
    *,
    checks: Checks | None = None,
    strategies: Sequence[str] = (),
    max_risk: Risk = "high",
    constraints: Sequence[str] = (),
    language: Language = "en",
    prompt_folder: str | None = None,
    settings: Mapping[str, Any] = EMPTY,
) -> Proposer:
    """Return a proposer of this kind; the default is `model` where a model is given, else `rules`.

    `settings` are options of the model. gepa has no strategies: it may rewrite the whole prompt.
    """
    kind = kind or ("rules" if model is None else "model")
    if kind not in KINDS:
        raise ConfigError(f"{kind!r}: {suggest_known(kind, KINDS)}", field="proposer")
    checks = checks or Checks()
    if kind == "rules":
        from fourscore.evolve.mutations.rule_proposer import RuleProposer

        return RuleProposer(
            checks=checks,
            strategies=tuple(strategies),
            max_risk=max_risk,
            constraints=tuple(constraints),
        )
    if model is None:
        raise ConfigError(f"the proposer {kind!r} needs a model", field="model")
    if kind == "gepa":
        from fourscore.evolve.mutations.gepa import GepaProposer

        return GepaProposer(
            model=model,
            settings=dict(settings),
            language=language,
            prompt_folder=prompt_folder,
            checks=checks,
        )
    from fourscore.evolve.mutations.model_proposer import ModelProposer

    return ModelProposer(
        model=model,
        settings=dict(settings),
        language=language,
        prompt_folder=prompt_folder,
        checks=checks,
        strategies=tuple(strategies),
        max_risk=max_risk,
    )
