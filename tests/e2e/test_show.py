"""adit show."""
import json

import pytest


def test_summary(adit, smollm2):
    text = adit.ok("show", smollm2).decode()
    rows = {line[:15].strip(): line[16:] for line in text.splitlines()}
    assert rows["architecture"] == "llama"
    assert rows["parameters"] == "134.5 M"
    assert rows["context"] == "8192"
    assert rows["embedding"] == "576"
    assert rows["layers"] == "30"
    assert rows["heads"] == "9" and rows["KV heads"] == "3"
    assert rows["Q4_1"].endswith("parameters")
    assert "smollm" in rows["tokenizer"] and "49152 tokens" in rows["tokenizer"]
    assert rows["licence"] == "apache-2.0"
    assert rows["runs here"] == "yes"
    assert "{% for message in messages %}" in text


def test_tensors(adit, smollm2):
    lines = adit.ok("show", smollm2, "--tensors").decode().splitlines()
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in lines}
    assert len(lines) == len(json.loads(adit.ok("show", smollm2, "--json"))["tensors"])
    assert rows["token_embd.weight"].startswith("Q8_0") and rows["token_embd.weight"].endswith("[49152, 576]")


def test_metadata_has_a_line_for_each_key(adit, smollm2):
    lines = adit.ok("show", smollm2, "--metadata").decode().splitlines()
    rows = dict(line.split(" = ", 1) for line in lines)
    assert rows["llama.block_count"] == "30"
    assert rows["tokenizer.ggml.tokens"].endswith("49152 in all")
    assert max(map(len, lines)) < 500


def test_template(adit, smollm2):
    template = adit.ok("show", smollm2, "--template").decode()
    assert template == json.loads(adit.ok("show", smollm2, "--json"))["chat_template"]


def test_json(adit, smollm2):
    model = json.loads(adit.ok("show", smollm2, "--json"))
    assert model["file_bytes"] == smollm2.stat().st_size
    assert model["hyperparameters"]["context_length"] == 8192
    assert model["parameters"] == sum(use["parameters"] for use in model["types"])
    assert sum(tensor["bytes"] for tensor in model["tensors"]) == sum(use["bytes"] for use in model["types"])
    assert model["metadata"]["tokenizer.ggml.tokens"]["length"] == 49152
    whole = json.loads(adit.ok("show", smollm2, "--json", "--metadata"))
    assert len(whole["metadata"]["tokenizer.ggml.tokens"]) == 49152


@pytest.mark.parametrize("name, file", [("mamba2", "model-f32.gguf"), ("gpt_oss", "model-bf16.gguf"),
                                        ("qwen2_moe", "model-bf16.gguf")])
def test_architectures_that_do_not_run_are_shown_all_the_same(adit, oracle, name, file):
    path = oracle / "models" / name / file
    text = adit.ok("show", path).decode()
    assert "\nruns here       no: " in text
    assert adit.run("run", path, "hi").returncode == 5
