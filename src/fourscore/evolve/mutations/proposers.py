"""Proposers by name, for those who are asked for one on a command line or in a file."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from fourscore.core import ConfigError
from fourscore.core.errors import suggest_known
from fourscore.core.frozen import EMPTY
from fourscore.evolve.limits import Risk
from fourscore.evolve.mutations.checks import Checks
from fourscore.evolve.mutations.proposal import Proposer
from fourscore.judges.llm.prompts import Language
from fourscore.models.messages import Model

Kind = Literal["rules", "model", "gepa"]
KINDS: tuple[Kind, ...] = get_args(Kind)


def proposer_of(
    kind: str | None = None,
    model: Model | str | None = None,
    *,
    checks: Checks | None = None,
    strategies: Sequence[str] = (),
    most_risk: Risk = "high",
    constraints: Sequence[str] = (),
    language: Language = "en",
    prompt_folder: str | None = None,
    settings: Mapping[str, Any] = EMPTY,
) -> Proposer:
    """The one of that name; without a name, the model where there is one, else rules.

    `settings` are the model's. gepa has no strategies: it rewrites what it likes.
    """
    kind = kind or ("rules" if model is None else "model")
    if kind not in KINDS:
        raise ConfigError(f"{kind!r}: {suggest_known(kind, KINDS)}", field="proposer")
    checks = checks or Checks()
    if kind == "rules":
        from fourscore.evolve.mutations.operators import Operators

        return Operators(
            checks=checks,
            strategies=tuple(strategies),
            most_risk=most_risk,
            constraints=tuple(constraints),
        )
    if model is None:
        raise ConfigError(f"the proposer {kind!r} needs a model", field="model")
    if kind == "gepa":
        from fourscore.evolve.mutations.gepa_proposer import GepaProposer

        return GepaProposer(
            model=model,
            settings=dict(settings),
            language=language,
            prompt_folder=prompt_folder,
            checks=checks,
        )
    from fourscore.evolve.mutations.written import Writer

    return Writer(
        model=model,
        settings=dict(settings),
        language=language,
        prompt_folder=prompt_folder,
        checks=checks,
        strategies=tuple(strategies),
        most_risk=most_risk,
    )
