"""Opening the folder of a local model, errors for broken ones, and the numbers of a model."""

import json
import pickle
from pathlib import Path

import numpy as np
import onnx
import pytest
from tests.judges.local.conftest import MakeFolder, save_entailment_graph

from fourscore.core.errors import ConfigError, JudgeError
from fourscore.judges.local import LocalModel, model, open_local_model
from fourscore.judges.local.model_files import MODEL_FILES

CLAIM = "Paris is the capital of France."
PAIRS = [
    (CLAIM, CLAIM),
    ("It rains in Spain today. " * 3, CLAIM),
    ("Paris is not the capital of France.", CLAIM),
    ("Paris.", "The dog sleeps."),
    *[("A dog sleeps in the sun. " * count, "The dog sleeps.") for count in range(12)],
]


def test_separates_entailment_neutral_and_contradiction(make_entailment: MakeFolder) -> None:
    opened = LocalModel(str(make_entailment()))
    same, unrelated, denied = opened.entail(PAIRS[:3])
    assert same.support > 0.9
    assert max(unrelated) < 0.1
    assert denied.contradiction > 0.9


@pytest.mark.parametrize("file", MODEL_FILES)
def test_opens_every_usual_file_name(make_entailment: MakeFolder, file: str) -> None:
    assert LocalModel(str(make_entailment(file=file))).kind == "entailment"


def test_accepts_labels_in_any_order_and_case(make_entailment: MakeFolder) -> None:
    labels = ("CONTRADICTION", "Neutral", "Entailment")
    opened = LocalModel(str(make_entailment(labels)))
    [found] = opened.entail(PAIRS[:1])
    assert found.contradiction > 0.9  # of a graph whose first column is entailment


def test_a_model_with_two_labels_has_no_contradiction(make_entailment: MakeFolder) -> None:
    opened = LocalModel(str(make_entailment(("entailment", "not_entailment"))))
    found = opened.entail(PAIRS[:3])
    assert [one.support > 0.5 for one in found] == [True, False, False]
    assert [one.contradiction for one in found] == [0.0, 0.0, 0.0]


def test_batches_give_what_single_pairs_give(make_entailment: MakeFolder) -> None:
    opened = LocalModel(str(make_entailment()))
    assert len(PAIRS) > model.BATCH
    together = opened.entail(PAIRS)
    alone = [opened.entail([pair])[0] for pair in PAIRS]
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert opened.entail(PAIRS) == together
    assert opened.entail([]) == []


def test_quantised_results_do_not_depend_on_other_pairs(make_entailment: MakeFolder) -> None:
    folder = make_entailment()
    graph = onnx.load(folder / "model.onnx")
    last, node = graph.graph.node[-2], onnx.helper.make_node
    for added in (
        node("DynamicQuantizeLinear", ["features"], ["small", "scale", "zero"]),
        node("DequantizeLinear", ["small", "scale", "zero"], ["rough"]),
    ):
        graph.graph.node.insert(len(graph.graph.node) - 2, added)
    last.input[0] = "rough"
    onnx.save(graph, folder / "model.onnx")
    opened = LocalModel(str(folder))
    assert opened.entail(PAIRS) == [opened.entail([pair])[0] for pair in PAIRS]


def test_batches_give_the_same_vectors_as_single_texts(make_embedding: MakeFolder) -> None:
    opened = LocalModel(str(make_embedding()))
    texts = [premise for premise, _ in PAIRS]
    alone = [opened.embed([text])[0] for text in texts]
    np.testing.assert_allclose(opened.embed(texts), alone, atol=1e-6)
    assert opened.kind == "embedding"
    assert float(alone[0] @ alone[0]) == pytest.approx(1)


def test_pools_the_first_token_if_the_configuration_says_so(make_embedding: MakeFolder) -> None:
    folder = make_embedding()
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    first, second = LocalModel(str(folder)).embed(["Paris", "Lyon"])
    assert (first == second).all()  # both begin with [CLS]


def test_cuts_the_premise_and_keeps_the_claim(make_entailment: MakeFolder) -> None:
    opened = LocalModel(str(make_entailment()))
    assert opened.max_tokens == 24
    long = f"{CLAIM} " + "It rains. " * 10_000
    assert opened.entail([(long, CLAIM)])[0].support > 0.9
    assert not opened.fits(long)
    late = "It rains in the sun. " * 20 + CLAIM
    assert opened.entail([(late, CLAIM)])[0].support < 0.5  # its end is not read


def test_accepts_a_claim_longer_than_the_models_limit(make_entailment: MakeFolder) -> None:
    [found] = LocalModel(str(make_entailment())).entail([(CLAIM, f"{CLAIM} " * 5_000)])
    assert 0 <= found.support <= 1


def test_pads_to_the_fixed_length_of_a_graph(make_entailment: MakeFolder) -> None:
    opened = LocalModel(str(make_entailment(length=16)))
    assert opened.max_tokens == 16
    assert opened.entail([(CLAIM, "Paris."), (f"{CLAIM} " * 9, "Paris.")])[0].support > 0.9


def test_opens_once_in_a_process_and_pickles_by_name(make_entailment: MakeFolder) -> None:
    opened = open_local_model(str(make_entailment()))
    assert pickle.loads(pickle.dumps(opened)) is opened
    assert open_local_model(opened.name, threads=2) is not opened


def test_digest_changes_with_the_labels(make_entailment: MakeFolder) -> None:
    first = LocalModel(str(make_entailment())).digest
    assert LocalModel(str(make_entailment())).digest == first
    assert LocalModel(str(make_entailment(("neutral", "entailment", "other")))).digest != first


