"""Run a small model on this machine: does a premise entail a hypothesis, how similar are texts?

ONNX Runtime reads the file as data: no library of custom operators is loaded, and a graph that
needs one is refused.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from fourscore.core.errors import ConfigError, JudgeError
from fourscore.core.extras import require_extra
from fourscore.judges.local import model_files as files

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding

    Array = NDArray[np.floating[Any]]

#: Pairs in one call of the model: more was slower on a CPU, because of padding and cache misses.
BATCH = 8
MAX_THREADS = 64
#: Most characters of a token: a text is cut to this before it is tokenised, which saves time.
_MAX_TOKEN = 8
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
#: The kind of model by the name of its output, as the usual exporters write it, the best first.
_OUTPUTS: Mapping[str, "ModelKind"] = {
    "logits": "entailment",
    "sentence_embedding": "embedding",
    "last_hidden_state": "embedding",
    "token_embeddings": "embedding",
}

ModelKind = Literal["entailment", "contradiction", "embedding"]


class Entailment(NamedTuple):
    """The probabilities that a premise entails and contradicts a hypothesis."""

    support: float
    contradiction: float


class LocalModel:
    """An entailment cross-encoder or an embedding model; `kind` says which, by the graph's output.

    A cross-encoder with the labels contradiction and not contradiction has the kind
    `contradiction`. One instance serves many threads. It pickles by its name, and another process
    opens it again. `digest` changes with the weights and the tokenizer, for a judge's fingerprint.
    """

    def __init__(self, name: str, threads: int = 1) -> None:
        self.name, self.threads = name, threads
        folder = files.find_folder(name)
        file = files.find_model_file(folder)
        self.digest = files.digest_files(folder, file)
        self._session = files.open_session(file, threads)
        # With scales of the whole batch, other claims changed a claim's probability by up to 0.11.
        self._batch = 1 if files.has_runtime_scales(file) else BATCH
        self._tokenizer = files.open_tokenizer(folder / "tokenizer.json")

        inputs = self._session.get_inputs()
        self._inputs = {one.name: one.type[len("tensor(") : -1] for one in inputs}
        if unknown := sorted(set(self._inputs) - set(_INPUTS)):
            message = f"the graph asks for {', '.join(unknown)}; known: {', '.join(_INPUTS)}"
            raise ConfigError(message, file=str(file))
        length = inputs[0].shape[-1]
        # The graph takes one length only.
        self._length = length if isinstance(length, int) else None
        known = files.read_max_tokens(folder, self._tokenizer.truncation)
        self.max_tokens = min(known, self._length or known)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self.max_tokens, strategy="only_first")
        self._pad = int(files.read_settings(folder / "config.json").get("pad_token_id") or 0)

        outputs = {one.name: one.shape for one in self._session.get_outputs()}
        self._output = next((name for name in _OUTPUTS if name in outputs), "")
        if not self._output:
            message = f"the graph gives {', '.join(outputs)}; expected one of {', '.join(_OUTPUTS)}"
            raise ConfigError(message, file=str(file))
        self.kind = _OUTPUTS[self._output]
        if self.kind == "embedding":
            pooling = files.read_settings(folder / "1_Pooling" / "config.json")
            self._pools_first = bool(pooling.get("pooling_mode_cls_token"))
        else:
            self._labels = files.read_labels(folder, outputs[self._output][-1])
            self.kind = "contradiction" if self._labels.entailment is None else self.kind
        try:  # a model that does not run is reported here, before the first case
            self._run([self._encode_pair("a", "b")])
        except Exception as error:
            raise ConfigError(f"the model does not run: {error}", file=str(file)) from error

    def __reduce__(self) -> tuple[Callable[..., "LocalModel"], tuple[str, int]]:
        return open_local_model, (self.name, self.threads)

    def entail(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """Return probabilities for each (premise, hypothesis); 0 if the model has no such label.

        A pair that is too long is cut: the hypothesis to half of the length, then the premise.
        """
        import numpy as np

        found = []
        for row in self._run([self._encode_pair(*pair) for pair in pairs]):
            odds = np.exp(row - row.max())
            odds /= odds.sum()
            chosen = (0.0 if column is None else float(odds[column]) for column in self._labels)
            found.append(Entailment(*chosen))
        return found

    def embed(self, texts: Sequence[str]) -> list["Array"]:
        """Return a unit vector for each text, so that the product of two is their cosine."""
        import numpy as np

        rows = self._run([self._encode(text) for text in texts])
        return [row / max(float(np.linalg.norm(row)), 1e-12) for row in rows]

    def fits(self, text: str) -> bool:
        """Whether a premise leaves a quarter of the model's length for the hypothesis."""
        most = self.max_tokens * 3 // 4
        return len(text) <= most * _MAX_TOKEN and len(self._encode(text)) <= most

    def _encode(self, text: str, alone: bool = True) -> "Encoding":
        """Return the tokens of a text, with special tokens around it if it is `alone`."""
        text = text[: self.max_tokens * _MAX_TOKEN]
        text = text.encode(errors="replace").decode()  # the tokenizer refuses a lone surrogate
        return self._tokenizer.encode(text, add_special_tokens=alone)

    def _encode_pair(self, premise: str, hypothesis: str) -> "Encoding":
        first, second = self._encode(premise, alone=False), self._encode(hypothesis, alone=False)
        second.truncate(self.max_tokens // 2)
        return self._tokenizer.post_process(first, second)

    def _run(self, encodings: Sequence["Encoding"]) -> list["Array"]:
        """Return the output's row for each encoding, in batches of similar length."""
        order = sorted(range(len(encodings)), key=lambda index: len(encodings[index]))
        rows: dict[int, Array] = {}
        for start in range(0, len(order), self._batch):
            chosen = order[start : start + self._batch]
            rows.update(zip(chosen, self._run_batch([encodings[i] for i in chosen]), strict=True))
        return [rows[index] for index in range(len(encodings))]

    def _run_batch(self, encodings: Sequence["Encoding"]) -> Iterable["Array"]:
        import numpy as np

        length = self._length or max(1, *(len(one) for one in encodings))
        columns = {
            "input_ids": np.full((len(encodings), length), self._pad),
            "attention_mask": np.zeros((len(encodings), length), dtype=np.int64),
            "token_type_ids": np.zeros((len(encodings), length), dtype=np.int64),
        }
        for row, one in enumerate(encodings):
            columns["input_ids"][row, : len(one)] = one.ids
            columns["attention_mask"][row, : len(one)] = one.attention_mask
            columns["token_type_ids"][row, : len(one)] = one.type_ids
        fed = {name: columns[name].astype(kind) for name, kind in self._inputs.items()}
        found: Array = self._session.run([self._output], fed)[0]
        if not np.isfinite(found).all():  # a NaN would count as "not stated"
            raise JudgeError(f"the local model {self.name!r} gave a number that is not finite")
        if found.ndim == 2:
            return found
        if self._pools_first:
            return found[:, 0]
        mask = columns["attention_mask"][:, :, None]
        pooled: Array = (found * mask).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
        return pooled


_opened: dict[tuple[str, int], LocalModel] = {}
_opening = Lock()


def open_local_model(name: str, threads: int = 1) -> LocalModel:
    """Return the model of a folder or hub id, opened once per process."""
    require_extra("local", "by: local")
    if not 1 <= threads <= MAX_THREADS:
        message = f"expected 1 to {MAX_THREADS}, found {threads}"
        raise ConfigError(message, field="threads")
    with _opening:
        key = (name, threads)
        if key not in _opened:
            _opened[key] = LocalModel(name, threads)
        return _opened[key]
