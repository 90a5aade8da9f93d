"""Hugging Face folders that adit convert and adit quantize write."""
import json
import os
import shutil
import signal
import time

import pytest
from conftest import read_safetensors, write_safetensors
from quantised import full, kld, text, types  # noqa: F401

TOKENS = "5,6,7,8,9,300,1,2"
SAMPLES = ["Hello, world! It's 12345.", "  two  spaces\n\n\ttab", "déjà vu 日本語 😀"]

# Folders, and the GGUF files beside them that another converter wrote.
GGUF_FILES = [("llama", "model-f32.gguf"), ("llama_spm", "model-bf16.gguf"), ("llama_tied", "model-f32.gguf"),
              ("llama_bias", "model-f16.gguf"), ("llama_rope_linear", "model-bf16.gguf"),
              ("llama_rope_yarn", "model-bf16.gguf"), ("qwen2", "model-f32.gguf"), ("qwen3", "model-bf16.gguf"),
              ("gemma", "model-bf16.gguf"), ("gemma2", "model-bf16.gguf"), ("gemma3_text", "model-f32.gguf"),
              ("granite", "model-bf16.gguf"), ("olmo2", "model-bf16.gguf"), ("smollm3", "model-bf16.gguf")]


@pytest.fixture
def np():
    return pytest.importorskip("numpy", reason="scripts/setup test installs it")


def logits(adit, model, path):
    adit.ok("logits", model, "--tokens", TOKENS, "--all", "-o", path, "--isa", "ref")
    return read_safetensors(path)["logits"]


def config_of(folder):
    return json.loads((folder / "config.json").read_text())


def arrays(np, folder):
    """The tensors of a folder of one file, BF16 widened."""
    kinds = {"F32": "<f4", "F16": "<f2", "I32": "<i4", "I64": "<i8", "I8": "i1", "BF16": "<u2", "F8_E4M3": "u1",
             "F8_E5M2": "u1"}
    out = {}
    for name, (kind, shape, data) in read_safetensors(folder / "model.safetensors").items():
        array = np.frombuffer(data, kinds[kind]).reshape(shape)
        out[name] = (array.astype(np.uint32) << 16).view(np.float32) if kind == "BF16" else array
    return out


def as_adit_reads(adit, np, folder, tmp_path):
    """The matrices of layers of a folder as floats, by their names in GGUF files."""
    gguf = pytest.importorskip("gguf", reason="the package gguf is not installed")
    adit.ok("convert", folder, tmp_path / "read.gguf", "--type", "f32")
    reader = gguf.GGUFReader(str(tmp_path / "read.gguf"))
    return {tensor.name: np.array(tensor.data) for tensor in reader.tensors}


@pytest.mark.parametrize("name, file", GGUF_FILES)
def test_a_gguf_file_becomes_a_folder_that_gives_the_same_bits(adit, oracle, tmp_path, name, file):
    origin, folder = oracle / "models" / name, tmp_path / "folder"
    adit.ok("convert", origin / file, folder, "--to", "hf")
    assert logits(adit, folder, tmp_path / "a") == logits(adit, origin / file, tmp_path / "b")
    ours, theirs = config_of(folder), config_of(origin)
    for key in ("model_type", "architectures", "hidden_size", "num_hidden_layers", "num_attention_heads",
                "num_key_value_heads", "head_dim", "intermediate_size", "vocab_size", "rms_norm_eps",
                "tie_word_embeddings"):
        if key in ours and key in theirs:
            assert ours[key] == theirs[key], key
    shapes = lambda path: {name: shape for name, (_, shape, _) in read_safetensors(path / "model.safetensors").items()}
    written, wanted = shapes(folder), shapes(origin)
    if ours["tie_word_embeddings"]:
        wanted.pop("lm_head.weight", None)
    assert written == wanted
    for sample in SAMPLES:
        ids = [json.loads(adit.ok("tokenize", model, sample, "--json"))["ids"] for model in (folder, origin / file)]
        assert ids[0] == ids[1], sample


