"""Hugging Face folders as models, adit convert, and weights in other types."""
import json
import shutil

import pytest
from conftest import read_safetensors, write_safetensors

# Of the folder, and the GGUF file beside it that another converter wrote.
MODELS = [("bert", "model-f32.gguf", "f32"), ("llama", "model-f32.gguf", "f32"), ("llama_spm", "model-bf16.gguf", "bf16"),
          ("qwen2", "model-f32.gguf", "f32"), ("qwen3", "model-bf16.gguf", "bf16"),
          ("gemma3_text", "model-f32.gguf", "f32"), ("smollm3", "model-bf16.gguf", "bf16"),
          ("cohere", "model-bf16.gguf", "bf16"), ("gemma", "model-bf16.gguf", "bf16"),
          ("gemma2", "model-bf16.gguf", "bf16"), ("glm4", "model-bf16.gguf", "bf16"),
          ("gpt2", "model-f32.gguf", "f32"), ("gpt_neox", "model-f16.gguf", "f16"),
          ("granite", "model-bf16.gguf", "bf16"), ("olmo2", "model-bf16.gguf", "bf16"),
          ("phi3", "model-bf16.gguf", "bf16"), ("phi3_longrope", "model-bf16.gguf", "bf16"),
          ("stablelm", "model-bf16.gguf", "bf16"), ("starcoder2", "model-bf16.gguf", "bf16")]
TOKENS = "5,6,7,8,9,300,1,2"


def logits(adit, model, path, *flags):
    adit.ok("logits", model, "--tokens", TOKENS, "--all", "-o", path, "--isa", "ref", *flags)
    return read_safetensors(path)["logits"]


def shown(adit, model):
    return json.loads(adit.ok("show", model, "--json", "--metadata"))


@pytest.mark.parametrize("name, file, kind", MODELS)
def test_a_folder_becomes_the_file_that_another_converter_writes(adit, oracle, tmp_path, name, file, kind):
    folder = oracle / "models" / name
    out = tmp_path / "out.gguf"
    adit.ok("convert", folder, out, "--type", kind)
    ours, theirs = shown(adit, out), shown(adit, folder / file)
    by_name = lambda model: {tensor["name"]: tensor for tensor in model["tensors"]}
    assert by_name(ours) == by_name(theirs)
    for key, value in theirs["metadata"].items():
        # Names and size labels are for people; scores and types of control tokens are told in more than one way.
        if key in ("general.name", "general.size_label", "tokenizer.ggml.add_sep_token", "tokenizer.ggml.scores",
                   "tokenizer.ggml.token_type"):
            continue
        # What a model without scaling says of its scaling.
        if key not in ours["metadata"] and "rope.scaling" in key:
            continue
        assert ours["metadata"][key] == value, key
    if name == "bert":
        embed = lambda model: adit.ok("embed", model, "Größe don't 敏捷 unhappiness", "hello", "--isa", "ref")
        assert embed(out) == embed(folder / file) == embed(folder)
    else:
        assert logits(adit, out, tmp_path / "a") == logits(adit, folder / file, tmp_path / "b")


def test_the_folder_and_what_it_becomes_give_the_same_bits(adit, oracle, tmp_path):
    folder = oracle / "models/llama"
    adit.ok("convert", folder, tmp_path / "out.gguf")
    assert shown(adit, tmp_path / "out.gguf")["types"][0]["type"] == "BF16"
    assert logits(adit, folder, tmp_path / "a") == logits(adit, tmp_path / "out.gguf", tmp_path / "b")


CASED = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" \
    r"%s|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s|"
SPACES = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"


@pytest.mark.parametrize("name, whole_words, pattern", [
    ("gpt-4o", False, CASED % (("(?i:'s|'t|'re|'ve|'m|'ll|'d)?",) * 2) + r"\p{N}{1,3}" + SPACES),
    ("tekken", True, CASED % ("", "") + r"\p{N}" + SPACES),
])
def test_words_are_cut_alike_in_the_folder_and_in_what_it_becomes(adit, oracle, tmp_path, name, whole_words, pattern):
    folder, out = tmp_path / "model", tmp_path / "out.gguf"
    shutil.copytree(oracle / "models/llama", folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    tokenizer["model"]["ignore_merges"] = whole_words
    (split,) = [step for step in tokenizer["pre_tokenizer"]["pretokenizers"] if step["type"] == "Split"]
    split["pattern"] = {"Regex": pattern}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    adit.ok("convert", folder, out)
    assert shown(adit, out)["metadata"]["tokenizer.ggml.pre"] == name
    text = "CamelCase HTTPServer isn't it, we'LL see 12345 a/b//\n\n  x Ünï"
    assert adit.ok("tokenize", folder, text) == adit.ok("tokenize", out, text)
    # The same words under the other rule have no name.
    tokenizer["model"]["ignore_merges"] = not whole_words
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    assert "none that GGUF files have a name for" in adit.fails(5, "convert", folder, out)


def test_a_folder_of_an_encoder_becomes_the_file_that_another_converter_writes(adit, oracle, tmp_path):
    folder = oracle / "models/bert"
    out = tmp_path / "out.gguf"
    adit.ok("convert", folder, out)
    ours, theirs = shown(adit, out), shown(adit, folder / "model-f32.gguf")
    by_name = lambda model: {tensor["name"]: tensor for tensor in model["tensors"]}
    assert by_name(ours) == by_name(theirs)
    for key, value in theirs["metadata"].items():
        if key not in ("general.name", "general.size_label", "tokenizer.ggml.add_sep_token"):
            assert ours["metadata"][key] == value, key
    texts = ("Hello, world!", "Ünïcode words, 你好 and unaffordable things")
    embeddings = [adit.ok("embed", model, *texts, "--isa", "ref") for model in (folder, out, folder / "model-f32.gguf")]
    assert embeddings[0] == embeddings[1] == embeddings[2]


@pytest.mark.parametrize("change, message", [
    ({"normalizer": {"type": "BertNormalizer", "clean_text": False, "handle_chinese_chars": True, "lowercase": True}},
     "BertNormalizer with clean_text"),
    ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer is no BertPreTokenizer"),
])
def test_an_encoder_that_gguf_has_no_keys_for_runs_and_is_not_converted(adit, oracle, tmp_path, change, message):
    folder = tmp_path / "model"
    shutil.copytree(oracle / "models/bert", folder)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer | change))
    assert adit.ok("embed", folder, "hello")
    assert message in adit.fails(5, "convert", folder, tmp_path / "out.gguf")


