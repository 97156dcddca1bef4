"""AgentJet's section `rubrics_auto_grader`, and the settings for learning that it describes.

An API key in it is taken out first: `fourscore.models.api_keys` holds it under a name, and only
the name is passed on, compared, pickled or shown.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from fourscore.core import ConfigError
from fourscore.core.numbers import check_finite, check_whole
from fourscore.formats.labelled_samples import SampleFields
from fourscore.formats.validation import ConversionError, convert_value
from fourscore.models.api_keys import FALLBACK_ENV, register_key
from fourscore.models.model_spec import KINDS

if TYPE_CHECKING:
    from fourscore.labels.learning.settings import LearningSettings

#: AgentJet's keys that are accepted and have no effect.
_IGNORED = ("sampling_mode", "generate_number", "aggregation_mode", "num_reference_samples")
DASHSCOPE = "https://dashscope.aliyuncs.com/compatible-mode/v1"


class DataFile(msgspec.Struct, forbid_unknown_fields=True):
    """A file of labelled samples."""

    file_path: str


class Dataset(msgspec.Struct, forbid_unknown_fields=True):
    """The files of samples to learn a rubric from."""

    training: DataFile
    validation: DataFile | None = None


class AutoGraderSection(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The section `rubrics_auto_grader`: learn a rubric from labelled samples and judge by it."""

    model_name: str
    api_key: str | None = None
    base_url: str | None = None
    grader_name: str = "auto_grader"
    grader_mode: Literal["pointwise", "listwise"] = "pointwise"
    language: Literal["en", "zh"] = "en"
    min_score: float = 0
    max_score: float = 10
    success_threshold: float = 0.7
    input_data_type: Literal["dataset_file", "jsonl_dataset_file"] = "dataset_file"
    dataset_file: Dataset | None = None
    jsonl_dataset_file: Dataset | None = None
    query_field: str = "main_query"
    answer_field: str = "final_answer"
    reference_field: str = "answer"
    enable_categorization: bool = False
    categories_number: int = 5
    max_total_rubrics: int = 8
    max_iterations: int = 6
    batch_size: int = 8
    query_specific_generate_number: int | None = None
    patience: int = 2
    min_increment_threshold: float = 0.02
    max_retries: int = 8
    max_epochs: int = 1
    seed: int = 0
    custom_evaluation_prompt: str | None = None
    concurrency: int = 16
    bind: Literal["reply", "schema"] = "reply"
    rubric_file: str | None = None
    # AgentJet's keys for its own way of learning; here all samples are used, and the report of the
    # learned rubric says which criteria were kept.
    sampling_mode: str | None = None
    generate_number: int | None = None
    aggregation_mode: str | None = None
    num_reference_samples: int | None = None
    #: Keep what was learned even where held-out labels do not show that it helps.
    learn_without_proof: bool = False

    @property
    def ignored(self) -> list[str]:
        """The keys that are given and have no effect here."""
        return [name for name in _IGNORED if getattr(self, name) is not None]

    def check(self) -> None:
        """Raise `ConfigError` with the field for values that a type cannot exclude."""
        for field in ("min_score", "max_score", "success_threshold", "min_increment_threshold"):
            try:
                check_finite(field, getattr(self, field))
            except ValueError:
                raise ConfigError("expected a finite number", field=field) from None
        if self.min_score >= self.max_score:
            message = f"expected less than max_score ({self.max_score:g})"
            raise ConfigError(message, field="min_score")
        if self.custom_evaluation_prompt is not None:
            message = "not supported: the prompts of learned rubrics are fixed"
            raise ConfigError(message, field="custom_evaluation_prompt")
        for field, low in _LEAST.items():
            try:
                check_whole(field, getattr(self, field), low=low)
            except ValueError:
                raise ConfigError(f"expected at least {low}", field=field) from None

    def data(self, folders: Sequence[str]) -> Path:
        """Find the file of samples: beside the configuration, else in the working directory."""
        named = getattr(self, self.input_data_type) or self.dataset_file or self.jsonl_dataset_file
        if named is None:
            raise ConfigError(
                "missing: expected a file of labelled samples",
                field=f"{self.input_data_type}.training.file_path",
            )
        path = named.training.file_path
        tried = [Path(folder, path).expanduser() for folder in (*folders, str(Path.cwd()))]
        found = next((one for one in tried if one.is_file()), None)
        if found is None:
            places = " or ".join(dict.fromkeys(str(one) for one in tried))
            field = f"{self.input_data_type}.training.file_path"
            raise ConfigError(f"no such file: {places}", field=field)
        return found

    def learning(self) -> "LearningSettings":
        """Return the settings for learning, without the API key."""
        from fourscore.labels.learning.settings import (
            LearningSettings,  # only where something is learned
        )

        return LearningSettings(
            model=self.spec,
            settings=self.model_settings(),
            mode=self.grader_mode,
            language=self.language,
            min_score=float(self.min_score),
            max_score=float(self.max_score),
            max_rubrics=self.max_total_rubrics,
            categories=self.categories_number if self.enable_categorization else None,
            seed=self.seed,
            concurrency=self.concurrency,
            rounds=self.max_iterations,
            patience=self.patience,
            batch=self.batch_size,
            proposals=self.proposals,
            revisions=self.max_epochs,
            min_gain=self.min_increment_threshold,
            threshold=min(1.0, max(0.0, self.success_threshold)),
            fields=SampleFields(
                query=self.query_field, answer=self.answer_field, reference=self.reference_field
            ),
            bind=self.bind,
            without_proof=self.learn_without_proof,
            name=self.grader_name,
        )

    @property
    def proposals(self) -> int:
        """Criteria proposed in a round: so many for each sample shown, and at most eight."""
        each = self.query_specific_generate_number
        return 4 if each is None else min(each * self.batch_size, 8)

    @property
    def spec(self) -> str:
        """The model specification; a name without a kind is an OpenAI-compatible model."""
        kind = self.model_name.partition(":")[0]
        return self.model_name if kind in KINDS else f"openai:{self.model_name}"

    def model_settings(self) -> dict[str, Any]:
        """Return the model's endpoint and key variable; by default DashScope, as in AgentJet."""
        if self.spec.startswith("scripted:"):
            return {}
        settings: dict[str, Any] = {"attempts": self.max_retries, "concurrency": self.concurrency}
        known = next((name for name in FALLBACK_ENV if os.environ.get(name, "").strip()), None)
        bare = self.spec != self.model_name
        from_env = os.environ.get("FOURSCORE_BASE_URL") if self.spec.startswith("openai:") else None
        if self.base_url or from_env:
            settings["base_url"] = self.base_url or from_env
        elif bare and (self.api_key or known != "OPENAI_API_KEY"):
            settings["base_url"] = DASHSCOPE
        if self.api_key:
            settings["key_env"] = register_key(self.model_name, self.api_key)
        elif known is not None and bare:
            settings["key_env"] = known
        return settings


