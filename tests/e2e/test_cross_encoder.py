"""Classifiers: /v1/rerank, /v1/score, /v1/classify and /pooling of a BERT with a head, against numpy."""
import json
import math
import os
import shutil
import struct

import pytest
from conftest import read_safetensors
from server import Server

numpy = pytest.importorskip("numpy", reason="scripts/setup test installs numpy")

HIDDEN = 64
QUERY = "what does the fox do"
DOCUMENTS = ["The quick brown fox jumps over the lazy dog.", "def main(): return 42", "hello", "敏捷的棕色狐狸跳过了懒狗。"]


def read_floats(path):
    return {name: numpy.frombuffer(raw, dtype="<f4").reshape(shape) for name, (kind, shape, raw) in read_safetensors(path).items()
            if kind == "F32"}


def write_safetensors(path, tensors):
    header, at = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            file.write(numpy.ascontiguousarray(values, dtype="<f4").tobytes())


class Bert:
    """BERT as its paper has it, with the head of BertForSequenceClassification, in float64."""

    def __init__(self, weights, config):
        self.weights = {name: values.astype(numpy.float64) for name, values in weights.items()}
        self.num_layers, self.num_heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.eps = config["layer_norm_eps"]

    def linear(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name, x):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / numpy.sqrt((centred ** 2).mean(-1, keepdims=True) + self.eps)
        return scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attend(self, prefix, x):
        split = lambda part: self.linear(f"{prefix}.self.{part}", x).reshape(len(x), self.num_heads, -1).transpose(1, 0, 2)
        q, k, v = split("query"), split("key"), split("value")
        scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
        shares = numpy.exp(scores - scores.max(-1, keepdims=True))
        mixed = (shares / shares.sum(-1, keepdims=True)) @ v
        return self.linear(f"{prefix}.output.dense", mixed.transpose(1, 0, 2).reshape(len(x), -1))

    def states(self, ids, types):
        tables = [self.weights[f"bert.embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
        x = tables[0][ids] + tables[1][:len(ids)] + tables[2][types]
        x = self.norm("bert.embeddings.LayerNorm", x)
        for i in range(self.num_layers):
            layer = f"bert.encoder.layer.{i}"
            x = self.norm(f"{layer}.attention.output.LayerNorm", x + self.attend(f"{layer}.attention", x))
            up = self.linear(f"{layer}.intermediate.dense", x)
            gelu = up * 0.5 * (1 + numpy.vectorize(math.erf)(up / math.sqrt(2)))
            x = self.norm(f"{layer}.output.LayerNorm", x + self.linear(f"{layer}.output.dense", gelu))
        return x

    def outputs(self, first, second=()):
        types = [0] * len(first) + [1] * len(second)
        pooled = numpy.tanh(self.linear("bert.pooler.dense", self.states(list(first) + list(second), types)[0]))
        return self.linear("classifier", pooled)


def make_folder(source, out, labels):
    """The model of `source` with a random head."""
    shutil.copytree(source, out, ignore=shutil.ignore_patterns("*.gguf", "golden*", "1_Pooling", "modules.json"))
    for path in [out, *out.iterdir()]:
        os.chmod(path, 0o755 if path.is_dir() else 0o644)
    rng = numpy.random.default_rng(7)
    weights = {f"bert.{name}": values for name, values in read_floats(source / "model.safetensors").items()
               if not name.startswith("pooler")}
    draw = lambda *shape: rng.normal(0, 0.3, shape).astype("f4")
    weights |= {"bert.pooler.dense.weight": draw(HIDDEN, HIDDEN), "bert.pooler.dense.bias": draw(HIDDEN),
                "classifier.weight": draw(len(labels), HIDDEN), "classifier.bias": draw(len(labels)),
                # What the texts of a pair are told apart by counts.
                "bert.embeddings.token_type_embeddings.weight": draw(2, HIDDEN)}
    write_safetensors(out / "model.safetensors", weights)
    config = json.loads((source / "config.json").read_text())
    config |= {"architectures": ["BertForSequenceClassification"], "id2label": {str(i): label for i, label in enumerate(labels)}}
    (out / "config.json").write_text(json.dumps(config))
    return Bert(weights, config)


@pytest.fixture(scope="module")
def source(oracle):
    return oracle / "models/bert"


@pytest.fixture(scope="module")
def ranker(adit, source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranker") / "model"
    reference = make_folder(source, folder, ["relevance"])
    with Server(adit, folder, tmp_path_factory.mktemp("server"), "--alias", "ranker") as started:
        yield started.wait_ready(), reference


@pytest.fixture(scope="module")
def classifier(adit, source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("classifier") / "model"
    reference = make_folder(source, folder, ["good", "bad", "ugly"])
    with Server(adit, folder, tmp_path_factory.mktemp("server"), "--alias", "classifier") as started:
        yield started.wait_ready(), reference


def tokens(server, text):
    return server.json("POST", "/tokenize", {"prompt": text})["tokens"]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def relevance(server, reference, first, second):
    # [CLS] first [SEP] second [SEP]
    return sigmoid(reference.outputs(tokens(server, first), tokens(server, second)[1:])[0])


def test_rerank_runs_query_and_document_together(ranker):
    server, reference = ranker
    wanted = [relevance(server, reference, QUERY, document) for document in DOCUMENTS]
    assert max(wanted) - min(wanted) > 0.01, "the documents differ"
    answer = server.json("POST", "/v1/rerank", {"query": QUERY, "documents": DOCUMENTS, "return_documents": True})
    got = {entry["index"]: entry["relevance_score"] for entry in answer["results"]}
    assert [got[i] for i in range(len(DOCUMENTS))] == pytest.approx(wanted, abs=1e-4)
    order = [entry["relevance_score"] for entry in answer["results"]]
    assert order == sorted(order, reverse=True)
    assert answer["results"][0]["document"]["text"] == DOCUMENTS[answer["results"][0]["index"]]
    assert answer["usage"]["prompt_tokens"] == sum(len(tokens(server, QUERY)) + len(tokens(server, d)) - 1 for d in DOCUMENTS)
    # The order of the two counts: the second text has another type.
    swapped = server.json("POST", "/v1/rerank", {"query": DOCUMENTS[0], "documents": [QUERY]})["results"][0]
    assert swapped["relevance_score"] == pytest.approx(relevance(server, reference, DOCUMENTS[0], QUERY), abs=1e-4)
    assert abs(swapped["relevance_score"] - got[0]) > 1e-4


def test_score_takes_one_with_all_or_each_with_its_own(ranker):
    server, reference = ranker
    one = server.json("POST", "/v1/score", {"text_1": QUERY, "text_2": DOCUMENTS})
    assert [entry["score"] for entry in one["data"]] == pytest.approx(
        [relevance(server, reference, QUERY, document) for document in DOCUMENTS], abs=1e-4)
    each = server.json("POST", "/score", {"text_1": ["hello", QUERY], "text_2": [QUERY, "hello"]})
    assert [entry["score"] for entry in each["data"]] == pytest.approx(
        [relevance(server, reference, "hello", QUERY), relevance(server, reference, QUERY, "hello")], abs=1e-4)
    alone = server.json("POST", "/score", {"text_1": QUERY, "text_2": "hello"})["data"][0]["score"]
    assert alone == each["data"][1]["score"], "the same bits in any company"
    status, _, raw = server.ask("POST", "/v1/score", {"text_1": ["a", "b"], "text_2": ["c"]})
    assert status == 400 and "as many" in json.loads(raw)["error"]["message"]


def test_long_documents_are_cut_where_that_is_asked_for(ranker):
    server, reference = ranker
    long = "fox " * 400
    status, _, raw = server.ask("POST", "/v1/rerank", {"query": QUERY, "documents": [long]})
    assert status == 400 and json.loads(raw)["error"]["code"] == "context_length_exceeded"
    first, second = tokens(server, QUERY), tokens(server, long)[1:]
    for field, room in (("truncate_prompt_tokens", 40 - len(first)), ("max_tokens_per_doc", 40)):
        got = server.json("POST", "/v1/rerank", {"query": QUERY, "documents": [long], field: 40})["results"][0]
        wanted = sigmoid(reference.outputs(first, second[:room - 1] + second[-1:])[0])
        assert got["relevance_score"] == pytest.approx(wanted, abs=1e-4), field
    status, _, raw = server.ask("POST", "/v1/rerank", {"query": QUERY, "documents": [long], "truncate_prompt_tokens": 5})
    assert status == 400 and "leaves the second text none of 5" in json.loads(raw)["error"]["message"]


def test_classify_gives_labels_and_probabilities(classifier):
    server, reference = classifier
    answer = server.json("POST", "/v1/classify", {"input": DOCUMENTS})
    assert answer["object"] == "list" and answer["model"] == "classifier"
    for text, entry in zip(DOCUMENTS, answer["data"]):
        outputs = reference.outputs(tokens(server, text))
        shares = numpy.exp(outputs) / numpy.exp(outputs).sum()
        assert entry["probs"] == pytest.approx(list(shares), abs=1e-4)
        assert entry["label"] == ["good", "bad", "ugly"][int(numpy.argmax(outputs))] and entry["num_classes"] == 3
    pooled = server.json("POST", "/pooling", {"input": DOCUMENTS[0]})["data"]
    assert pooled[0]["data"] == pytest.approx(list(reference.outputs(tokens(server, DOCUMENTS[0]))), abs=1e-4)
    status, _, raw = server.ask("POST", "/v1/rerank", {"query": "a", "documents": ["b"]})
    assert status == 400 and "3 labels" in json.loads(raw)["error"]["message"]


def test_a_classifier_makes_embeddings_too(classifier):
    server, reference = classifier
    got = server.json("POST", "/v1/embeddings", {"input": DOCUMENTS[0], "normalize": False})["data"][0]["embedding"]
    ids = tokens(server, DOCUMENTS[0])
    assert got == pytest.approx(list(reference.states(ids, [0] * len(ids))[0]), abs=1e-4)
    status, _, raw = server.ask("POST", "/v1/embeddings", {"input": "x", "pooling": "rank"})
    assert status == 400 and "none, mean, cls or last" in json.loads(raw)["error"]["message"]


def test_a_model_without_a_head_is_no_classifier(adit, source, tmp_path):
    with Server(adit, source, tmp_path, "--alias", "bert") as server:
        server.wait_ready()
        status, _, raw = server.ask("POST", "/v1/classify", {"input": "x"})
        assert status == 400 and "no classifier" in json.loads(raw)["error"]["message"]
        pooled = server.json("POST", "/pooling", {"input": "hello"})["data"][0]["data"]
        assert pooled == server.json("POST", "/v1/embeddings", {"input": "hello"})["data"][0]["embedding"]


def test_heads_that_are_wrong_are_named(adit, source, tmp_path):
    reference = make_folder(source, tmp_path / "model", ["a", "b"])
    weights = {name: values.astype("f4") for name, values in reference.weights.items()}
    write_safetensors(tmp_path / "model/model.safetensors",
                      {name: values for name, values in weights.items() if name != "classifier.weight"})
    assert "cls.output.weight" in adit.fails(5, "embed", tmp_path / "model", "x")
    write_safetensors(tmp_path / "model/model.safetensors", weights | {"classifier.weight": weights["classifier.weight"][:1]})
    assert "names 2 labels; cls.output.weight has 1 rows" in adit.fails(5, "embed", tmp_path / "model", "x")
    write_safetensors(tmp_path / "model/model.safetensors", weights)
    numbers = adit.ok("embed", tmp_path / "model", "hello", "--pooling", "rank").decode().split()
    ids = [int(one) for one in adit.ok("tokenize", tmp_path / "model", "hello", "--add-special").decode().split()]
    assert [float(number) for number in numbers] == pytest.approx(list(reference.outputs(ids)), abs=1e-4)
