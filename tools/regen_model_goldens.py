#!/usr/bin/env python3
"""Make the small models of tests/goldens/models and their logits, by llama.cpp.

    python3 tools/regen_model_goldens.py        needs numpy, gguf, safetensors, llama-cpp-python

For each family one GGUF file of random F16 weights (seeded by tensor name) and a safetensors file with `ids` [n], the logits
of every position [n, vocab] and 16 greedy tokens, computed with an F32 cache, one thread, no flash attention, from a copy
with the same values as F32 (llama.cpp rounds activations to the type of the weights). llama.cpp evaluates GELU
through a table of halves, so gemma3 is good to 2e-2 and the others to 1e-4.
"""
import pathlib
import tempfile
import zlib

import gguf
import llama_cpp
import numpy
from safetensors.numpy import save_file

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "goldens" / "models"
VOCAB, HIDDEN, FFN, HEADS, KV_HEADS, CONTEXT = 259, 32, 64, 4, 2, 128
FAMILIES = {
    # name: (layers, head_dim, scalar metadata beyond the common, extra per-layer vectors {name: size})
    "llama": (2, 8, {"rope.dimension_count": 8}, {}),
    "qwen2": (2, 8, {}, {"attn_q.bias": HEADS * 8, "attn_k.bias": KV_HEADS * 8, "attn_v.bias": KV_HEADS * 8}),
    "qwen3": (2, 16, {"attention.key_length": 16, "attention.value_length": 16},
              {"attn_q_norm.weight": 16, "attn_k_norm.weight": 16}),
    "smollm3": (4, 8, {"rope.dimension_count": 8}, {}),
    "gemma3": (7, 16, {"attention.key_length": 16, "attention.value_length": 16, "attention.sliding_window": 8},
               {"attn_q_norm.weight": 16, "attn_k_norm.weight": 16, "post_attention_norm.weight": HIDDEN,
                "post_ffw_norm.weight": HIDDEN}),
}


def byte_alphabet():
    """The printable character that byte-level BPE writes for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    names, extra = {}, 0
    for byte in range(256):
        if byte in printable:
            names[byte] = chr(byte)
        else:
            names[byte] = chr(256 + extra)
            extra += 1
    return [names[byte] for byte in range(256)]


def values(name, shape, scale):
    rng = numpy.random.RandomState(zlib.crc32(name.encode()) & 0x7FFFFFFF)
    return (rng.standard_normal(shape) * scale).astype(numpy.float32)


def write_model(path, family, matrix_type):
    layers, head_dim, extra_keys, extra_vectors = FAMILIES[family]
    writer = gguf.GGUFWriter(str(path), family)
    writer.add_block_count(layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCAB)
    for key, value in extra_keys.items():
        writer.add_uint32(f"{family}.{key}", value)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(byte_alphabet() + ["<s>", "</s>", "ab"])
    writer.add_token_types([1] * 256 + [3, 3, 1])
    writer.add_array("tokenizer.ggml.merges", ["a b"])
    writer.add_bos_token_id(256)
    writer.add_eos_token_id(257)

    def matrix(name, rows, cols, scale):
        writer.add_tensor(name, values(family + name, (rows, cols), scale).astype(numpy.float16).astype(matrix_type))

    def vector(name, size, mean, scale):
        writer.add_tensor(name, values(family + name, (size,), scale) + numpy.float32(mean))

    matrix("token_embd.weight", VOCAB, HIDDEN, 1.0)
    vector("output_norm.weight", HIDDEN, 1.0, 0.1)
    if family == "llama":
        matrix("output.weight", VOCAB, HIDDEN, 0.5)
    for i in range(layers):
        block = f"blk.{i}."
        vector(block + "attn_norm.weight", HIDDEN, 1.0, 0.1)
        vector(block + "ffn_norm.weight", HIDDEN, 1.0, 0.1)
        matrix(block + "attn_q.weight", HEADS * head_dim, HIDDEN, 0.3)
        matrix(block + "attn_k.weight", KV_HEADS * head_dim, HIDDEN, 0.3)
        matrix(block + "attn_v.weight", KV_HEADS * head_dim, HIDDEN, 0.3)
        matrix(block + "attn_output.weight", HIDDEN, HEADS * head_dim, 0.3)
        matrix(block + "ffn_gate.weight", FFN, HIDDEN, 0.3)
        matrix(block + "ffn_up.weight", FFN, HIDDEN, 0.3)
        matrix(block + "ffn_down.weight", HIDDEN, FFN, 0.2)
        for name, size in extra_vectors.items():
            vector(block + name, size, 0.0 if name.endswith("bias") else 1.0, 0.1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for family in FAMILIES:
        path = FOLDER / f"{family}.gguf"
        write_model(path, family, numpy.float16)
        wide = pathlib.Path(tempfile.mkdtemp()) / "wide.gguf"
        write_model(wide, family, numpy.float32)
        ids = numpy.random.RandomState(len(family)).randint(0, 256, 40).astype(numpy.int32)
        model = llama_cpp.Llama(str(wide), n_ctx=CONTEXT, n_threads=1, logits_all=True, flash_attn=False, verbose=False,
                                type_k=llama_cpp.GGML_TYPE_F32, type_v=llama_cpp.GGML_TYPE_F32)
        model.eval(ids.tolist())
        logits = numpy.array(model.scores[: len(ids)], dtype=numpy.float32)
        greedy, last = [], logits[-1]
        for _ in range(16):
            greedy.append(int(last.argmax()))
            model.eval([greedy[-1]])
            last = numpy.array(model.scores[model.n_tokens - 1], dtype=numpy.float32)
        save_file({"ids": ids, "logits": logits, "greedy": numpy.array(greedy, dtype=numpy.int32)},
                  str(FOLDER / f"{family}.safetensors"))
        print(family, path.stat().st_size, "bytes, std of logits", float(logits.std()))


main()
