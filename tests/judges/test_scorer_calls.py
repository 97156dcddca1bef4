"""`RubricScorer`: one call for every caller, blocking or awaited."""

import asyncio
import pickle
import time
from concurrent.futures import ThreadPoolExecutor

from fourscore.core import Case, Rubric, Status, Trace, judge
from fourscore.formats.recorded_outputs import RecordedOutput
from fourscore.judges.math import MathJudge
from fourscore.judges.scorer import RubricScorer

CASE = Case(id="t", input="?", expected="42")
RIGHT, WRONG = (RecordedOutput(Trace(output=f"\\boxed{{{n}}}")) for n in (42, 41))


@judge
async def sleepy(case: Case, trace: Trace) -> bool:
    time.sleep(float(trace.answer))  # noqa: ASYNC251 - where it should await
    return True


def test_blocking_awaited_and_pickled_give_the_same() -> None:
    scorer = RubricScorer(Rubric.from_judge(MathJudge()))
    copied = pickle.loads(pickle.dumps(scorer))
    blocking = scorer.score(CASE, [RIGHT, WRONG])
    assert [score.reward for score in blocking] == [1.0, 0.0]
    assert asyncio.run(scorer.score_async(CASE, [RIGHT, WRONG])) == blocking
    assert copied.score(CASE, [RIGHT, WRONG]) == blocking


def test_sixty_four_threads_share_one_scorer() -> None:
    scorer = RubricScorer(Rubric.from_judge(MathJudge()))
    with ThreadPoolExecutor(64) as threads:
        scores = threads.map(lambda n: scorer.score(CASE, [(RIGHT, WRONG)[n % 2]])[0], range(2000))
    assert [score.passed for score in scores] == [True, False] * 1000


def test_judge_that_blocks_the_loop_times_out_and_the_next_call_works() -> None:
    scorer = RubricScorer(Rubric.from_judge(sleepy), deadline=0.1)
    (late,) = scorer.score(CASE, [RecordedOutput(Trace(output="2"))])
    assert (late.status, late.reward) == (Status.JUDGE_ERROR, None)
    (quick,) = scorer.score(CASE, [RecordedOutput(Trace(output="0"))])
    assert quick.passed
