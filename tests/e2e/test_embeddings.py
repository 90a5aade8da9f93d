"""adit serve for a model that makes embeddings, and the openai package as its client."""
import base64
import json
import math
import struct

import pytest
from conftest import read_safetensors
from server import Server
from test_serve import BODIES

openai = pytest.importorskip("openai", reason="scripts/setup test installs the openai package")


def float32(number):
    """What a decimal stands for; those in answers are the shortest that do."""
    return struct.unpack("<f", struct.pack("<f", number))[0]


@pytest.fixture(scope="module")
def folder(oracle):
    return oracle / "models/bert"


@pytest.fixture(scope="module")
def server(adit, folder, tmp_path_factory):
    with Server(adit, folder / "model-f32.gguf", tmp_path_factory.mktemp("server"), "--alias", "bert") as started:
        yield started.wait_ready()


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture(scope="module")
def golden(folder):
    """[(text, ids, {form: numbers})] as sentence-transformers gives them."""
    texts = json.loads((folder / "golden.json").read_text())["texts"]
    tensors = read_safetensors(folder / "golden.safetensors")

    def numbers(name):
        raw = tensors[name][2]
        return list(struct.unpack(f"<{len(raw) // 4}f", raw))

    return [(entry["text"], entry["ids"], {form: numbers(f"t{i}.{form}") for form in ("embedding", "mean", "cls", "last_hidden")})
            for i, entry in enumerate(texts)]


def test_embeddings_are_those_of_the_reference(client, golden):
    answer = client.embeddings.create(model="bert", input=[text for text, _, _ in golden])
    assert answer.object == "list" and answer.model == "bert"
    assert [entry.index for entry in answer.data] == list(range(len(golden)))
    assert answer.usage.prompt_tokens == answer.usage.total_tokens == sum(len(ids) for _, ids, _ in golden)
    for entry, (text, ids, wanted) in zip(answer.data, golden):
        # The client asks for base64 and decodes it.
        assert entry.embedding == pytest.approx(wanted["embedding"], abs=1e-4)
        assert math.hypot(*entry.embedding) == pytest.approx(1, abs=1e-5)
        alone = client.embeddings.create(model="bert", input=text, encoding_format="float").data[0].embedding
        assert [float32(number) for number in alone] == entry.embedding, "the same bits alone"
        assert client.embeddings.create(model="bert", input=ids).data[0].embedding == entry.embedding
    by_ids = client.embeddings.create(model="bert", input=[ids for _, ids, _ in golden])
    assert [entry.embedding for entry in by_ids.data] == [entry.embedding for entry in answer.data]


@pytest.mark.parametrize("pooling, form", [("mean", "mean"), ("cls", "cls"), ("none", "last_hidden")])
def test_poolings(server, golden, pooling, form):
    for text, ids, wanted in golden:
        body = server.json("POST", "/v1/embeddings", {"input": text, "pooling": pooling, "normalize": False})
        got = body["data"][0]["embedding"]
        if pooling == "none":
            assert len(got) == len(ids)
            got = sum(got, [])
        assert got == pytest.approx(wanted[form], abs=2e-4)


def test_many_of_all_lengths_are_those_of_one(server):
    texts = [" ".join(["word"] * n) for n in range(1, 65, 4)]
    together = server.json("POST", "/v1/embeddings", {"input": texts})["data"]
    for i, text in enumerate(texts):
        assert server.json("POST", "/v1/embeddings", {"input": text})["data"][0]["embedding"] == together[i]["embedding"]
    twice = server.json("POST", "/v1/embeddings", {"input": ["a b", "a b"]})["data"]
    assert twice[0]["embedding"] == twice[1]["embedding"]


def test_base64_is_little_endian_floats(server):
    plain = server.json("POST", "/v1/embeddings", {"input": "hello"})["data"][0]["embedding"]
    coded = server.json("POST", "/v1/embeddings", {"input": "hello", "encoding_format": "base64"})["data"][0]["embedding"]
    numbers = struct.unpack(f"<{len(plain)}f", base64.b64decode(coded, validate=True))
    assert [float32(number) for number in plain] == list(numbers)


def test_what_is_wrong_is_named(client, server):
    long_text = "word " * 2000
    for fields, code, param in [({"input": ""}, "invalid_value", "input"), ({"input": []}, "invalid_value", "input"),
                                ({"input": ["a", ""]}, "invalid_value", "input[1]"),
                                ({"input": long_text}, "context_length_exceeded", "input"),
                                ({"input": "a", "dimensions": 8}, "unsupported_parameter", "dimensions"),
                                ({"input": [10 ** 6]}, "invalid_value", "input[0]")]:
        with pytest.raises(openai.BadRequestError) as raised:
            client.embeddings.create(model="bert", **fields)
        assert (raised.value.code, raised.value.param) == (code, param)
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="other", input="a")
    cut = server.json("POST", "/v1/embeddings", {"input": long_text, "truncate_prompt_tokens": -1})
    assert cut["usage"]["prompt_tokens"] == client.models.retrieve("bert").max_model_len
    dim = client.models.retrieve("bert").defaults["dimensions"]
    assert len(client.embeddings.create(model="bert", input="a", dimensions=dim).data[0].embedding) == dim


