"""The dimensions that read language, with verdicts by a small model on this machine.

Chosen by `with: {by: local, model: FOLDER}`; everything but the verdicts is as with `by: rules`.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec

from fourscore.core import Case, ConfigError, Signal, Trace, digest
from fourscore.judges.dimensions import citation_accuracy, completeness, factual_accuracy
from fourscore.judges.dimensions.factual_accuracy import Fact
from fourscore.judges.local.model import LocalModel, open_local_model
from fourscore.judges.local.support import judge_claims_locally, judge_topics_locally
from fourscore.judges.reader.coverage import Coverage
from fourscore.judges.reader.support import ClaimVerdict, grade
from fourscore.judges.reader.text import Text, read_text

#: Most words of an aspect that is a topic; a longer one is a statement.
_MAX_TOPIC = 4


class _Local:
    """Options and methods of all judges with a local model.

    A plain class, because a struct cannot have two structs as bases.

    model: a folder with model.onnx, tokenizer.json and config.json, or the id of one on a hub
    threads: processor threads for one call (default 1)
    """

    __slots__ = ()
    __struct_fields__: ClassVar[tuple[str, ...]]
    model: str
    threads: int

    @property
    def local_model(self) -> LocalModel:
        """The opened model."""
        return open_local_model(self.model, self.threads)

    @property
    def runs(self) -> Literal["thread"]:
        return "thread"

    @property
    def fingerprint(self) -> str:
        """A digest of class, options and the content of the model's files, whatever their path."""
        options: dict[str, object] = {
            name: getattr(self, name)
            for name in self.__struct_fields__
            if name not in ("model", "threads")
        }
        return digest([type(self).__name__, options, self.local_model.digest])

    def _name_model(self, signals: Sequence[Signal]) -> Sequence[Signal]:
        """Return the signals with the model's name in their reason."""
        note = f"by the local model {self.model}"
        return [msgspec.structs.replace(one, reason=f"{one.reason}; {note}") for one in signals]


class FactualAccuracy(
    _Local, factual_accuracy.FactualAccuracy, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Factual accuracy by the probability of entailment, or the nearest sentence's similarity."""

    model: str
    threads: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is not None:
            raise ConfigError("fitted weights are for by: rules", field="with.weights")
        self.local_model  # noqa: B018 - report a missing extra or file before the first case

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return self._name_model(await super().judge(case, trace))

    def find_verdicts(self, facts: Sequence[Fact], text: Text, question: str) -> list[ClaimVerdict]:
        wordings = [(fact.text, *fact.others) for fact in facts]
        every = [one for each in wordings for one in each]
        found = iter(judge_claims_locally(self.local_model, every, text, question))
        return [max((next(found) for _ in each), key=lambda one: one.support) for each in wordings]


class Completeness(
    _Local, completeness.Completeness, frozen=True, kw_only=True, forbid_unknown_fields=True
):
    """Completeness by the local model; topics and statements are judged separately."""

    model: str
    threads: int = 1

    def __post_init__(self) -> None:
        self.local_model  # noqa: B018 - report a missing extra or file before the first case

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return self._name_model(await super().judge(case, trace))

    def find_coverages(self, aspects: Sequence[str], text: Text, question: str) -> list[Coverage]:
        topics = [one for one in aspects if len(one.split()) <= _MAX_TOPIC]
        claims = [one for one in aspects if len(one.split()) > _MAX_TOPIC]
        found = dict(zip(topics, judge_topics_locally(self.local_model, topics, text), strict=True))
        verdicts = judge_claims_locally(self.local_model, claims, text, question)
        found |= zip(claims, verdicts, strict=True)
        return [Coverage(grade(found[one]), found[one].start, found[one].end) for one in aspects]


class CitationAccuracy(
    _Local,
    citation_accuracy.CitationAccuracy,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
):
    """Citation accuracy; the local model decides whether a source supports a sentence."""

    model: str
    threads: int = 1

    def __post_init__(self) -> None:
        self.local_model  # noqa: B018 - report a missing extra or file before the first case

    async def judge(self, case: Case, trace: Trace) -> Sequence[Signal]:
        return self._name_model(await super().judge(case, trace))

    def find_verdicts(self, claims: Sequence[str], source: str) -> list[ClaimVerdict]:
        return judge_claims_locally(self.local_model, claims, read_text(source))
