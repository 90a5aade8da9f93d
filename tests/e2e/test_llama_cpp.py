"""What adit convert writes, opened by llama.cpp's own loader: it loads, and picks the tokens that adit picks."""
import json
import shutil

import pytest
from conftest import read_safetensors

llama_cpp = pytest.importorskip("llama_cpp", reason="the package llama-cpp-python is not installed")
numpy = pytest.importorskip("numpy", reason="scripts/setup test installs it")

FAMILIES = ["llama", "llama_spm", "qwen2", "qwen3", "smollm3", "cohere", "gemma", "gemma2", "gemma3_text", "glm4", "gpt2",
            "gpt_neox", "granite", "olmo2", "phi3", "starcoder2", "stablelm"]
TYPES = ["f32", "f16", "bf16", "q8_0"]
NUM_TOKENS = 16
# How much better than any other a token must be. llama.cpp looks GELU up in a table of halves, and multiplies Q8_0 with
# activations of eight bits.
MARGINS = {"f32": 0.05, "f16": 0.1, "bf16": 0.1, "q8_0": 0.5}


def greedy(path, prompt):
    """Tokens that llama.cpp picks after the prompt."""
    model = llama_cpp.Llama(str(path), n_ctx=256, n_threads=1, n_threads_batch=1, logits_all=True, verbose=False,
                            flash_attn=False)
    try:
        ids = list(prompt)
        model.eval(ids)
        for _ in range(NUM_TOKENS):
            token = int(numpy.argmax(model._scores[model.n_tokens - 1]))
            ids.append(token)
            model.eval([token])
        return ids[len(prompt):]
    finally:
        model.close()


def logits_of(adit, path, ids, out):
    """adit's own, a row for each token."""
    adit.ok("logits", path, "--tokens", ",".join(map(str, ids)), "--all", "-o", out, "--isa", "ref")
    _, shape, data = read_safetensors(out)["logits"]
    return numpy.frombuffer(data, numpy.float32).reshape(shape)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_llama_cpp_picks_the_same_tokens(adit, oracle, tmp_path, family, kind):
    folder = oracle / "models" / family
    out = tmp_path / "out.gguf"
    # llama.cpp expects control tokens of the real Phi-3 in a model that is called phi3: the folder's name becomes its name.
    renamed = tmp_path / "model"
    shutil.copytree(folder, renamed)
    adit.ok("convert", renamed, out, "--type", kind)
    golden = json.loads((folder / "golden.json").read_text())["prompts"]["p33"]
    prompt = golden["ids"]
    theirs = greedy(out, prompt)
    if kind == "f32":
        assert theirs == golden["greedy"][:NUM_TOKENS]
    rows = logits_of(adit, out, prompt + theirs, tmp_path / "logits")[len(prompt) - 1:-1]
    compared = 0
    for row, token in zip(rows, theirs):
        best, second = numpy.sort(row)[:-3:-1]
        if best - second < MARGINS[kind]:
            continue
        assert int(numpy.argmax(row)) == token
        compared += 1
    assert compared >= NUM_TOKENS // 4


@pytest.mark.parametrize("kind", TYPES)
def test_llama_cpp_makes_the_same_embeddings(adit, oracle, tmp_path, kind):
    folder = oracle / "models/bert"
    out = tmp_path / "out.gguf"
    adit.ok("convert", folder, out, "--type", kind)
    texts = [entry["text"] for entry in json.loads((folder / "golden.json").read_text())["texts"]]
    model = llama_cpp.Llama(str(out), n_ctx=256, n_threads=1, n_threads_batch=1, embedding=True, verbose=False)
    try:
        theirs = [model.embed(text) for text in texts]
    finally:
        model.close()
    for text, embedding in zip(texts, theirs):
        ours = [float(word) for word in adit.ok("embed", out, text, "--isa", "ref").split()]
        cosine = numpy.dot(ours, embedding) / numpy.linalg.norm(ours) / numpy.linalg.norm(embedding)
        # llama.cpp rounds activations to the type of the weights.
        assert cosine > {"f32": 0.99999, "f16": 0.99999, "bf16": 0.9999, "q8_0": 0.999}[kind], text