def test_broken_bodies(server):
    for path in ("/v1/embeddings", "/v1/rerank", "/v1/score"):
        for body in BODIES:
            status, _, raw = server.ask("POST", path, body, {"Content-Type": "application/json"})
            assert 400 <= status < 500, (path, body[:60], raw)
            assert isinstance(json.loads(raw.decode())["error"]["message"], str)
    assert server.process.poll() is None and server.ask("GET", "/health")[0] == 200


def test_generating_is_refused_by_name(client, server):
    with pytest.raises(openai.BadRequestError) as raised:
        client.chat.completions.create(model="bert", messages=[{"role": "user", "content": "hi"}])
    assert raised.value.code == "unsupported_parameter" and "makes embeddings" in raised.value.message
    for path in ("/v1/completions", "/v1/messages", "/v1/responses"):
        assert server.ask("POST", path, {})[0] == 400
    assert client.models.list().data[0].capabilities == ["embedding", "rerank", "score"]
    assert server.json("POST", "/tokenize", {"prompt": "hello"})["count"] == 5
    assert server.ask("GET", "/health")[0] == 200 and server.json("GET", "/load")["requests"] == 0
    assert server.metric("adit_prompt_tokens_total") > 0


def test_rerank_and_score_agree_with_the_embeddings(server, golden):
    query, documents = golden[0][0], [text for text, _, _ in golden]
    wanted = [sum(a * b for a, b in zip(golden[0][2]["embedding"], entry[2]["embedding"])) for entry in golden]
    for path in ("/v1/rerank", "/rerank", "/v2/rerank"):
        body = server.json("POST", path, {"query": query, "documents": documents, "return_documents": True})
        scores = {result["index"]: result["relevance_score"] for result in body["results"]}
        assert [scores[i] for i in range(len(documents))] == pytest.approx(wanted, abs=1e-4)
        ordered = [result["relevance_score"] for result in body["results"]]
        assert ordered == sorted(ordered, reverse=True) and body["results"][0]["index"] == 0
        assert all(result["document"]["text"] == documents[result["index"]] for result in body["results"])
    top = server.json("POST", "/v1/rerank", {"query": query, "documents": documents, "top_n": 2})
    assert [result["index"] for result in top["results"]] == [result["index"] for result in body["results"][:2]]
    assert "document" not in top["results"][0]
    for path in ("/v1/score", "/score"):
        data = server.json("POST", path, {"text_1": query, "text_2": documents})["data"]
        assert [entry["score"] for entry in data] == pytest.approx(wanted, abs=1e-4)
    pairs = server.json("POST", "/v1/score", {"text_1": documents, "text_2": documents})["data"]
    assert [entry["score"] for entry in pairs] == pytest.approx([1] * len(documents), abs=1e-5)


def test_a_model_that_generates_makes_them_when_told_so(adit, tiny_gguf, tmp_path):
    with Server(adit, tiny_gguf, tmp_path) as server:
        server.wait_ready()
        status, _, raw = server.ask("POST", "/v1/embeddings", {"input": "a"})
        assert status == 400 and "--task embed" in json.loads(raw)["error"]["message"]
    (tmp_path / "embed").mkdir()
    with Server(adit, tiny_gguf, tmp_path / "embed", "--task", "embed", "--pooling", "last") as server:
        server.wait_ready()
        got = server.json("POST", "/v1/embeddings", {"input": "some words"})["data"][0]["embedding"]
    wanted = adit.ok("embed", tiny_gguf, "some words", "--pooling", "last", "--normalize").decode().split()
    assert got == pytest.approx([float(word) for word in wanted], abs=1e-6)


def test_texts_pass_by_the_rules_of_the_server(adit, folder, tmp_path):
    (tmp_path / "rules.toml").write_text("[[rule]]\nname = 'mail'\naction = 'redact'\npii = 'email'\nreplacement = 'mail'\n"
                                         "[[rule]]\nname = 'heron'\naction = 'block'\nwords = ['project heron']\n")
    with Server(adit, folder / "model-f32.gguf", tmp_path, "--guard", tmp_path / "rules.toml") as server:
        server.wait_ready()

        def embedding(text):
            return server.json("POST", "/v1/embeddings", {"input": text})["data"][0]["embedding"]

        assert embedding("write to ann@example.org") == embedding("write to mail") != embedding("write to him")
        (one, two) = server.json("POST", "/v1/embeddings", {"input": ["hi ann@example.org", "hi mail"]})["data"]
        assert one["embedding"] == two["embedding"]
        ranked = server.json("POST", "/v1/rerank", {"query": "q", "documents": ["x bob@example.org"], "return_documents": True})
        assert ranked["results"][0]["document"]["text"] == "x mail"
        score = server.json("POST", "/v1/score", {"text_1": "a ann@example.org", "text_2": "a mail"})
        assert score["data"][0]["score"] == pytest.approx(1.0, abs=1e-5)
        for path, body in [("/v1/embeddings", {"input": ["fine", "Project Heron"]}), ("/v1/score", {"text_1": "a", "text_2": "project heron"}),
                           ("/v1/rerank", {"query": "project heron?", "documents": ["a"]}),
                           ("/v1/rerank", {"query": "a", "documents": ["a project heron"]})]:
            status, _, raw = server.ask("POST", path, body)
            assert status == 400 and json.loads(raw)["error"]["code"] == "content_filter", path
        assert server.metric('adit_guard_verdicts_total{action="redact",rule="mail",side="input"}') >= 4
        assert "example.org" not in server.log.read_text()
