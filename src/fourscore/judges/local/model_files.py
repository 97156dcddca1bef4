"""Find and open the files of a local model, and read its configuration."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fourscore.core.errors import ConfigError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

#: The first that exists is used: full-precision weights before quantised ones.
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
#: Most tokens that are read, even if the model takes more: time grows with their square.
MAX_TOKENS = 512


class Labels(NamedTuple):
    """The columns of a cross-encoder's logits; None if it has no such label."""

    entailment: int | None
    contradiction: int | None


def find_folder(name: str) -> Path:
    """Return the folder of a model: `name` itself, or the hub's cache folder for `owner/name`.

    `owner/name@revision` pins a revision. Cached files are not fetched again, and nothing is
    fetched if `HF_HUB_OFFLINE` is set.
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
    for file in MODEL_FILES:  # one at a time: a repository may hold its weights in ten formats
        wanted = [*_SETTINGS, file, f"{file}_data"]
        try:
            folder = Path(snapshot_download(repo, revision=revision or None, allow_patterns=wanted))
        except (
            Exception
        ) as error:  # errors of the hub, of httpx and of the system have no common base
            message = f"no folder {name!r}, and it could not be fetched from the hub: {error}"
            raise ConfigError(message, field="model") from error
        if (folder / file).is_file():
            break
    return folder


def find_model_file(folder: Path) -> Path:
    """Return the first of `MODEL_FILES` in a folder."""
    for file in MODEL_FILES:
        if (folder / file).is_file():
            return folder / file
    message = f"no ONNX model there (looked for {', '.join(MODEL_FILES)})"
    raise ConfigError(message, file=str(folder), field="model")


def read_settings(path: Path) -> Mapping[str, Any]:
    """Read a JSON object from a file; empty if the file does not exist."""
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
    """Return the most tokens that the model takes: the least limit that its files give."""
    tokenizer = read_settings(folder / "tokenizer_config.json").get("model_max_length")
    positions = read_settings(folder / "config.json").get("max_position_embeddings")
    named = (tokenizer, positions, (truncation or {}).get("max_length"), MAX_TOKENS)
    return int(min(one for one in named if isinstance(one, int | float) and one > 0))


def read_labels(folder: Path, columns: int | str | None) -> Labels:
    """Return the meaning of the logits' columns, by `id2label` of config.json.

    `columns` is their number by the graph; some graphs do not give it.
    """
    file = folder / "config.json"
    named = read_settings(file).get("id2label")
    named = named if isinstance(named, dict) else {}
    keys = [str(column) for column in range(len(named))]
    fits = len(keys) == columns if isinstance(columns, int) else True
    if len(keys) not in (2, 3) or not fits or set(keys) != set(named):
        message = f"expected names for the {columns} columns of the logits (2 or 3), found {named}"
        raise ConfigError(message, file=str(file), field="id2label")
    labels = [str(named[key]).strip().lower() for key in keys]
    entailment = _find_column(labels, ("entail", "support"))
    contradiction = _find_column(labels, ("contradict", "refut"))
    if entailment is None and (contradiction is None or len(labels) == 3):
        message = (
            f"cannot tell which of {labels} is entailment; "
            'name the columns as in {"0": "entailment", "1": "neutral", "2": "contradiction"}'
        )
        raise ConfigError(message, file=str(file), field="id2label")
    return Labels(entailment, contradiction)


def _find_column(labels: Sequence[str], beginnings: tuple[str, ...]) -> int | None:
    """Return the only column whose name begins so, or None; `not_entailment` is no entailment."""
    found = [column for column, label in enumerate(labels) if label.startswith(beginnings)]
    return found[0] if len(found) == 1 else None


def open_session(file: Path, threads: int) -> Any:
    """Open an ONNX Runtime session on the CPU, without any library of custom operators."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4
    # Otherwise each waiting thread of the pool would keep a core busy.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime's error classes have no common base
        raise ConfigError(f"not a usable ONNX model: {error}", file=str(file)) from error


def has_runtime_scales(file: Path) -> bool:
    """Whether a graph takes its quantisation scales from the whole batch at run time."""
    with file.open("rb") as handle, mmap(handle.fileno(), 0, access=ACCESS_READ) as content:
        return content.find(b"DynamicQuantize") >= 0  # operator names are plain text in the file


def open_tokenizer(file: Path) -> "Tokenizer":
    """Open the tokenizer in a file `tokenizer.json`."""
    from tokenizers import Tokenizer

    if not file.is_file():
        raise ConfigError("the model's folder has no tokenizer.json", file=str(file))
    try:
        return Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises plain Exception
        raise ConfigError(f"not a usable tokenizer: {error}", file=str(file)) from error


def digest_files(folder: Path, model: Path) -> str:
    """Return a short digest of the weights, the tokenizer and the configuration."""
    found = hashlib.sha256()
    for file in (model, folder / "tokenizer.json", folder / "config.json"):
        if file.is_file():
            with file.open("rb") as handle:
                found.update(hashlib.file_digest(handle, "sha256").digest())
    return found.hexdigest()[:16]