#: Smallest allowed values.
_LEAST = {
    "categories_number": 1,
    "max_total_rubrics": 1,
    "max_iterations": 1,
    "batch_size": 2,
    "query_specific_generate_number": 1,
    "patience": 1,
    "max_retries": 1,
    "max_epochs": 0,
    "concurrency": 1,
}


def find_section(config: Any) -> dict[str, Any]:
    """Return the keys of the section, from a whole configuration, `task_judge` or itself."""
    found = config
    for keys in (("ajet", "fourscore"), ("task_judge",), ("rubrics_auto_grader", "judge_options")):
        below = (_get(found, key) for key in keys)
        found = next((one for one in below if one is not None), found)
    plain = _make_plain(found)
    if not isinstance(plain, dict):
        raise ConfigError("expected a section", field="rubrics_auto_grader")
    return plain


def read_section(config: Any) -> AutoGraderSection:
    """Read and check the section."""
    try:
        section = convert_value(find_section(config), AutoGraderSection)
    except ConversionError as error:
        field = f"rubrics_auto_grader.{error.field or ''}".rstrip(".")
        raise ConfigError(error.message, field=field) from None
    section.check()
    return section


def _get(holder: Any, key: str) -> Any:
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)


def _make_plain(value: Any) -> Any:
    """Return mappings and attribute objects as dictionaries, at any depth."""
    if isinstance(value, Mapping):
        return {str(key): _make_plain(item) for key, item in value.items()}
    if hasattr(value, "__dict__") and not isinstance(value, type):
        return {
            key: _make_plain(item) for key, item in vars(value).items() if not key.startswith("_")
        }
    return value
