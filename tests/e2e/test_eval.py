"""adit eval."""
import json
import math
import struct

import pytest

from conftest import read_safetensors

CONTEXT = 32
TEXT = "The quick brown fox jumps over the lazy dog, and then it sleeps until the morning comes again. " * 3


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def log_probs(adit, tmp_path):
    """Rows of log-probabilities of ids, by adit logits and arithmetic here."""

    def log_probs(model, ids, *arguments):
        path = tmp_path / "rows.safetensors"
        adit.ok("logits", model, "--tokens", ",".join(map(str, ids)), "--all", "-o", path, *arguments)
        (count, size), data = read_safetensors(path)["logits"][1:]
        rows = []
        for i in range(count):
            row = struct.unpack_from(f"<{size}f", data, 4 * size * i)
            largest = max(row)
            log_sum = largest + math.log(sum(math.exp(x - largest) for x in row))
            rows.append([x - log_sum for x in row])
        return rows

    return log_probs


def windows(adit, model):
    ids = json.loads(adit.ok("tokenize", model, TEXT, "--add-special", "--json"))["ids"]
    count = len(ids) // CONTEXT
    assert count >= 2
    cut = [ids[CONTEXT * i:CONTEXT * (i + 1)] for i in range(count)]
    tokenizer = json.loads(adit.ok("show", model, "--json"))["tokenizer"]
    if tokenizer["adds_bos"]:
        for window in cut:
            window[0] = tokenizer["bos_id"]
    return cut


def ask(adit, *arguments):
    return json.loads(adit.ok("eval", *arguments, "--json"))