@pytest.mark.parametrize("labels", [("LABEL_0", "LABEL_1", "LABEL_2"), ("entailment",) * 2])
def test_labels_without_meaning_are_refused(
    make_entailment: MakeFolder, labels: tuple[str, ...]
) -> None:
    with pytest.raises(ConfigError, match=r"config\.json: id2label: cannot tell which"):
        LocalModel(str(make_entailment(labels)))


@pytest.mark.parametrize("named", ['{"0": "entailment"}', '{"a": 1, "b": 2, "c": 3}', "null", "[]"])
def test_labels_that_do_not_fit_the_graph_are_refused(
    make_entailment: MakeFolder, named: str
) -> None:
    folder = make_entailment()
    (folder / "config.json").write_text(f'{{"id2label": {named}}}')
    with pytest.raises(ConfigError, match=r"config\.json: id2label: "):
        LocalModel(str(folder))


def test_settings_that_are_no_json_are_refused(make_entailment: MakeFolder) -> None:
    folder = make_entailment()
    for damaged in ("{", "[1]"):
        (folder / "config.json").write_text(damaged)
        with pytest.raises(ConfigError, match=r"config\.json: (cannot be read|expected) "):
            LocalModel(str(folder))


@pytest.mark.parametrize(
    ("file", "message"),
    [("model.onnx", "no ONNX model there"), ("tokenizer.json", "has no tokenizer.json")],
)
def test_a_missing_file_is_named(make_entailment: MakeFolder, file: str, message: str) -> None:
    folder = make_entailment()
    (folder / file).unlink()
    with pytest.raises(ConfigError, match=message):
        LocalModel(str(folder))


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_is_named(make_entailment: MakeFolder, file: str) -> None:
    folder = make_entailment()
    (folder / file).write_bytes(b"damaged" + (folder / file).read_bytes()[:50])
    with pytest.raises(ConfigError, match=f"{file}: not a usable"):
        LocalModel(str(folder))


def test_a_graph_with_custom_operators_is_refused(make_entailment: MakeFolder) -> None:
    path = make_entailment() / "model.onnx"
    graph = onnx.load(path)
    graph.graph.node[0].domain = "com.example"
    graph.opset_import.append(onnx.helper.make_opsetid("com.example", 1))
    onnx.save(graph, path)
    with pytest.raises(ConfigError, match="not a usable ONNX model"):
        LocalModel(str(path.parent))


@pytest.mark.parametrize("part", ["input", "output"])
def test_a_graph_of_another_shape_is_refused(make_entailment: MakeFolder, part: str) -> None:
    path = make_entailment() / "model.onnx"
    old = {"input": "token_type_ids", "output": "logits"}[part]
    path.write_bytes(onnx.load(path).SerializeToString().replace(old.encode(), b"x" * len(old)))
    with pytest.raises(ConfigError, match=r"the graph (asks for|gives) x+; (known|expected)"):
        LocalModel(str(path.parent))


def test_a_tokenizer_of_another_model_is_refused(make_entailment: MakeFolder) -> None:
    folder = make_entailment()
    settings = json.loads((folder / "tokenizer.json").read_text())
    settings["post_processor"]["special_tokens"]["[CLS]"]["ids"] = [30_000]
    (folder / "tokenizer.json").write_text(json.dumps(settings))
    with pytest.raises(ConfigError, match=r"model\.onnx: the model does not run: "):
        LocalModel(str(folder))


def test_a_number_that_is_not_finite_is_no_verdict(make_entailment: MakeFolder) -> None:
    opened = LocalModel(str(make_entailment()))

    class Broken:
        def run(self, *_: object) -> list[object]:
            return [np.full((1, 3), np.nan)]

    opened._session = Broken()
    with pytest.raises(JudgeError, match="not finite"):
        opened.entail(PAIRS[:1])


@pytest.mark.parametrize("name", ["", "nowhere", "../a/b/c", "a/b c", "\0"])
def test_a_name_that_is_no_folder_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="model: no folder"):
        open_local_model(f"{tmp_path}/{name}" if name == "nowhere" else name)


def test_opens_a_hub_id_from_the_cache(
    make_entailment: MakeFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigError, match="could not be fetched from the hub"):
        open_local_model("someone/nli")
    kept = tmp_path / "hub" / "models--someone--nli"
    (kept / "refs").mkdir(parents=True)
    (kept / "refs" / "main").write_text("abc")
    (kept / "snapshots").mkdir()
    make_entailment(file="onnx/model.onnx").rename(kept / "snapshots" / "abc")
    assert open_local_model("someone/nli").kind == "entailment"


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_a_missing_extra_is_named(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> object | None:
        return None if name == package else object()

    monkeypatch.setattr("fourscore.core.extras.find_spec", find)
    with pytest.raises(ConfigError, match=rf"by: local .*{package}.* 'fourscore\[local\]'"):
        open_local_model("any/model")


@pytest.mark.parametrize("threads", [0, -1, 65])
def test_threads_are_bounded(threads: int) -> None:
    with pytest.raises(ConfigError, match="threads: expected 1 to 64"):
        open_local_model("any/model", threads)


def test_the_token_limit_is_at_most_max_tokens(make_entailment: MakeFolder) -> None:
    folder = make_entailment()
    settings = json.loads((folder / "config.json").read_text()) | {"max_position_embeddings": 8192}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 1e30}')
    save_entailment_graph(folder / "model.onnx")
    assert LocalModel(str(folder)).max_tokens == 512
