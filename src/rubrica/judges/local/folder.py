"""The files of a local model: where they are, and what its configuration says."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rubrica.core.errors import ConfigError

#: The first that is there is taken: of several, the exact weights and not the fast ones.
MODEL_FILES = (
    "model.onnx",
    "onnx/model.onnx",
    "model_quantized.onnx",
    "onnx/model_quantized.onnx",
    "model_int8.onnx",
    "onnx/model_int8.onnx",
)
_SETTINGS = ("config.json", "tokenizer.json", "tokenizer_config.json", "1_Pooling/config.json")
_HUB_ID = re.compile(r"[\w-][\w.-]*/[\w-][\w.-]*(?:@[\w./-]+)?")
#: Tokens read at most, whatever the model would take: the time grows with their square.
MOST_TOKENS = 512


class Labels(NamedTuple):
    """The columns of a cross-encoder's logits; None where it has no such label."""

    entailment: int | None
    contradiction: int | None


def find_folder(name: str) -> Path:
    """The folder of a model: `name` itself, or where the hub's files for `owner/name` are kept.

    `owner/name@revision` pins a revision. What is kept already is not fetched again, and nothing
    is fetched where `HF_HUB_OFFLINE` is set.
    """
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        return folder
    if not _HUB_ID.fullmatch(name):
        message = (
            f"no folder {name!r}; expected one with model.onnx and tokenizer.json, or owner/name"
        )
        raise ConfigError(message, field="model")
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        message = f"no folder {name!r}, and a hub id needs: pip install huggingface_hub"
        raise ConfigError(message, field="model") from None
    repo, _, revision = name.partition("@")
    for file in MODEL_FILES:  # one at a time: a repository may hold ten forms of its weights
        wanted = [*_SETTINGS, file, f"{file}_data"]
        try:
            folder = Path(snapshot_download(repo, revision=revision or None, allow_patterns=wanted))
        except Exception as error:  # the hub's, httpx's and the system's errors have no common base
            message = f"no folder {name!r}, and it could not be fetched from the hub: {error}"
            raise ConfigError(message, field="model") from error
        if (folder / file).is_file():
            break
    return folder


def find_model_file(folder: Path) -> Path:
    """The first of `MODEL_FILES` in a folder."""
    for file in MODEL_FILES:
        if (folder / file).is_file():
            return folder / file
    message = f"no ONNX model there (looked for {', '.join(MODEL_FILES)})"
    raise ConfigError(message, file=str(folder), field="model")


def read_settings(path: Path) -> Mapping[str, Any]:
    """A JSON object out of a file; empty where there is no such file."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot be read as JSON: {error}", file=str(path)) from None
    if not isinstance(found, dict):
        raise ConfigError("expected a JSON object", file=str(path))
    return found


def read_max_tokens(folder: Path, truncation: Mapping[str, Any] | None) -> int:
    """The most tokens that the model takes: the least that any of its files says."""
    tokenizer = read_settings(folder / "tokenizer_config.json").get("model_max_length")
    positions = read_settings(folder / "config.json").get("max_position_embeddings")
    named = (tokenizer, positions, (truncation or {}).get("max_length"), MOST_TOKENS)
    return int(min(one for one in named if isinstance(one, int | float) and one > 0))


def read_labels(folder: Path, columns: int) -> Labels:
    """Which column means what, by `id2label` of config.json."""
    file = folder / "config.json"
    named = read_settings(file).get("id2label")
    if not isinstance(named, dict) or len(named) != columns or columns not in (2, 3):
        message = f"expected names for the {columns} columns of the logits (2 or 3), found {named}"
        raise ConfigError(message, file=str(file), field="id2label")
    try:
        labels = [str(named[str(column)]).strip().lower() for column in range(columns)]
    except KeyError as error:
        message = f"column {error} has no name in {named}"
        raise ConfigError(message, file=str(file), field="id2label") from None
    entailment = _find_column(labels, ("entail", "support"))
    contradiction = _find_column(labels, ("contradict", "refut"))
    if entailment is None and (contradiction is None or columns == 3):
        message = (
            f"cannot tell which of {labels} is entailment; "
            'name the columns as in {"0": "entailment", "1": "neutral", "2": "contradiction"}'
        )
        raise ConfigError(message, file=str(file), field="id2label")
    return Labels(entailment, contradiction)


def _find_column(labels: Sequence[str], beginnings: tuple[str, ...]) -> int | None:
    """The one column whose name begins so: `not_entailment` is no entailment."""
    found = [column for column, label in enumerate(labels) if label.startswith(beginnings)]
    return found[0] if len(found) == 1 else None
