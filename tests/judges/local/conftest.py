"""Tiny models of the right shape: a vocabulary of some words, and graphs that count them.

The entailment model gives a high entailment where the hypothesis's words stand in the premise, and
a high contradiction where one of the two has "not". The embedding model gives each word a
direction of its own.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "not", "."]
WORDS = (
    "paris lyon is the capital of france spain it rains in sun shines today a dog sleeps cat one"
)
VOCABULARY = {word: place for place, word in enumerate([*SPECIAL, *WORDS.split()])}
LABELS = ("entailment", "neutral", "contradiction")

MakeFolder = Callable[..., Path]


def save_tokenizer(folder: Path) -> None:
    tokenizer = Tokenizer(WordLevel(VOCABULARY, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def save_graph(
    path: Path, nodes: Sequence[Any], constants: dict[str, Any], output: str, shape: list[Any]
) -> None:
    length = shape.pop(0)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", length])
        for name in ("input_ids", "attention_mask", "token_type_ids")
    ]
    outputs = [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)]
    kept = [numpy_helper.from_array(np.array(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "tiny", inputs, outputs, kept)
    version = [helper.make_opsetid("", 17)]
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(helper.make_model(graph, opset_imports=version, ir_version=9), path)


def save_entailment_graph(path: Path, columns: int = 3, length: int | str = "length") -> None:
    counted = np.ones(len(VOCABULARY), np.float32)
    counted[: len(SPECIAL)] = 0
    constants = {
        "one": np.float32(1),
        "little": np.float32(1e-6),
        "middle": np.array([1]),
        "last": np.array([-1]),
        "words": np.eye(len(VOCABULARY), dtype=np.float32),
        "counted": counted,
        "not": np.array([VOCABULARY["not"]]),
        # From (share of the words, denied, 1) to entailment, neutral and contradiction.
        "weights": np.array([[8, 0, 8], [-8, 0, 8], [-4, 0, -12]], np.float32)[:, :columns],
    }
    node = helper.make_node
    nodes = [
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Cast", ["token_type_ids"], ["kind"], to=TensorProto.FLOAT),
        node("Gather", ["words", "input_ids"], ["seen"]),
        node("Mul", ["kind", "mask"], ["second"]),
        node("Sub", ["mask", "second"], ["first"]),
        node("Unsqueeze", ["first", "middle"], ["first_row"]),
        node("Unsqueeze", ["second", "middle"], ["second_row"]),
        node("MatMul", ["first_row", "seen"], ["premise"]),
        node("MatMul", ["second_row", "seen"], ["hypothesis"]),
        node("Min", ["premise", "hypothesis"], ["both"]),
        node("Mul", ["both", "counted"], ["shared_words"]),
        node("Mul", ["hypothesis", "counted"], ["asked_words"]),
        node("ReduceSum", ["shared_words", "last"], ["shared"], keepdims=1),
        node("ReduceSum", ["asked_words", "last"], ["asked"], keepdims=1),
        node("Add", ["asked", "little"], ["asked_some"]),
        node("Div", ["shared", "asked_some"], ["share"]),
        node("Sub", ["premise", "hypothesis"], ["apart"]),
        node("Abs", ["apart"], ["distance"]),
        node("Gather", ["distance", "not"], ["denied"], axis=2),
        node("Mul", ["share", "little"], ["nothing"]),
        node("Add", ["nothing", "one"], ["constant"]),
        node("Concat", ["share", "denied", "constant"], ["features"], axis=2),
        node("MatMul", ["features", "weights"], ["rows"]),
        node("Squeeze", ["rows", "middle"], ["logits"]),
    ]
    save_graph(path, nodes, constants, "logits", [length, "batch", columns])


def save_embedding_graph(path: Path) -> None:
    table = np.random.default_rng(7).normal(size=(len(VOCABULARY), 64)).astype(np.float32)
    table[: len(SPECIAL)] = 0
    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])]
    shape = ["length", "batch", "length", 64]
    save_graph(path, nodes, {"table": table}, "last_hidden_state", shape)


@pytest.fixture
def make_entailment(tmp_path: Path) -> MakeFolder:
    """Makes the folder of a tiny entailment model."""

    def make(
        labels: Sequence[str] = LABELS, file: str = "model.onnx", length: int | str = "length"
    ) -> Path:
        folder = tmp_path / "nli"
        folder.mkdir(exist_ok=True)
        save_tokenizer(folder)
        save_entailment_graph(folder / file, len(labels), length)
        names = {str(place): label for place, label in enumerate(labels)}
        settings = {"model_type": "tiny", "id2label": names, "max_position_embeddings": 24}
        (folder / "config.json").write_text(json.dumps(settings))
        return folder

    return make


@pytest.fixture
def make_embedding(tmp_path: Path) -> MakeFolder:
    """Makes the folder of a tiny embedding model."""

    def make() -> Path:
        folder = tmp_path / "embedding"
        folder.mkdir(exist_ok=True)
        save_tokenizer(folder)
        save_embedding_graph(folder / "model.onnx")
        return folder

    return make
