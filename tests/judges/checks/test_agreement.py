"""ROUGE beside the package that defines it, on texts of few words, so that many are shared."""

import random

import pytest
from rouge_score.rouge_scorer import RougeScorer

from fourscore.judges.checks.similarity import compute_rouge, split_rouge

WORDS = "the cat sat on a mat, It's 3.5 km to Paris; e-mail me AT x@y.org! naive Cafe \n".split(" ")


@pytest.mark.parametrize("kind", ["rouge1", "rouge2", "rougeL"])
def test_rouge_equals_that_of_rouge_score(kind: str) -> None:
    source = random.Random(5)
    scorer = RougeScorer([kind])
    for _ in range(600):
        text, answer = (
            " ".join(source.choices(WORDS, k=source.randrange(0, 30))) for _ in range(2)
        )
        expected = scorer.score(text, answer)[kind].fmeasure
        assert compute_rouge(split_rouge(answer), split_rouge(text), kind) == pytest.approx(
            expected
        )
