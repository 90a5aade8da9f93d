"""adit quantize and adit imatrix."""
import json
import os
import shutil
import signal
import struct
import time

import pytest
from conftest import read_safetensors
from quantised import TEXT, full, kld_of_reference as kld, text, types  # noqa: F401


def test_a_mix_gives_each_matrix_its_type(adit, full, tmp_path, text):
    out = tmp_path / "out.gguf"
    told = adit.ok("quantize", full, out, "q8_0").decode()
    assert "bits a weight" in told
    assert types(adit, out)["blk.0.attn_q.weight"] == "Q8_0"
    assert json.loads(adit.ok("show", out, "--json", "--metadata"))["metadata"]["general.file_type"] == 7
    assert kld(adit, out, full, text) < 0.002
    # Rows of 128 and 320 are no whole number of blocks of 256: Q4_K becomes Q5_0, Q6_K becomes Q8_0.
    adit.ok("quantize", full, out, "Q4_K_M")
    got = types(adit, out)
    assert got["blk.0.attn_q.weight"] == "Q5_0"
    assert got["blk.0.attn_norm.weight"] == "F32"
    assert got["output.weight"] == "Q8_0"
    adit.ok("quantize", full, out, "Q4_0", "--pure", "--tensor-type", r"blk\.1\..*attn_v=f16")
    got = types(adit, out)
    assert got["output.weight"] == got["token_embd.weight"] == got["blk.0.attn_v.weight"] == "Q4_0"
    assert got["blk.1.attn_v.weight"] == "F16"


def test_a_file_of_rules(adit, full, tmp_path):
    mix = tmp_path / "mix.txt"
    mix.write_text("# values and what gives the logits\nattn_v  q8_0\n^output\\.weight$ = bf16\n")
    out = tmp_path / "out.gguf"
    adit.ok("quantize", full, out, "q4_0", "--mix", mix)
    got = types(adit, out)
    assert (got["blk.0.attn_v.weight"], got["output.weight"], got["blk.0.attn_k.weight"]) == ("Q8_0", "BF16", "Q4_0")
    mix.write_text("attn_v q8_0\nattn_w q8_0\n")
    assert "'attn_w'" in adit.fails(2, "quantize", full, out, "q4_0", "--mix", mix)
    mix.write_text("attn_v q9\n")
    assert "mix.txt:1" in adit.fails(2, "quantize", full, out, "q4_0", "--mix", mix)


def test_what_is_quantised_already_is_left_unless_asked(adit, full, tmp_path):
    once, twice = tmp_path / "once.gguf", tmp_path / "twice.gguf"
    adit.ok("quantize", full, once, "q8_0")
    message = adit.fails(2, "quantize", once, twice, "q4_0")
    assert "Q8_0 already" in message or "q8_0 already" in message
    assert not twice.exists()
    adit.ok("quantize", once, twice, "q4_0", "--allow-requantize")
    assert types(adit, twice)["blk.0.attn_q.weight"] == "Q4_0"


def test_wrong_words_are_told(adit, full, tmp_path, text):
    out = tmp_path / "out.gguf"
    assert "Q4_K_M" in adit.fails(2, "quantize", full, out, "q4_k_x")
    assert "--calib" in adit.fails(2, "quantize", full, out, "q4_0", "--method", "gptq")
    assert "config.json" in adit.fails(5, "quantize", full, out, "q4_0", "--imatrix", full / "config.json")
    assert not out.exists()


def test_a_dry_run_writes_nothing(adit, full, tmp_path):
    out = tmp_path / "out.gguf"
    assert "bits a weight" in adit.ok("quantize", full, out, "q4_0", "--dry-run").decode()
    assert not out.exists()


