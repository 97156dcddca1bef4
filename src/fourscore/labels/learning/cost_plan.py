"""Plan what a learning run costs, and check whether the budget covers it.

The number of calls is an upper bound: every proposal is revised, every round takes place. Tokens
and time are estimates by the length of the samples and a guessed time per call.
"""

from typing import Any

import msgspec

from fourscore.core import Usage
from fourscore.formats.labelled_samples import SampleFile
from fourscore.judges.llm.model_judge import TRIES
from fourscore.judges.llm.prompts import read_prompt
from fourscore.labels.learning.data_split import FEWEST, DataSplit, list_answers, take_probe
from fourscore.labels.learning.settings import LearningSettings
from fourscore.models.budget import BYTES_PER_TOKEN, Budget
from fourscore.models.model_pool import ModelPool
from fourscore.models.prices import Price

#: Estimates: characters per token of prose, tokens of a verdict, and seconds per call.
CHARS_PER_TOKEN, REPLY_TOKENS, SECONDS_PER_CALL = 3.5, 120, 2.0


class CostPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The number of answers in each part, and the most calls of a round and the report."""

    probe: int
    check: int
    selection: int
    held: int
    round_calls: int
    chars: float
    prompt: int
    settings: LearningSettings
    too_few: bool

    @property
    def calls(self) -> int:
        """The most calls of the whole run."""
        if self.too_few:
            return 0
        return self.settings.rounds * self.round_calls + self.count_report_calls(
            self.settings.max_rubrics
        )

    def count_report_calls(self, criteria: int) -> int:
        """Return the calls of the report: the learned rubric and the plain prompt on `held`."""
        themes = int(self.settings.categories is not None)
        if self.settings.mode == "listwise":
            return 2 * self.held * self.settings.ranking().permutations + themes
        return criteria * self.held + self.check + self.held + themes

    def estimate_usage(self) -> Usage:
        """Return the estimated usage of the whole run."""
        read = int(self.calls * (self.prompt + self.chars) / CHARS_PER_TOKEN)
        return Usage(calls=self.calls, input_tokens=read, output_tokens=self.calls * REPLY_TOKENS)

    @property
    def max_call_tokens(self) -> int:
        """The most tokens that may be set aside for one call."""
        size = self.prompt + 3 * int(self.chars) * max(1, self.settings.batch)
        return size // BYTES_PER_TOKEN + self.settings.criteria("x").max_tokens

    def document(self, pool: ModelPool) -> dict[str, Any]:
        """Return the plan as JSON values, with the pool's price."""
        usage, price = self.estimate_usage(), pool.find_price(self.settings.pool_model.name)
        return {
            "calls_at_most": self.calls,
            "calls_per_round": self.round_calls,
            "calls_of_the_report": self.count_report_calls(self.settings.max_rubrics),
            "tokens_about": usage.input_tokens + usage.output_tokens,
            "dollars_about": None if price is None else round(price.dollars(usage), 4),
            "seconds_about": round(self.calls * SECONDS_PER_CALL / self.settings.concurrency, 1),
        }


def plan_cost(samples: SampleFile, parts: DataSplit, settings: LearningSettings) -> CostPlan:
    """Return the plan of a run with this data and these settings."""
    probe = len(list_answers(samples, take_probe(samples, parts.check)))
    check = len(list_answers(samples, parts.check))
    selection = len(list_answers(samples, parts.selection))
    tried = settings.proposals * probe
    revised = settings.revisions * settings.proposals * (1 + probe)
    weighed = settings.proposals * (check - probe + selection)
    mean = sum(entry.chars for entry in samples.entries) / len(samples)
    prompt = read_prompt("criterion", settings.language)
    return CostPlan(
        probe=probe,
        check=check,
        selection=selection,
        held=len(parts.held),
        round_calls=1 + tried + revised + weighed,
        chars=min(mean, settings.criteria("x").max_chars),
        prompt=len(prompt.system) + len(prompt.user),
        settings=settings,
        too_few=len(samples) < FEWEST and not settings.without_proof,
    )


class BudgetCheck:
    """Checks whether the rest of a budget covers so many calls, by the cost of calls so far."""

    def __init__(self, budget: Budget | None, plan: CostPlan, price: Price | None = None) -> None:
        self.budget, self.plan, self.price = budget, plan, price

    def covers(self, calls: int) -> bool:
        """Whether so many more calls fit into the budget."""
        if self.budget is None:
            return True
        limits, spent = self.budget.limits, self.budget.spent
        estimate = self.plan.estimate_usage()
        asked = max(estimate.calls, 1)
        tokens = (estimate.input_tokens + estimate.output_tokens) / asked
        if spent.calls:
            tokens = spent.tokens / spent.calls
        if limits.calls is not None and spent.calls + calls > limits.calls:
            return False
        needed = calls * tokens + TRIES * self.plan.max_call_tokens
        if limits.tokens is not None and spent.tokens + needed > limits.tokens:
            return False
        if limits.dollars is None:
            return True
        each = 0.0 if self.price is None else self.price.dollars(estimate) / max(asked * tokens, 1)
        if spent.tokens:
            each = spent.dollars / spent.tokens
        return spent.dollars + needed * each <= limits.dollars