def test_what_config_json_cannot_say_is_told_by_name(adit, oracle, tmp_path):
    message = adit.fails(5, "convert", oracle / "models/gpt2/model-f32.gguf", tmp_path / "folder", "--to", "hf")
    assert "gpt2 models" in message and "llama" in message
    assert not (tmp_path / "folder").exists()


def test_a_folder_is_copied_in_another_type(adit, full, tmp_path):
    folder = tmp_path / "folder"
    adit.ok("convert", full, f"{folder}/", "--type", "f32")
    for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        assert (folder / name).exists() == (full / name).exists()
        if (full / name).exists():
            assert (folder / name).read_bytes() == (full / name).read_bytes()
    assert {kind for kind, _, _ in read_safetensors(folder / "model.safetensors").values()} == {"F32"}
    assert logits(adit, folder, tmp_path / "a") == logits(adit, full, tmp_path / "b")
    assert "not empty" in adit.fails(2, "convert", full, folder, "--type", "f32")


# TYPE, more flags, quant_method, what adit holds its matrices as, and the most that it costs.
FORMATS = [("W4A16", [], "compressed-tensors", "INT4", 0.5),
           ("W4A16", ["--asymmetric"], "compressed-tensors", "INT4", 0.5), ("W4A16", ["--format", "gptq"], "gptq", "INT4", 0.5),
           ("W4A16", ["--format", "gptq", "--asymmetric"], "gptq", "INT4", 0.5),
           ("W4A16", ["--format", "awq"], "awq", "INT4", 0.5), ("W3A16", [], "gptq", "INT4", 2.0),
           ("W2A16", [], "gptq", "INT4", 5.0), ("W8A16", [], "compressed-tensors", "INT8", 0.002),
           ("W8A16", ["--format", "gptq"], "gptq", "INT8", 0.002), ("W8A8", [], "compressed-tensors", "INT8", 0.002),
           ("FP8", [], "compressed-tensors", "FP8", 0.03), ("FP8_TENSOR", [], "compressed-tensors", "FP8", 0.03),
           ("FP8_BLOCK", [], "fp8", "FP8", 0.03), ("FP8_E5M2", [], "fp8", "FP8", 0.12),
           ("FP8_E5M2_ROW", [], "fp8", "FP8", 0.12), ("FP8_E5M2_TENSOR", [], "fp8", "FP8", 0.12)]


@pytest.mark.parametrize("kind, flags, method, held, most", FORMATS)
def test_each_format_is_written_and_run(adit, full, tmp_path, text, kind, flags, method, held, most):
    folder = tmp_path / "folder"
    adit.ok("quantize", full, folder, kind, "--group-size", "64", *flags)
    config = config_of(folder)
    assert config["quantization_config"]["quant_method"] == method
    assert {key: value for key, value in config.items() if key not in ("quantization_config", "torch_dtype")} == \
        {key: value for key, value in config_of(full).items() if key != "torch_dtype"}
    got = types(adit, folder)
    assert got["blk.0.attn_q.weight"] == got["blk.1.ffn_down.weight"] == held
    assert got["output.weight"] == types(adit, full)["output.weight"]
    assert kld(adit, folder, full, text, "--isa", "ref") < most


