"""Score a trainer's batch of rollouts: outputs of equal cases are one group."""

import asyncio
from collections.abc import Sequence

from fourscore.core import Case, ConfigError, Rubric, Score
from fourscore.executors.portal import PORTAL, MustWait, run_without_loop
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.judges.scorer import RubricScorer

#: One case and one output for it; equal cases of a batch are one group.
BatchRow = tuple[Case, RecordedOutput]


def has_ranker(rubric: Rubric) -> bool:
    """Whether a judge of the rubric compares the outputs of a group."""
    return any(slot.is_ranker for slot in rubric.slots)


def refuse_rankers(scorer: RubricScorer, trainer: str) -> RubricScorer:
    """Return the scorer; a `ConfigError` where it ranks, for trainers without groups."""
    for slot in scorer.rubric.slots:
        if slot.is_ranker:
            message = f"{slot.names[0]!r} ranks a group, and {trainer} shows one answer at a time"
            raise ConfigError(message)
    return scorer


def score_batch(scorer: RubricScorer, rows: Sequence[BatchRow]) -> list[Score]:
    """Score each row, in order; blocks the calling thread."""
    if not scorer.rubric.is_bounded or has_ranker(scorer.rubric):
        return scorer.run(score_batch_async(scorer, rows), len(rows))
    scores: dict[int, Score] = {}
    waiting: list[int] = []
    for index, (case, recorded) in enumerate(rows):
        try:
            scores[index] = run_without_loop(scorer.score_async(case, (recorded,)))[0]
        except MustWait:  # e.g. for a worker process: such rows wait together, below
            waiting.append(index)
    if waiting:
        # Each judge bounds its own work, so no deadline here: many answers that are stopped one
        # after the other must not take the reward of those that wait behind them.
        work = score_batch_async(scorer, [rows[index] for index in waiting])
        scores.update(zip(waiting, PORTAL.run(work), strict=True))
    return [scores[index] for index in range(len(rows))]


async def score_batch_async(scorer: RubricScorer, rows: Sequence[BatchRow]) -> list[Score]:
    """Score each row, in order, on the caller's event loop.

    All groups run concurrently, so that one deadline holds for the whole batch.
    """
    groups = _group_rows(scorer.rubric, rows)
    work = (
        scorer.score_async(rows[group[0]][0], [rows[index][1] for index in group])
        for group in groups
    )
    scores: dict[int, Score] = {}
    for group, group_scores in zip(groups, await asyncio.gather(*work), strict=True):
        scores.update(zip(group, group_scores, strict=True))
    return [scores[index] for index in range(len(rows))]


def _group_rows(rubric: Rubric, rows: Sequence[BatchRow]) -> list[list[int]]:
    """Return the indexes of each group: equal cases where a judge ranks, else single rows."""
    if not has_ranker(rubric):
        return [[index] for index in range(len(rows))]
    groups: dict[Case, list[int]] = {}
    for index, (case, _) in enumerate(rows):
        groups.setdefault(case, []).append(index)
    return list(groups.values())