def test_importance_is_the_mean_square_of_the_inputs(adit, full, tmp_path, text):
    gguf = pytest.importorskip("gguf", reason="the package gguf is not installed")
    numpy = pytest.importorskip("numpy", reason="scripts/setup test installs it")
    out, whole = tmp_path / "im.gguf", tmp_path / "f32.gguf"
    adit.ok("imatrix", full, "-f", text, "-o", out, "--ctx", "64", "--limit", "3", "--isa", "ref")
    reader = gguf.GGUFReader(str(out))
    assert bytes(reader.fields["general.type"].parts[-1]).decode() == "imatrix"
    sums = {tensor.name: tensor.data.reshape(-1) for tensor in reader.tensors}
    adit.ok("convert", full, whole, "--type", "f32")
    model = {tensor.name: tensor.data for tensor in gguf.GGUFReader(str(whole)).tensors}
    info = json.loads(adit.ok("show", whole, "--json", "--metadata"))
    ids = json.loads(adit.ok("tokenize", whole, TEXT, "--add-special", "--json"))["ids"][:3 * 64]
    if info["tokenizer"]["adds_bos"]:
        for i in range(3):
            ids[64 * i] = info["tokenizer"]["bos_id"]
    # The first layer's queries read the normed embeddings.
    x = model["token_embd.weight"].reshape(-1, 128)[ids].astype(numpy.float64)
    eps = info["metadata"]["llama.attention.layer_norm_rms_epsilon"]
    x = x / numpy.sqrt((x * x).mean(axis=1, keepdims=True) + eps) * model["blk.0.attn_norm.weight"]
    numpy.testing.assert_allclose(sums["blk.0.attn_q.weight.in_sum2"], (x * x).sum(axis=0), rtol=1e-4)
    assert sums["blk.0.attn_q.weight.counts"][0] == 3 * 64
    assert sums["blk.1.ffn_down.weight.in_sum2"].shape == (320,)
    # It is of use, and a file of another model is refused.
    adit.ok("quantize", full, tmp_path / "q.gguf", "q4_0", "--imatrix", out)
    metadata = json.loads(adit.ok("show", tmp_path / "q.gguf", "--json", "--metadata"))["metadata"]
    assert metadata["quantize.imatrix.chunks_count"] == 3
    assert "general.type" in adit.fails(5, "quantize", full, tmp_path / "q.gguf", "q4_0", "--imatrix", whole)


# Models with norms of each kind and in each place, and every kind of feed-forward.
FAMILIES = ["llama_q", "qwen2", "gemma3_text", "phi3", "gpt2", "olmo2", "cohere", "stablelm"]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("method", ["gptq", "awq-gptq"])
def test_calibration_comes_closer_than_rounding(adit, oracle, tmp_path, text, family, method):
    full = oracle / "models" / family
    plain, better = tmp_path / "plain.gguf", tmp_path / "better.gguf"
    adit.ok("quantize", full, plain, "q4_0")
    adit.ok("quantize", full, better, "q4_0", "--method", method, "--calib", text, "--calib-ctx", "64")
    assert types(adit, better) == types(adit, plain)
    assert kld(adit, better, full, text) < 0.9 * kld(adit, plain, full, text)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_factors_of_awq_cancel_out(adit, oracle, tmp_path, text, family):
    """With eight bits there is next to nothing to be gained, and nothing may be lost."""
    full, out = oracle / "models" / family, tmp_path / "out.gguf"
    adit.ok("quantize", full, out, "q8_0", "--method", "awq", "--calib", text, "--calib-ctx", "64")
    assert kld(adit, out, full, text) < 0.01


def test_a_kill_leaves_no_half_file(adit, full, tmp_path, text):
    out = tmp_path / "out.gguf"
    process = adit.start("quantize", full, out, "q4_0", "--method", "gptq", "--calib", text, "--calib-ctx", "64")
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert out.exists() == (process.returncode == 0)
    assert [name for name in os.listdir(tmp_path) if name not in ("out.gguf", "text.txt")] == []


# What the weights of each kind of checkpoint are held as.
CHECKPOINTS = {"gptq_v1": "INT4", "gptq_v1_asym": "INT4", "gptq_v2_desc_act": "F32", "awq": "INT4", "ct_w4a16": "INT4",
               "ct_w8a8_int8": "INT8", "ct_fp8_channel": "FP8", "fp8_block128": "FP8"}


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_checkpoints_of_others_run_and_convert(adit, oracle, tmp_path, name):
    folder = oracle / "quant" / name
    assert types(adit, folder)["blk.0.attn_q.weight"] == CHECKPOINTS[name]
    out = tmp_path / "out.gguf"
    adit.ok("convert", folder, out, "--type", "f32")
    assert types(adit, out)["blk.0.attn_q.weight"] == "F32"
    ids = json.loads((folder / "golden.json").read_text())["prompts"]["p7"]["ids"]
    rows = []
    for model in (folder, out):
        adit.ok("logits", model, "--tokens", ",".join(map(str, ids)), "-o", tmp_path / "rows", "--isa", "ref")
        rows.append(read_safetensors(tmp_path / "rows")["logits"][2])
    count = len(rows[0]) // 4
    for a, b in zip(struct.unpack(f"<{count}f", rows[0]), struct.unpack(f"<{count}f", rows[1])):
        assert abs(a - b) < 1e-3


def test_an_unknown_kind_of_checkpoint_is_named(adit, oracle, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(oracle / "quant" / "gptq_v1", folder)
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"]["quant_method"] = "quip"
    (folder / "config.json").write_text(json.dumps(config))
    assert "quantised by 'quip'" in adit.fails(5, "run", folder, "hi")