def unpacked(np, words, bits, count):
    """Numbers of `bits` bits out of the int32 words along the last axis."""
    words = words.astype(np.uint32)
    bit = np.arange(words.shape[-1] * 32)
    stream = (words[..., bit // 32] >> (bit % 32).astype(np.uint32)) & 1
    stream = stream[..., :count * bits].reshape(*words.shape[:-1], count, bits)
    return (stream << np.arange(bits, dtype=np.uint32)).sum(axis=-1).astype(np.int64)


def dequantised(np, tensors, module, method, bits, group):
    """A matrix [out, in] by the published layouts."""
    get = lambda part: tensors[f"{module}.{part}"]
    if method == "gptq":
        cols = get("g_idx").shape[0]
        codes = unpacked(np, get("qweight").T, bits, cols)
        zeros = (unpacked(np, get("qzeros"), bits, codes.shape[0]) + 1).T
        scales = get("scales").astype(np.float32).T
    elif method == "awq":
        order = [0, 2, 4, 6, 1, 3, 5, 7]
        spread = lambda words: np.stack([(words >> (4 * order.index(i))) & 15 for i in range(8)], axis=-1)
        codes = spread(get("qweight").astype(np.int64)).reshape(get("qweight").shape[0], -1).T
        zeros = spread(get("qzeros").astype(np.int64)).reshape(get("qzeros").shape[0], -1).T
        scales = get("scales").astype(np.float32).T
        cols = codes.shape[1]
    else:
        rows, cols = get("weight_shape")
        codes = unpacked(np, get("weight_packed"), bits, cols)
        zeros = np.full((rows, cols // group), 1 << (bits - 1))
        if f"{module}.weight_zero_point" in tensors:
            zeros = unpacked(np, get("weight_zero_point").T, bits, rows).T
        scales = get("weight_scale").astype(np.float32)
    of_group = np.arange(cols) // group
    return scales[:, of_group] * (codes - zeros[:, of_group]).astype(np.float32), scales[:, of_group]


@pytest.mark.parametrize("kind, flags, method", [("W4A16", [], "packed"), ("W8A16", [], "packed"),
                                                  ("W4A16", ["--asymmetric"], "packed"),
                                                  ("W2A16", [], "gptq"), ("W3A16", [], "gptq"),
                                                  ("W4A16", ["--format", "gptq"], "gptq"),
                                                  ("W8A16", ["--format", "gptq"], "gptq"),
                                                  ("W4A16", ["--format", "awq"], "awq")])
def test_the_packing_is_the_published_one(adit, np, full, tmp_path, kind, flags, method):
    folder = tmp_path / "folder"
    adit.ok("quantize", full, folder, kind, "--group-size", "64", *flags)
    written, origin = arrays(np, folder), arrays(np, full)
    read = as_adit_reads(adit, np, folder, tmp_path)
    bits = int(kind[1])
    for module, name in [("model.layers.0.mlp.up_proj", "blk.0.ffn_up.weight"),
                         ("model.layers.1.self_attn.o_proj", "blk.1.attn_output.weight")]:
        values, scales = dequantised(np, written, module, method, bits, 64)
        np.testing.assert_array_equal(values, read[name])
        # Nowhere further from the weight than half a step, or than the step that the largest one may lie beyond the end.
        off = np.abs(values - origin[f"{module}.weight"])
        assert (off <= scales * 0.51 + 1e-7).mean() > 0.95 and (off <= scales * 1.01 + 1e-7).all()


def test_int8_and_fp8_are_codes_times_scales(adit, np, full, tmp_path):
    weight = arrays(np, full)["model.layers.0.mlp.up_proj.weight"]
    adit.ok("quantize", full, tmp_path / "int8", "W8A8")
    written = arrays(np, tmp_path / "int8")
    codes, scales = (written[f"model.layers.0.mlp.up_proj.{part}"] for part in ("weight", "weight_scale"))
    np.testing.assert_allclose(scales[:, 0], np.abs(weight).max(axis=1) / 127, rtol=1e-6)
    assert (np.abs(codes * scales - weight) <= scales * 0.501).all()
    for kind, rows, cols in (("FP8", 1, weight.shape[1]), ("FP8_TENSOR", *weight.shape), ("FP8_BLOCK", 128, 128)):
        adit.ok("quantize", full, tmp_path / kind, kind)
        written = arrays(np, tmp_path / kind)
        codes = written["model.layers.0.mlp.up_proj.weight"].astype(np.int64)
        part = "weight_scale_inv" if kind == "FP8_BLOCK" else "weight_scale"
        scales = written[f"model.layers.0.mlp.up_proj.{part}"].reshape(-(-weight.shape[0] // rows), -1)
        exponent, mantissa = codes >> 3 & 15, codes & 7
        values = np.where(exponent == 0, mantissa * 2.0**-9, (8 + mantissa) * 2.0**(exponent - 10.0))
        values *= np.where(codes & 128, -1.0, 1.0)
        spread = np.repeat(np.repeat(scales, rows, axis=0), cols, axis=1)[:weight.shape[0], :weight.shape[1]]
        assert (np.abs(values * spread - weight) <= np.abs(weight) / 16 + spread * 2.0**-10 + 1e-9).all()
        assert np.abs(values).max() == 448
    for kind, rows, cols in (("FP8_E5M2", 128, 128), ("FP8_E5M2_ROW", 1, weight.shape[1]),
                             ("FP8_E5M2_TENSOR", *weight.shape)):
        adit.ok("quantize", full, tmp_path / kind, kind)
        config = config_of(tmp_path / kind)["quantization_config"]
        assert config["fmt"] == "e5m2" and config.get("weight_block_size") == ([128, 128] if rows == 128 else None)
        written = arrays(np, tmp_path / kind)
        codes = written["model.layers.0.mlp.up_proj.weight"].astype(np.uint8)
        values = (codes.astype(np.uint16) << 8).view(np.float16).astype(np.float64)  # the upper half of a binary16
        part = "weight_scale_inv" if rows == 128 else "weight_scale"
        scales = written[f"model.layers.0.mlp.up_proj.{part}"].reshape(-(-weight.shape[0] // rows), -1)
        spread = np.repeat(np.repeat(scales, rows, axis=0), cols, axis=1)[:weight.shape[0], :weight.shape[1]]
        assert (np.abs(values * spread - weight) <= np.abs(weight) / 8 + spread * 2.0**-17 + 1e-9).all()
        assert np.abs(values).max() == 57344


@pytest.mark.parametrize("kind, flags, largest_code", [("W8A8", [], 127), ("FP8", [], 448), ("FP8_TENSOR", [], 448),
                                                       ("W8A8", ["--method", "smoothquant"], 127)])
def test_static_scales_are_those_of_the_largest_inputs(adit, np, full, tmp_path, text, kind, flags, largest_code):
    out = tmp_path / "out"
    adit.ok("quantize", full, out, kind, *flags, "--activations", "static", "--calib", text, "--calib-ctx", "64",
            "--calib-windows", "3")
    group = config_of(out)["quantization_config"]["config_groups"]["group_0"]
    assert group["input_activations"]["dynamic"] is False and group["input_activations"]["strategy"] == "tensor"
    tensors = arrays(np, out)
    # What comes into the first layer follows from embeddings and a norm, also where the norm is divided.
    ids = [int(word) for word in adit.ok("tokenize", full, "--add-special", text.read_text()).split()][:3 * 64]
    hidden = tensors["model.embed_tokens.weight"].astype(np.float64)[ids]
    normed = hidden / np.sqrt((hidden**2).mean(axis=1, keepdims=True) + config_of(full)["rms_norm_eps"])
    largest = np.abs(normed * tensors["model.layers.0.input_layernorm.weight"]).max()
    for name in ("q", "k", "v"):
        scale = tensors[f"model.layers.0.self_attn.{name}_proj.input_scale"]
        assert scale.shape == (1,) and abs(scale[0] * largest_code / largest - 1) < 1e-3, name
    assert sum(name.endswith(".input_scale") for name in tensors) == 2 * 7
    assert kld(adit, out, full, text, "--isa", "ref") < 0.03
    assert "no place" in adit.fails(2, "quantize", full, tmp_path / "no", "W4A16", "--activations", "static", "--calib", text)
    assert "--calib" in adit.fails(2, "quantize", full, tmp_path / "no", kind, "--activations", "static")


@pytest.mark.parametrize("kind, flags, methods", [("W4A16", [], ["gptq", "awq", "awq-gptq"]),
                                                  ("W4A16", ["--format", "awq"], ["awq"]),
                                                  ("W3A16", [], ["gptq"]), ("FP8", [], ["gptq"]),
                                                  ("FP8_TENSOR", [], ["gptq"]), ("FP8_BLOCK", [], ["gptq"])])
def test_calibration_comes_closer_than_rounding(adit, full, tmp_path, text, kind, flags, methods):
    """The columns of a random model are of one size, so that scaling them gains little."""
    flags = [*flags, "--group-size", "64"]
    adit.ok("quantize", full, tmp_path / "plain", kind, *flags)
    plain = kld(adit, tmp_path / "plain", full, text, "--isa", "ref")
    for method in methods:
        out = tmp_path / method
        adit.ok("quantize", full, out, kind, *flags, "--method", method, "--calib", text, "--calib-ctx", "64")
        most = (0.8 if method.endswith("gptq") else 1.0) * plain
        assert kld(adit, out, full, text, "--isa", "ref") < most, method


def test_awq_cuts_off_no_weights_of_gate_and_up(adit, np, full, tmp_path, text):
    """Factors are what the norm was divided by; codes are of a scale that spans the largest weight of its group,
    multiplied by them, whatever the scale is fitted to afterwards."""
    out = tmp_path / "out"
    adit.ok("quantize", full, out, "W4A16", "--group-size", "64", "--method", "awq", "--calib", text, "--calib-ctx", "64")
    written, origin = arrays(np, out), arrays(np, full)

    def same_codes(module, norm):
        factors = origin[f"model.layers.0.{norm}.weight"] / written[f"model.layers.0.{norm}.weight"]
        assert factors.max() > 1.01 * factors.min()
        values, scales = dequantised(np, written, f"model.layers.0.{module}", "packed", 4, 64)
        scaled = (origin[f"model.layers.0.{module}.weight"] * factors).reshape(len(values), -1, 64)
        spanning = scaled * 7.5 / np.abs(scaled).max(axis=2, keepdims=True)
        codes = np.round(values / scales).reshape(spanning.shape)
        return (codes == np.clip(np.round(spanning), -8, 7)).mean()

    assert same_codes("mlp.gate_proj", "post_attention_layernorm") > 0.99
    assert same_codes("self_attn.q_proj", "input_layernorm") < 0.95


def test_fp8_has_no_use_for_factors_of_columns(adit, full, tmp_path, text):
    out = tmp_path / "out"
    for method in ("awq", "awq-gptq"):
        assert "whole numbers" in adit.fails(2, "quantize", full, out, "FP8", "--method", method, "--calib", text)
    assert "FP8_E5M2 is rounded to the nearest" in adit.fails(2, "quantize", full, out, "FP8_E5M2", "--method", "gptq",
                                                              "--calib", text)
    assert not out.exists()


def test_a_decoder_made_for_embeddings_pools_as_its_folder_says(adit, full, tmp_path):
    """Saved without its head, as sentence-transformers has it: names without "model.", and 1_Pooling."""
    folder = tmp_path / "embedder"
    shutil.copytree(full, folder)
    tensors = read_safetensors(full / "model.safetensors")
    write_safetensors(folder / "model.safetensors", {name.removeprefix("model."): tensor for name, tensor in tensors.items()
                                                     if name != "lm_head.weight"})
    config = config_of(folder)
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": True}))
    (folder / "1_Pooling").mkdir()
    pooling = folder / "1_Pooling/config.json"
    pooling.write_text(json.dumps({"word_embedding_dimension": config["hidden_size"], "pooling_mode_lasttoken": True}))
    wanted = adit.ok("embed", full, "some words", "--pooling", "last")
    assert adit.ok("embed", folder, "some words") == wanted != adit.ok("embed", full, "some words")
    adit.ok("convert", folder, tmp_path / "embedder.gguf")
    assert adit.ok("embed", tmp_path / "embedder.gguf", "some words") == wanted
    pooling.write_text(json.dumps({"pooling_mode_max_tokens": True}))
    assert "pooling_mode_max_tokens is not supported" in adit.fails(5, "embed", folder, "some words")


def with_outliers(np, full, folder):
    """The same model with a few columns of normed activations a hundred times as large."""
    tensors = {name: np.array(array, np.float32) for name, array in arrays(np, full).items()}
    for layer in range(2):
        for norm, readers in (("input_layernorm", ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"]),
                              ("post_attention_layernorm", ["mlp.gate_proj", "mlp.up_proj"])):
            columns = np.arange(3, 128, 41) + layer
            tensors[f"model.layers.{layer}.{norm}.weight"][columns] *= 128
            for reader in readers:
                tensors[f"model.layers.{layer}.{reader}.weight"][:, columns] /= 128
    shutil.copytree(full, folder)
    write_safetensors(folder / "model.safetensors",
                      {name: ("F32", array.shape, array.tobytes()) for name, array in tensors.items()})
    return folder


def test_smoothquant_takes_what_outliers_cost(adit, np, full, tmp_path, text):
    folder = with_outliers(np, full, tmp_path / "outliers")
    assert kld(adit, folder, full, text, "--isa", "ref") < 1e-6
    adit.ok("quantize", folder, tmp_path / "plain", "W8A8")
    adit.ok("quantize", folder, tmp_path / "smooth", "W8A8", "--method", "smoothquant", "--calib", text, "--calib-ctx",
            "64")
    one = ("--activation-terms", "one")
    plain, smooth = (kld(adit, tmp_path / name, folder, text, *one) for name in ("plain", "smooth"))
    assert smooth < plain / 5
    # What the norms are divided by the matrices are multiplied by.
    before, after = arrays(np, folder), arrays(np, tmp_path / "smooth")
    factors = before["model.layers.0.input_layernorm.weight"] / after["model.layers.0.input_layernorm.weight"]
    assert factors[3] > 4 * np.median(factors)
    def both(name):
        codes, scales = (after[f"model.layers.0.self_attn.{name}.{part}"] for part in ("weight", "weight_scale"))
        return codes * scales, before[f"model.layers.0.self_attn.{name}.weight"], scales.max()
    for reader in ("q_proj", "k_proj"):
        got, origin, scale = both(reader)
        np.testing.assert_allclose(got, origin * factors, atol=scale * 0.51)
    # Rows of values are divided too, and multiplied by in the columns of both heads of queries that read them.
    got, origin, _ = both("v_proj")
    divided = (got * origin * factors).sum(axis=1) / ((origin * factors)**2).sum(axis=1)
    got, origin, _ = both("o_proj")
    multiplied = (got * origin).sum(axis=0) / (origin**2).sum(axis=0)
    np.testing.assert_allclose(multiplied.reshape(2, 2, 32), 1 / np.repeat(divided.reshape(2, 1, 32), 2, axis=1), rtol=0.02)
    assert multiplied.max() > 1.2 * multiplied.min()
    metadata = json.loads((tmp_path / "smooth" / "config.json").read_text())["quantization_config"]
    assert metadata["config_groups"]["group_0"]["input_activations"]["strategy"] == "token"


@pytest.mark.parametrize("kind, other", [("W4A16", ["--asymmetric", "--format", "gptq"]), ("FP8", ["--calib-windows", "2"])])
def test_a_stopped_run_goes_on(adit, full, tmp_path, text, kind, other):
    keep, out = tmp_path / "keep", tmp_path / "out"
    command = [kind, "--group-size", "64", "--method", "gptq", "--calib", text, "--calib-ctx", "64"]
    adit.ok("quantize", full, tmp_path / "whole", *command)
    process = adit.start("quantize", full, out, *command, "--resume", keep)
    deadline = time.monotonic() + 120
    while not (keep / "layer-00000").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    shutil.rmtree(out, ignore_errors=True)
    if keep.exists():
        message = adit.fails(5, "quantize", full, out, *command, *other, "--resume", keep)
        assert "another model, type, method or text" in message
        before = (keep / "layer-00000").stat().st_mtime_ns
        adit.ok("quantize", full, out, *command, "--resume", keep)
        assert before < time.time_ns() and not keep.exists()
    else:  # it was done before it could be stopped
        adit.ok("quantize", full, out, *command, "--resume", keep)
    assert (out / "model.safetensors").read_bytes() == (tmp_path / "whole" / "model.safetensors").read_bytes()


def test_a_kill_leaves_no_half_folder(adit, full, tmp_path, text):
    out = tmp_path / "out"
    process = adit.start("quantize", full, out, "W4A16", "--group-size", "64", "--method", "gptq", "--calib", text,
                         "--calib-ctx", "64")
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode in (0, 130)
    assert out.exists() == (process.returncode == 0)
    assert [name for name in os.listdir(tmp_path) if name not in ("out", "text.txt")] == []


def test_parts_are_split_and_merged(adit, full, tmp_path):
    whole, split, merged = tmp_path / "whole.gguf", tmp_path / "split.gguf", tmp_path / "merged.gguf"
    adit.ok("convert", full, whole)
    adit.ok("convert", full, split, "--split-max-size", "100K")
    parts = sorted(path.name for path in tmp_path.glob("split*.gguf"))
    assert len(parts) > 2 and parts[0] == f"split-00001-of-{len(parts):05}.gguf"
    assert logits(adit, tmp_path / parts[1], tmp_path / "a") == logits(adit, whole, tmp_path / "b")
    adit.ok("convert", tmp_path / parts[0], merged)
    assert merged.read_bytes() == whole.read_bytes()


def test_what_does_not_fit_is_told(adit, np, full, tmp_path, text):
    out = tmp_path / "out"
    # Rows of 320 columns.
    message = adit.fails(2, "quantize", full, out, "W4A16", "--group-size", "128")
    assert "ffn_down.weight" in message and "320 columns" in message
    assert "gptq" in adit.fails(2, "quantize", full, out, "W2A16", "--format", "awq")
    assert "W8A8" in adit.fails(2, "quantize", full, out, "W4A16", "--method", "smoothquant", "--calib", text)
    assert "multiple of 32" in adit.fails(2, "quantize", full, out, "W4A16", "--group-size", "48")
    assert "types of GGUF" in adit.fails(2, "quantize", full, tmp_path / "x.gguf", "q4_0", "--format", "awq")
    broken = tmp_path / "broken"
    shutil.copytree(full, broken)
    data = bytearray((broken / "model.safetensors").read_bytes())
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    name = "model.layers.1.mlp.up_proj.weight"
    begin = 8 + length + header[name]["data_offsets"][0]
    data[begin:begin + 2] = b"\xc0\x7f"  # NaN in BF16
    (broken / "model.safetensors").write_bytes(data)
    for kind in ("W4A16", "W8A8", "FP8"):
        message = adit.fails(5, "quantize", broken, out, kind, "--group-size", "64")
        assert name in message and "row 0" in message and "not finite" in message
    assert not out.exists()
    # A row of zeros is one.
    data[begin:begin + 2 * 128] = bytes(2 * 128)
    (broken / "model.safetensors").write_bytes(data)
    for kind in ("W4A16", "W8A8", "FP8"):
        adit.ok("quantize", broken, tmp_path / kind, kind, "--group-size", "64")
        assert kld(adit, tmp_path / kind, broken, text, "--isa", "ref") < 0.5
