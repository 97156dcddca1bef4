"""The settings of a learning run."""

from typing import Any, Literal

import msgspec

from fourscore.core import ConfigError, digest
from fourscore.core.frozen import EMPTY
from fourscore.core.numbers import check_finite, check_whole
from fourscore.formats.labelled_samples import Mode, SampleFields
from fourscore.judges.llm.criteria import Criteria
from fourscore.judges.llm.listwise import Listwise
from fourscore.judges.llm.prompts import Language, read_prompt
from fourscore.judges.llm.rating import Rating
from fourscore.models.messages import Model
from fourscore.models.model_pool import model_for

#: The prompts that a learning run asks with, beside those of the judges.
PROMPTS = ("propose", "revise", "themes")
#: The plain prompt uses the labels' scale if it has at least and at most so many steps; else 0-10.
MIN_STEPS, MAX_STEPS = 3, 100


class LearningSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How to learn a rubric.

    `model`: a specification or a model object. `settings`: the model's settings.
    `max_rubrics`: most criteria. `categories`: number of themes to sort them into.
    `rounds`: most rounds. `patience`: rounds without `min_gain` after which the run ends.
    `batch`: samples shown for proposals. `proposals`: criteria proposed in a round.
    `revisions`: tries to improve a failed criterion.
    `threshold`: labels from this value on, in [0, 1], are good. `bind`: the judges' option.
    `without_proof`: keep criteria that held-out labels do not show to be better, and learn from
    however few samples.
    """

    model: Any
    settings: dict[str, Any] = EMPTY
    mode: Mode = "pointwise"
    language: Language = "en"
    min_score: float = 0.0
    max_score: float = 10.0
    max_rubrics: int = 8
    categories: int | None = None
    seed: int = 0
    concurrency: int = 16
    rounds: int = 6
    patience: int = 2
    batch: int = 8
    proposals: int = 4
    revisions: int = 1
    min_gain: float = 0.02
    threshold: float = 0.7
    bind: Literal["reply", "schema"] = "reply"
    without_proof: bool = False
    fields: SampleFields = SampleFields()
    name: str = "learned"

    def __post_init__(self) -> None:
        for field in ("max_rubrics", "concurrency", "rounds", "patience", "proposals"):
            check_whole(field, getattr(self, field), low=1)
        check_whole("batch", self.batch, low=2)
        check_whole("revisions", self.revisions, low=0)
        check_whole("categories", self.categories, low=1)
        check_finite("min_gain", self.min_gain, low=0)
        check_finite("threshold", self.threshold, low=0, high=1)
        for field in ("min_score", "max_score"):
            check_finite(field, getattr(self, field))
        if self.min_score >= self.max_score:
            message = f"expected less than max_score ({self.max_score:g})"
            raise ConfigError(message, field="min_score")
        _ = self.pool_model

    @property
    def pool_model(self) -> Model:
        return model_for(self.model, self.settings)

    @property
    def bounds(self) -> tuple[float, float]:
        return self.min_score, self.max_score

    def options(self) -> dict[str, Any]:
        """Return the options that all judges of this run share."""
        return {
            "model": self.model,
            "settings": self.settings,
            "language": self.language,
            "bind": self.bind,
        }

    def criteria(self, *texts: Any, **options: Any) -> Criteria:
        return Criteria(criteria=texts, **self.options(), **options)

    def rating(self) -> Rating:
        """Return the plain prompt, on the labels' scale if its steps are whole and not too few."""
        low, high = self.bounds
        own = low.is_integer() and high.is_integer() and MIN_STEPS <= high - low <= MAX_STEPS
        scale = (int(low), int(high)) if own else (0, 10)
        return Rating(min_score=scale[0], max_score=scale[1], **self.options())

    def ranking(self, criterion: str = "") -> Listwise:
        return Listwise(criterion=criterion, **self.options())

    def prompts(self) -> dict[str, str]:
        """Return name and version of every prompt of the run."""
        found = {
            f"{name}/{self.language}": read_prompt(name, self.language).version for name in PROMPTS
        }
        plain = self.rating() if self.mode == "pointwise" else self.ranking()
        return {**found, **self.criteria("x").prompts, **plain.prompts}

    def fingerprint(self, data: str) -> str:
        """Return a digest of the data and of everything that can change the result."""
        options = {
            name: getattr(self, name)
            for name in self.__struct_fields__
            if name not in ("model", "settings", "fields", "concurrency", "name")
        }
        fields = [self.fields.query, self.fields.answer, self.fields.reference]
        return digest([options, fields, self.pool_model.fingerprint, self.prompts(), data])