@pytest.mark.parametrize("kind", ["q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q4_k", "q6_k", "iq4_nl", "mxfp4"])
def test_quantises_while_loading_and_ahead(adit, oracle, tmp_path, kind):
    folder = oracle / "models/llama_q"
    adit.ok("convert", folder, tmp_path / "out.gguf", "--type", kind)
    types = {tensor["name"]: tensor["type"] for tensor in shown(adit, tmp_path / "out.gguf")["tensors"]}
    # Its rows are no multiple of 256.
    assert types["blk.0.attn_q.weight"] == {"q4_k": "Q5_0", "q6_k": "Q8_0"}.get(kind, kind.upper())
    assert types["output.weight"] == types["token_embd.weight"] == "Q8_0"
    assert types["blk.0.attn_norm.weight"] == "F32"
    quantised = logits(adit, folder, tmp_path / "a", "--quantization", kind)
    assert quantised != logits(adit, folder, tmp_path / "b")
    # The same floats in another file are rounded to the same codes.
    adit.ok("convert", folder, tmp_path / "f32.gguf", "--type", "f32")
    assert logits(adit, tmp_path / "f32.gguf", tmp_path / "c", "--quantization", kind) == quantised
    # The embedding is quantised too when it is done ahead.
    assert logits(adit, tmp_path / "out.gguf", tmp_path / "d")[:2] == quantised[:2]


def test_dtype_of_a_bf16_model_is_exact_in_f32(adit, oracle, tmp_path):
    folder = oracle / "models/qwen2"
    assert logits(adit, folder, tmp_path / "a", "--dtype", "f32") == logits(adit, folder, tmp_path / "b")


def test_flags_are_checked(adit, oracle):
    folder = oracle / "models/llama"
    assert "known are auto, f32, f16, bf16" in adit.fails(2, "run", folder, "--dtype", "q4_0", "hi")
    assert "known are q4_0" in adit.fails(2, "run", folder, "--quantization", "q4_m", "hi")
    adit.fails(2, "run", folder, "--quantization", "q8_0", "--dtype", "f16", "hi")
    assert "no type 'q4_m' to write" in adit.fails(2, "convert", folder, "/dev/null", "--type", "q4_m")


@pytest.mark.parametrize("name", ["llama", "llama_spm", "qwen2", "gemma3_text"])
def test_run_show_and_tokenize_take_a_folder(adit, oracle, name):
    folder = oracle / "models" / name
    text = adit.ok("show", folder).decode()
    assert "Hugging Face folder, 1 safetensors file" in text and "\nruns here       yes" in text
    assert adit.ok("run", folder, "hello", "--max-tokens", "8", "--raw", "--seed", "1")
    ids = adit.ok("tokenize", folder, "Hello, world!").decode()
    assert adit.ok("detokenize", folder, *ids.split()).decode().strip() == "Hello, world!"
    assert adit.ok("show", folder, "--template").decode() == json.loads(
        (folder / "tokenizer_config.json").read_text())["chat_template"]


def test_recommended_sampling_is_the_default(adit, oracle, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(oracle / "models/llama", folder)
    # The folder says do_sample: false, so that any seed gives the same.
    greedy = {adit.ok("run", folder, "a", "--raw", "--max-tokens", "8", "--seed", str(seed)) for seed in range(3)}
    assert len(greedy) == 1
    sampled = {adit.ok("run", folder, "a", "--raw", "--max-tokens", "8", "--temp", "2", "--top-k", "0", "--seed",
                       str(seed)) for seed in range(3)}
    assert len(sampled) > 1


def test_sharded_folders(adit, oracle, tmp_path):
    source = oracle / "models/llama"
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"):
        shutil.copy(source / name, folder)
    tensors = read_safetensors(source / "model.safetensors")
    shards = {"a.safetensors": sorted(tensors)[::2], "b.safetensors": sorted(tensors)[1::2]}
    for file, names in shards.items():
        write_safetensors(folder / file, {name: tensors[name] for name in names})
    index = {"metadata": {}, "weight_map": {name: file for file, names in shards.items() for name in names}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert logits(adit, folder, tmp_path / "a") == logits(adit, source, tmp_path / "b")


def test_what_is_wrong_with_a_folder_is_said(adit, oracle, tmp_path):
    assert "folder without a config.json" in adit.fails(2, "run", tmp_path, "hi")
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    assert "no model.safetensors" in adit.fails(3, "run", tmp_path, "hi")
    assert "model_type 'mamba2' is not supported" in adit.fails(5, "run", oracle / "models/mamba2", "hi")
