"""What a learning run takes, told before anything is asked, and whether the budget covers it.

Calls are at most: every proposal is revised, every round takes place. Tokens and time are guesses
by the length of the samples; how long a call takes nobody knows beforehand.
"""

from typing import Any, NamedTuple

from fourscore.core import Usage
from fourscore.formats.labelled_samples import SampleFile
from fourscore.judges.llm.model_judge import TRIES
from fourscore.judges.llm.prompts import read_prompt
from fourscore.labels.learning.data_split import FEWEST, Parts, list_answers, take_probe
from fourscore.labels.learning.settings import Learning
from fourscore.models.budget import BYTES_PER_TOKEN, Budget
from fourscore.models.model_pool import ModelPool
from fourscore.models.prices import Price

#: Characters of a token of prose, tokens of a verdict, and seconds of a call, as a guess.
CHARS, WRITTEN, SECONDS = 3.5, 120, 2.0


class Plan(NamedTuple):
    """How many answers each part has, and what a round and the report take at the most."""

    probe: int
    check: int
    selection: int
    held: int
    round_calls: int
    chars: float
    prompt: int
    settings: Learning
    too_few: bool

    @property
    def calls(self) -> int:
        if self.too_few:
            return 0
        return self.settings.rounds * self.round_calls + self.report_calls(
            self.settings.max_rubrics
        )

    def report_calls(self, criteria: int) -> int:
        """The report: the learned rubric and the plain prompt on what was held out."""
        themes = int(self.settings.categories is not None)
        if self.settings.mode == "listwise":
            return 2 * self.held * self.settings.ranking().permutations + themes
        return criteria * self.held + self.check + self.held + themes

    def usage(self) -> Usage:
        """All of it together, as a guess."""
        read = int(self.calls * (self.prompt + self.chars) / CHARS)
        return Usage(calls=self.calls, input_tokens=read, output_tokens=self.calls * WRITTEN)

    @property
    def highest(self) -> int:
        """Tokens that may be set aside for one call."""
        size = self.prompt + 3 * int(self.chars) * max(1, self.settings.batch)
        return size // BYTES_PER_TOKEN + self.settings.criteria("x").max_tokens

    def document(self, pool: ModelPool) -> dict[str, Any]:
        """JSON-ready."""
        usage, price = self.usage(), pool.find_price(self.settings.pool_model.name)
        return {
            "calls_at_most": self.calls,
            "calls_per_round": self.round_calls,
            "calls_of_the_report": self.report_calls(self.settings.max_rubrics),
            "tokens_about": usage.input_tokens + usage.output_tokens,
            "dollars_about": None if price is None else round(price.dollars(usage), 4),
            "seconds_about": round(self.calls * SECONDS / self.settings.concurrency, 1),
        }


def plan_of(samples: SampleFile, parts: Parts, settings: Learning) -> Plan:
    probe = len(list_answers(samples, take_probe(samples, parts.check)))
    check = len(list_answers(samples, parts.check))
    selection = len(list_answers(samples, parts.selection))
    tried = settings.proposals * probe
    revised = settings.revisions * settings.proposals * (1 + probe)
    weighed = settings.proposals * (check - probe + selection)
    mean = sum(entry.chars for entry in samples.entries) / len(samples)
    words = read_prompt("criterion", settings.language)
    return Plan(
        probe=probe,
        check=check,
        selection=selection,
        held=len(parts.held),
        round_calls=1 + tried + revised + weighed,
        chars=min(mean, settings.criteria("x").max_chars),
        prompt=len(words.system) + len(words.user),
        settings=settings,
        too_few=len(samples) < FEWEST,
    )


class BudgetCheck:
    """Whether what is left of a budget covers so many calls, by what calls have taken so far."""

    def __init__(self, budget: Budget | None, plan: Plan, price: Price | None = None) -> None:
        self.budget, self.plan, self.price = budget, plan, price

    def covers(self, calls: int) -> bool:
        if self.budget is None:
            return True
        limits, spent = self.budget.limits, self.budget.spent
        guess = self.plan.usage()
        asked = max(guess.calls, 1)
        tokens = (guess.input_tokens + guess.output_tokens) / asked
        if spent.calls:
            tokens = spent.tokens / spent.calls
        if limits.calls is not None and spent.calls + calls > limits.calls:
            return False
        needed = calls * tokens + TRIES * self.plan.highest
        if limits.tokens is not None and spent.tokens + needed > limits.tokens:
            return False
        if limits.dollars is None:
            return True
        each = 0.0 if self.price is None else self.price.dollars(guess) / max(asked * tokens, 1)
        if spent.tokens:
            each = spent.dollars / spent.tokens
        return spent.dollars + needed * each <= limits.dollars
