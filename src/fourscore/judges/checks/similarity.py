"""Checks of likeness: edit_similarity, f1, exact_match, rouge, bleu, chrf, embedding_similarity."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, Literal

from fourscore.core import Case, ConfigError, Signal, Trace
from fourscore.core.extras import require_extra
from fourscore.judges.checks.check import (
    Check,
    GradedCheck,
    Texts,
    join_or,
    read_answer,
    read_texts,
    shorten,
)

#: Most characters that are compared letter by letter, and most that are split into words.
MAX_LETTERS, MAX_WORDS_FROM = 20_000, 200_000
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ROUGE_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")
_CHINESE = re.compile(r"([\u3400-\u9fff])")


class EditSimilarity(GradedCheck, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Measures how few characters differ: 1 - edits / length of the longer text (Levenshtein).

    text: the right answer, or a list, of which the most similar counts; without it, what the case
        expects
    at_least: the check passes from this value on (0.7)

    Example: {edit_similarity: "The order was sent.", at_least: 0.9}
    """

    name: ClassVar[str] = "edit_similarity"
    main: ClassVar[str] = "text"
    text: Texts = None

    def measure(self, case: Case, trace: Trace) -> Signal:
        answer = read_answer(trace)
        value = max(compare_letters(answer, one) for one in read_texts(self.text, case))
        return self.grade(value, f"similarity {value:.3f}")


def compare_letters(one: str, other: str) -> float:
    """Return 1 - edits / length of the longer text; all beyond `MAX_LETTERS` counts as edits."""
    from rapidfuzz.distance import Levenshtein

    length = max(len(one), len(other))
    if not length:
        return 1.0
    cut = one[:MAX_LETTERS], other[:MAX_LETTERS]
    edits = Levenshtein.distance(*cut) + (length - max(map(len, cut)))
    return max(0.0, 1.0 - edits / length)


class F1(GradedCheck, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Measures shared words as SQuAD does: the harmonic mean of precision and recall.

    Case, punctuation, articles and space do not count; a Chinese character is a word.

    text: the right answer, or a list, of which the best counts; without it, what the case expects
    at_least: the check passes from this value on (0.7)

    Example: {f1: "the Eiffel Tower", at_least: 0.8}
    """

    name: ClassVar[str] = "f1"
    main: ClassVar[str] = "text"
    text: Texts = None

    def measure(self, case: Case, trace: Trace) -> Signal:
        answer = split_squad(read_answer(trace))
        value = max(compute_f1(answer, split_squad(one)) for one in read_texts(self.text, case))
        return self.grade(value, f"F1 {value:.3f}")


class ExactMatch(Check, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Passes if the answer equals the text by SQuAD's rules: case, punctuation, articles are free.

    text: the right answer, or a list of right answers; without it, what the case expects

    Example: {exact_match: "the Eiffel Tower"}
    """

    name: ClassVar[str] = "exact_match"
    main: ClassVar[str] = "text"
    text: Texts = None

    def measure(self, case: Case, trace: Trace) -> Signal:
        answer, texts = read_answer(trace), read_texts(self.text, case)
        if normalize_squad(answer) in [normalize_squad(one) for one in texts]:
            return self.decide(True, "the answer is the expected text")
        return self.decide(False, f"the answer is {shorten(answer)}, expected {join_or(texts)}")


def normalize_squad(text: str) -> str:
    """Return a text in lower case without ASCII punctuation, articles and extra space."""
    plain = text[:MAX_WORDS_FROM].lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLE.sub(" ", plain).split())


def split_squad(text: str) -> list[str]:
    """Return the words of a text by SQuAD's rules; each Chinese character is a word."""
    return _CHINESE.sub(r" \1 ", normalize_squad(text)).split()


def compute_f1(words: Sequence[str], expected: Sequence[str]) -> float:
    """Return the F1 of shared words; two texts without any word are equal."""
    if not words or not expected:
        return float(words == expected)
    shared = (Counter(words) & Counter(expected)).total()
    return 2 * shared / (len(words) + len(expected))


