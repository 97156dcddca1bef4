"""A thousand samples: limited concurrency, within the budget, not all texts in memory."""

import asyncio
import tracemalloc
from pathlib import Path

from tests.labels.learning import planted

from fourscore.core import digest
from fourscore.formats.labelled_samples import SampleFile
from fourscore.labels.learning.learn import LEARNED, learn
from fourscore.labels.learning.settings import LearningSettings
from fourscore.models.budget import Budget, BudgetedModel
from fourscore.models.messages import Request, Response
from fourscore.models.model_pool import ModelPool
from fourscore.models.scripted import ScriptedModel

LONG = 20_000


class Slow:
    """The planted model with a delay, which keeps no requests."""

    name = "slow"
    fingerprint = digest("slow")

    def __init__(self) -> None:
        self.calls = self.under_way = self.most = 0

    async def ask(self, ask: Request) -> Response:
        self.calls += 1
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        await asyncio.sleep(0)
        self.under_way -= 1
        return await ScriptedModel(lambda a: planted.reply(a.messages[1].content)).ask(ask)


def test_thousand_samples_within_budget_and_memory(tmp_path: Path) -> None:
    rows = planted.rows(1000)
    for row in rows:
        row["metadata"]["answer"] += " padding" * (LONG // 8)
    path = planted.write(tmp_path / "train.jsonl", rows)
    del rows
    size = path.stat().st_size
    assert size > 20_000_000
    model = Slow()

    async def run() -> str:
        budget = Budget(calls=2500)
        async with ModelPool(budget=budget):
            settings = LearningSettings(model=BudgetedModel(model, budget), concurrency=8)
            document = await learn(SampleFile(path), settings)
        assert budget.spent.calls == model.calls
        return str(document["learned"]["outcome"])

    tracemalloc.start()
    try:
        assert asyncio.run(run()) == LEARNED
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 500 < model.calls <= 2500
    assert model.most <= 8
    assert peak < size / 2, f"{peak} bytes for a file of {size}"