def test_perplexity_is_that_of_the_logits(adit, tiny_gguf, text, log_probs):
    nll = []
    for window in windows(adit, tiny_gguf):
        rows = log_probs(tiny_gguf, window)
        nll += [-rows[i][window[i + 1]] for i in range(CONTEXT // 2, CONTEXT - 1)]
    answer = ask(adit, "perplexity", tiny_gguf, "--file", text, "--ctx", CONTEXT)
    assert answer["scored_tokens"] == len(nll) and answer["context"] == CONTEXT
    mean = sum(nll) / len(nll)
    assert answer["nll"] == pytest.approx(mean, rel=1e-6)
    assert answer["perplexity"] == pytest.approx(math.exp(mean), rel=1e-6)
    variance = sum((x - mean) ** 2 for x in nll) / len(nll)
    assert answer["perplexity_error"] == pytest.approx(math.exp(mean) * math.sqrt(variance / (len(nll) - 1)), rel=1e-4)
    assert ask(adit, "perplexity", tiny_gguf, "--file", text, "--ctx", CONTEXT, "--limit", 1)["windows"] == 1


def test_divergence_is_that_of_the_logits(adit, tiny_gguf, text, log_probs):
    divergences, same = [], []
    for window in windows(adit, tiny_gguf):
        base = log_probs(tiny_gguf, window)
        rows = log_probs(tiny_gguf, window, "--kv-type", "q4_0")
        for p, q in list(zip(base, rows))[CONTEXT // 2:CONTEXT - 1]:
            divergences.append(sum(math.exp(a) * (a - b) for a, b in zip(p, q)))
            same.append(p.index(max(p)) == q.index(max(q)))
    base = text.parent / "base"
    adit.ok("eval", "perplexity", tiny_gguf, "--file", text, "--ctx", CONTEXT, "--save-base", base)
    answer = ask(adit, "kld", tiny_gguf, "--base", base, "--kv-type", "q4_0")
    assert answer["scored_tokens"] == len(divergences)
    assert answer["mean_kld"] == pytest.approx(sum(divergences) / len(divergences), rel=0.02, abs=2e-6)
    assert answer["kld"]["largest"] == pytest.approx(max(divergences), rel=0.05, abs=2e-5)
    assert answer["same_top"] == pytest.approx(sum(same) / len(same), abs=1.5 / len(same))


def test_a_model_does_not_differ_from_itself(adit, tiny_gguf, text):
    answer = ask(adit, "kld", tiny_gguf, "--base", tiny_gguf, "--file", text, "--ctx", CONTEXT)
    assert answer["mean_kld"] == pytest.approx(0, abs=1e-6) and answer["same_top"] == 1
    assert answer["log_perplexity_ratio"] == pytest.approx(0, abs=1e-6)
    shown = adit.ok("eval", "kld", tiny_gguf, "--base", tiny_gguf, "--file", text, "--ctx", CONTEXT).decode()
    assert "mean KL divergence" in shown and "same top token      100.00 %" in shown


def continuation(adit, model, log_probs, context, ending):
    def ids(string):
        return json.loads(adit.ok("tokenize", model, string, "--add-special", "--json"))["ids"]

    before, tokens = ids(context), ids(context + " " + ending)
    assert tokens[:len(before)] == before
    rows = log_probs(model, tokens)
    return sum(rows[i - 1][tokens[i]] for i in range(len(before), len(tokens)))


ITEMS = [("A dog runs", ["over the hill.", "purple of", "the"]), ("She opens the door and", ["goes in.", "green why", "x y z"]),
         ("Two and two", ["are four, of course.", "is", "banana"]), ("It rains, so", ["we stay.", "the", "they took it all"])]


def test_hellaswag_chooses_the_likeliest_ending(adit, smollm2, tmp_path, log_probs):
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps({"ctx": c, "endings": e, "label": i % 3}) + "\n" for i, (c, e) in enumerate(ITEMS)))
    right, normalised = 0, 0
    for i, (context, endings) in enumerate(ITEMS):
        sums = [continuation(adit, smollm2, log_probs, context, ending) for ending in endings]
        by_byte = [value / len(ending) for value, ending in zip(sums, endings)]
        right += sums.index(max(sums)) == i % 3
        normalised += by_byte.index(max(by_byte)) == i % 3
    answer = ask(adit, "hellaswag", smollm2, "--file", path)
    assert answer["items"] == 4
    assert answer["accuracy"] == right / 4
    assert answer["normalised_accuracy"] == normalised / 4


def test_mmlu_takes_examples(adit, tiny_gguf, tmp_path):
    items = [{"question": f"Which is {i}?", "choices": ["1", "2", "3", "4"], "answer": i} for i in range(4)]
    lines = "".join(json.dumps(item) + "\n" for item in items)
    answer = json.loads(adit.ok("eval", "mmlu", tiny_gguf, "--file", "-", "--shots", 1, "--json", input=lines))
    assert answer["items"] == 3 and answer["examples"] == 1 and 0 <= answer["accuracy"] <= 1
    path = tmp_path / "items"
    path.write_text(lines)
    assert ask(adit, "mmlu", tiny_gguf, "--file", path, "--limit", 2)["items"] == 2
    assert "none is left" in adit.fails(2, "eval", "mmlu", tiny_gguf, "--file", path, "--shots", 4)
    assert "--ctx" in adit.fails(2, "eval", "mmlu", tiny_gguf, "--file", path, "--ctx", 8)


def test_what_is_wrong_is_named(adit, tiny_gguf, text, tmp_path):
    short = tmp_path / "short"
    short.write_text("a few words")
    assert "two windows of 32 need 64" in adit.fails(2, "eval", "perplexity", tiny_gguf, "--file", short, "--ctx", CONTEXT)
    assert "--file" in adit.fails(2, "eval", "perplexity", tiny_gguf)
    assert "--file is required" in adit.fails(2, "eval", "kld", tiny_gguf, "--base", tiny_gguf)
    broken = tmp_path / "broken"
    broken.write_bytes(b"_logits_" + struct.pack("<3i", 4, 259, 1) + b"\0" * 20)
    adit.fails(5, "eval", "kld", tiny_gguf, "--base", broken)
    items = tmp_path / "items"
    items.write_text('{"ctx":"a","endings":["b","c"],"label":0}\n{"ctx":"a"}\n')
    assert "items:2: no \"endings\"" in adit.fails(5, "eval", "hellaswag", tiny_gguf, "--file", items)
    assert "context" in adit.fails(2, "eval", "perplexity", tiny_gguf, "--file", text, "--ctx", 1 << 20)