class Rouge(GradedCheck, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Measures ROUGE's F: shared words, pairs of words, or the longest common sequence of words.

    Words are those of the package rouge-score without stemming, in every script: `café` is one
    word, and a Chinese character is one.

    text: the reference, or a list, of which the best counts; without it, what the case expects
    kind: `rouge1`, `rouge2` or `rougeL` (default)
    at_least: the check passes from this value on (0.7)

    Example: {rouge: "The cat sat on the mat.", kind: rougeL, at_least: 0.5}
    """

    name: ClassVar[str] = "rouge"
    main: ClassVar[str] = "text"
    text: Texts = None
    kind: Literal["rouge1", "rouge2", "rougeL"] = "rougeL"

    def measure(self, case: Case, trace: Trace) -> Signal:
        words = split_rouge(read_answer(trace))
        texts = read_texts(self.text, case)
        value = max(compute_rouge(words, split_rouge(one), self.kind) for one in texts)
        return self.grade(value, f"{self.kind} {value:.3f}")


def split_rouge(text: str) -> list[str]:
    return _ROUGE_WORD.findall(text[:MAX_WORDS_FROM].lower())


def compute_rouge(words: Sequence[str], expected: Sequence[str], kind: str) -> float:
    """Return ROUGE's F; 0 where a text has no word, or no pair of words for `rouge2`."""
    if kind == "rougeL":
        from rapidfuzz.distance import LCSseq

        words, expected = words[:MAX_LETTERS], expected[:MAX_LETTERS]
        shared, total = LCSseq.similarity(words, expected), len(words) + len(expected)
    else:
        n = int(kind[-1])
        one, other = (
            Counter(zip(*(text[i:] for i in range(n)), strict=False)) for text in (words, expected)
        )
        shared, total = (one & other).total(), one.total() + other.total()
    return 2 * shared / total if total else 0.0


class Bleu(GradedCheck, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Measures sacrebleu's sentence BLEU, from 0 to 1. Needs the extra `checks`.

    text: the reference, or a list of references; without it, what the case expects
    tokenize: how sacrebleu splits words: `13a` (default), `zh` for Chinese, `char`, `intl`, `none`
    at_least: the check passes from this value on (0.7)

    Example: {bleu: "Das Haus ist klein.", at_least: 0.4}
    """

    name: ClassVar[str] = "bleu"
    main: ClassVar[str] = "text"
    text: Texts = None
    tokenize: Literal["13a", "zh", "char", "intl", "none"] = "13a"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_extra("checks", "the check bleu")

    def measure(self, case: Case, trace: Trace) -> Signal:
        from sacrebleu.metrics.bleu import BLEU

        texts = [one[:MAX_LETTERS] for one in read_texts(self.text, case)]
        metric = BLEU(tokenize=self.tokenize, effective_order=True)
        value = metric.sentence_score(read_answer(trace)[:MAX_LETTERS], texts).score / 100
        return self.grade(value, f"BLEU {value:.3f}")


class Chrf(GradedCheck, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Measures sacrebleu's chrF: shared sequences of characters. Needs the extra `checks`.

    text: the reference, or a list of references; without it, what the case expects
    words: the longest sequence of words that counts too: 0 for chrF (default), 2 for chrF++
    at_least: the check passes from this value on (0.7)

    Example: {chrf: "Das Haus ist klein.", words: 2}
    """

    name: ClassVar[str] = "chrf"
    main: ClassVar[str] = "text"
    text: Texts = None
    words: Literal[0, 1, 2] = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_extra("checks", "the check chrf")

    def measure(self, case: Case, trace: Trace) -> Signal:
        from sacrebleu.metrics.chrf import CHRF

        texts = [one[:MAX_LETTERS] for one in read_texts(self.text, case)]
        metric = CHRF(word_order=self.words)
        value = metric.sentence_score(read_answer(trace)[:MAX_LETTERS], texts).score / 100
        return self.grade(value, f"chrF {value:.3f}")


class EmbeddingSimilarity(GradedCheck, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Measures the cosine of two texts by an embedding model on this machine (extra `local`).

    model: a folder or hub id of an embedding model in ONNX format
    text: the reference, or a list, of which the nearest counts; without it, what the case expects
    at_least: the check passes from this value on (0.7)

    Example: {embedding_similarity: "It has been sent.", model: models/minilm, at_least: 0.6}
    """

    name: ClassVar[str] = "embedding_similarity"
    main: ClassVar[str] = "text"
    model: str
    text: Texts = None

    def __post_init__(self) -> None:
        super().__post_init__()
        from fourscore.judges.local.model import open_local_model

        if open_local_model(self.model).kind != "embedding":
            raise ConfigError("expected an embedding model", field="model")

    @property
    def runs(self) -> Literal["inline", "thread"]:
        return "thread"

    def measure(self, case: Case, trace: Trace) -> Signal:
        from fourscore.judges.local.model import open_local_model

        texts = [one[:MAX_LETTERS] for one in read_texts(self.text, case)]
        answer, *others = open_local_model(self.model).embed(
            [read_answer(trace)[:MAX_LETTERS], *texts]
        )
        value = max(float(answer @ other) for other in others)
        return self.grade(value, f"cosine {value:.3f}")
