#!/usr/bin/env python3
"""Write a GGUF model of random weights, of any family that adit runs: to see that a shape loads, how much memory it takes
and how fast it runs, where no real model is at hand.

    tools/random_model.py FAMILY OUT.gguf [--size tiny|1b|8b] [--type f32|q8_0|iq2_xxs|...] [--layers N]     needs numpy, gguf

The text that comes out is noise. Weights repeat a bank of random numbers, scaled so that activations stay near 1.
"""
import argparse
import dataclasses

import gguf
import numpy

# Where the blocks of a type have their half-precision factors. The package quantises none of these: their codes and scales
# are random bits.
FACTORS = {"q2_k": [80, 82], "q3_k": [108], "q4_k": [0, 2], "q5_k": [0, 2], "q6_k": [208], "iq4_nl": [0], "iq4_xs": [0],
           "iq1_s": [0], "iq1_m": [], "iq2_xxs": [0], "iq2_xs": [0], "iq2_s": [0], "iq3_xxs": [0], "iq3_s": [0], "nvfp4": []}
QUANTISED = ["f32", "f16", "bf16", "q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "tq1_0", "tq2_0", "mxfp4"]
TYPES = {name: gguf.GGMLQuantizationType[name.upper()] for name in [*QUANTISED, *FACTORS]}


def put_factor(name, blocks, factor):
    """Gives all blocks of a type the same factor."""
    half = int(numpy.float16(factor).view(numpy.uint16))
    for offset in FACTORS[name]:
        blocks[:, offset:offset + 2] = [half & 255, half >> 8]
    if name == "iq1_m":  # four bits in the upper half of each of its words
        for i in range(4):
            blocks[:, 49 + 2 * i] = blocks[:, 49 + 2 * i] & 15 | (half >> 4 * i & 15) << 4
    if name == "nvfp4":  # floats of eight bits: the nearest power of two
        blocks[:, :4] = max(1, round(numpy.log2(2 * factor)) + 7) << 3


def random_rows(name, random, rows, cols, deviation):
    """Rows of a type that the package does not quantise."""
    kind = TYPES[name]
    block_elements, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = random.randint(0, 256, (rows * cols // block_elements, block_bytes)).astype(numpy.uint8)
    put_factor(name, blocks, 0.25)
    put_factor(name, blocks, 0.25 * deviation / gguf.quants.dequantize(blocks[:64].reshape(1, -1), kind).std())
    return blocks.reshape(rows, -1)


@dataclasses.dataclass
class Shape:
    layers: int
    hidden: int
    ffn: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    context: int = 4096


@dataclasses.dataclass
class Family:
    big: Shape
    layer_norm: bool = False        # else RMS
    biases: str = ""                # of q, k, v ("qkv"), the attention's output ("out"), the feed-forward ("ffn"), norms ("norm")
    norms: str = "before"           # or "sandwich", "after", "residual"
    feed_forward: str = "gated"     # or "joint" gate and up, or "plain"
    joint_qkv: bool = False
    one_norm: bool = False          # the feed-forward reads what attention reads
    qk_norm: str = ""               # "head", "each" or "row"
    positions: bool = False         # learned
    encoder: bool = False
    rotary: float = 1.0             # share of a head that turns
    tied: bool = True
    keys: dict = dataclasses.field(default_factory=dict)


ALL = "qkv out ffn norm"
FAMILIES = {
    "bert": Family(Shape(24, 1024, 4096, 16, 16, 64, 30522, 512), layer_norm=True, biases=ALL, norms="residual",
                   feed_forward="plain", positions=True, encoder=True,
                   keys={"attention.causal": False, "pooling_type": 1}),
    "command-r": Family(Shape(16, 2048, 8192, 16, 8, 128, 64000), layer_norm=True, one_norm=True, keys={"logit_scale": 0.0625}),
    "gemma": Family(Shape(18, 2048, 16384, 8, 1, 256, 256000)),
    "gemma2": Family(Shape(26, 2304, 9216, 8, 4, 256, 256000), norms="sandwich",
                     keys={"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0,
                           "attention.sliding_window": 4096}),
    "gemma3": Family(Shape(26, 1152, 6912, 4, 1, 256, 262144), norms="sandwich", qk_norm="head",
                     keys={"attention.sliding_window": 512}),
    "glm4": Family(Shape(16, 2048, 6144, 16, 2, 128, 151552), biases="qkv", norms="sandwich", feed_forward="joint",
                   rotary=0.5, tied=False),
    "gpt2": Family(Shape(36, 1280, 5120, 20, 20, 64, 50257, 1024), layer_norm=True, biases=ALL, feed_forward="plain",
                   joint_qkv=True, positions=True),
    "gptneox": Family(Shape(16, 2048, 8192, 8, 8, 256, 50304, 2048), layer_norm=True, biases=ALL, feed_forward="plain",
                      joint_qkv=True, rotary=0.25, tied=False, keys={"use_parallel_residual": True}),
    "granite": Family(Shape(24, 2048, 8192, 32, 8, 64, 49155),
                      keys={"attention.scale": 0.015625, "embedding_scale": 12.0, "residual_scale": 0.22,
                            "logit_scale": 8.0}),
    "llama": Family(Shape(16, 2048, 8192, 32, 8, 64, 128256)),
    "olmo2": Family(Shape(16, 2048, 8192, 16, 16, 128, 100352), norms="after", qk_norm="row", tied=False),
    "phi3": Family(Shape(16, 2048, 8192, 16, 16, 128, 32064), feed_forward="joint", joint_qkv=True, tied=False,
                   keys={"attention.sliding_window": 2047}),
    "qwen2": Family(Shape(28, 1536, 8960, 12, 2, 128, 151936), biases="qkv"),
    "qwen3": Family(Shape(28, 2048, 6144, 16, 8, 128, 151936), qk_norm="head"),
    "smollm3": Family(Shape(20, 2048, 8192, 16, 4, 128, 128256)),
    "stablelm": Family(Shape(24, 2048, 5632, 32, 32, 64, 100352), layer_norm=True, biases="qkv norm", rotary=0.25,
                       tied=False, keys={"use_parallel_residual": False}),
    "starcoder2": Family(Shape(20, 2048, 8192, 16, 2, 128, 49152), layer_norm=True, biases=ALL, feed_forward="plain"),
}


def tiny(shape, block_elements):
    """The same proportions at a size that takes no time, rows being whole blocks."""
    kv_heads = max(1, 4 * shape.kv_heads // shape.heads)
    hidden = max(64, block_elements)
    return Shape(layers=4, hidden=hidden, ffn=hidden + max(32, block_elements), heads=4, kv_heads=kv_heads,
                 head_dim=hidden // 4, vocab=288, context=128)


def byte_alphabet():
    """The printable character that byte-level BPE writes for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


class Writer:
    def __init__(self, path, name, family, shape, matrix_type, seed):
        self.name, self.family, self.shape, self.type_name = name, family, shape, matrix_type
        self.matrix_type = TYPES[matrix_type]
        self.out = gguf.GGUFWriter(str(path), name)
        self.random = numpy.random.RandomState(seed)
        self.bank = self.random.standard_normal(1 << 20).astype(numpy.float32)

    def numbers(self, count):
        start = self.random.randint(len(self.bank))
        return numpy.resize(numpy.roll(self.bank, start), count)

    def vector(self, name, size, mean=0.0):
        self.out.add_tensor(name, numpy.float32(mean) + numpy.float32(0.1) * self.numbers(size))

    def matrix(self, name, rows, cols, scale=None):
        """Some rows are quantised and then repeated: quantising all would take minutes."""
        own_rows = max(1, min(rows, len(self.bank) // cols))
        deviation = numpy.float32(scale or cols ** -0.5)
        if self.type_name in FACTORS:
            packed = random_rows(self.type_name, self.random, own_rows, cols, deviation)
        else:
            values = self.numbers(own_rows * cols).reshape(own_rows, cols) * deviation
            packed = gguf.quants.quantize(values, self.matrix_type)
        repeated = numpy.resize(packed, (rows, packed.shape[1]))
        self.out.add_tensor(name, repeated, raw_dtype=self.matrix_type)

    def linear(self, name, rows, cols, bias):
        self.matrix(name + ".weight", rows, cols)
        if bias:
            self.vector(name + ".bias", rows)

    def norm(self, name, size=None):
        self.vector(name + ".weight", size or self.shape.hidden, mean=1.0)
        if "norm" in self.family.biases:
            self.vector(name + ".bias", size or self.shape.hidden)

    def metadata(self):
        out, shape, family = self.out, self.shape, self.family
        out.add_block_count(shape.layers)
        out.add_context_length(shape.context)
        out.add_embedding_length(shape.hidden)
        out.add_feed_forward_length(shape.ffn)
        out.add_head_count(shape.heads)
        out.add_head_count_kv(shape.kv_heads)
        out.add_key_length(shape.head_dim)
        out.add_value_length(shape.head_dim)
        out.add_rope_dimension_count(int(shape.head_dim * family.rotary))
        (out.add_layer_norm_eps if family.layer_norm else out.add_layer_norm_rms_eps)(1e-5)
        adders = {bool: out.add_bool, int: out.add_uint32, float: out.add_float32}
        for key, value in family.keys.items():
            adders[type(value)](f"{self.name}.{key}", value)

    def tokenizer(self):
        if self.family.encoder:
            self.out.add_tokenizer_model("bert")
            letters = [chr(c) for c in range(33, 127) if not chr(c).isupper()]
            tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *("\u2581" + letter for letter in letters), *letters]
            self.out.add_token_list(tokens)
            self.out.add_token_types([3, 2, 3, 3] + [1] * (len(tokens) - 4))
            self.out.add_token_type_count(2)
            ids = {"bos": 2, "eos": 3, "unk": 1, "sep": 3, "pad": 0}
            for kind, token in ids.items():
                getattr(self.out, f"add_{kind}_token_id")(token)
            return
        self.out.add_tokenizer_model("gpt2")
        self.out.add_tokenizer_pre("gpt-2")
        tokens = byte_alphabet() + ["<s>", "</s>", "ab"]
        # llama.cpp wants a token for each row of the embedding.
        unused = max(0, self.shape.vocab - len(tokens))
        self.out.add_token_list(tokens + [f"<unused{i}>" for i in range(unused)])
        self.out.add_token_types([1] * 256 + [3, 3, 1] + [5] * unused)
        self.out.add_array("tokenizer.ggml.merges", ["a b"])
        self.out.add_bos_token_id(256)
        self.out.add_eos_token_id(257)

    def attention(self, block):
        family, shape = self.family, self.shape
        q, kv = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        bias = "qkv" in family.biases
        if family.joint_qkv:
            self.linear(block + "attn_qkv", q + 2 * kv, shape.hidden, bias)
        else:
            for name, rows in (("attn_q", q), ("attn_k", kv), ("attn_v", kv)):
                self.linear(block + name, rows, shape.hidden, bias)
        self.linear(block + "attn_output", shape.hidden, q, "out" in family.biases)
        if family.qk_norm == "head":
            self.vector(block + "attn_q_norm.weight", shape.head_dim, mean=1.0)
            self.vector(block + "attn_k_norm.weight", shape.head_dim, mean=1.0)
        elif family.qk_norm == "row":
            self.vector(block + "attn_q_norm.weight", q, mean=1.0)
            self.vector(block + "attn_k_norm.weight", kv, mean=1.0)

    def feed_forward(self, block):
        family, shape = self.family, self.shape
        bias = "ffn" in family.biases
        if family.feed_forward == "gated":
            self.linear(block + "ffn_gate", shape.ffn, shape.hidden, bias)
        up_rows = shape.ffn * (2 if family.feed_forward == "joint" else 1)
        self.linear(block + "ffn_up", up_rows, shape.hidden, bias)
        self.linear(block + "ffn_down", shape.hidden, shape.ffn, bias)

    def layer_norms(self, block):
        names = {"before": ["attn_norm", "ffn_norm"], "after": ["post_attention_norm", "post_ffw_norm"],
                 "sandwich": ["attn_norm", "ffn_norm", "post_attention_norm", "post_ffw_norm"],
                 "residual": ["attn_output_norm", "layer_output_norm"]}[self.family.norms]
        for name in names[:1] if self.family.one_norm else names:
            self.norm(block + name)

    def write(self):
        family, shape = self.family, self.shape
        self.metadata()
        self.tokenizer()
        self.matrix("token_embd.weight", shape.vocab, shape.hidden, scale=0.05)
        if family.positions:
            self.matrix("position_embd.weight", shape.context, shape.hidden, scale=0.05)
        if family.encoder:
            self.out.add_tensor("token_types.weight", self.numbers(2 * shape.hidden).reshape(2, -1))
            self.norm("token_embd_norm")
        else:
            self.norm("output_norm")
        if not family.tied:
            self.matrix("output.weight", shape.vocab, shape.hidden)
        for layer in range(shape.layers):
            block = f"blk.{layer}."
            self.layer_norms(block)
            self.attention(block)
            self.feed_forward(block)
        self.out.write_header_to_file()
        self.out.write_kv_data_to_file()
        self.out.write_tensors_to_file()
        self.out.close()


# That of Llama 3.1 8B.
EIGHT_BILLION = {"layers": 32, "hidden": 4096, "ffn": 14336, "heads": 32, "kv_heads": 8, "head_dim": 128, "vocab": 128256}


def write_model(path, name, size="tiny", matrix_type="q8_0", layers=None, seed=1):
    family = FAMILIES[name]
    if size == "tiny":
        shape = tiny(family.big, gguf.GGML_QUANT_SIZES[TYPES[matrix_type]][0])
    else:
        shape = family.big if size == "1b" else dataclasses.replace(family.big, **EIGHT_BILLION)
    if layers is not None:
        shape = dataclasses.replace(shape, layers=layers)
    Writer(path, name, family, shape, matrix_type, seed).write()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("family", choices=sorted(FAMILIES))
    parser.add_argument("out")
    parser.add_argument("--size", choices=["tiny", "1b", "8b"], default="tiny")
    parser.add_argument("--type", choices=sorted(TYPES), default="q8_0", help="of the matrices [q8_0]")
    parser.add_argument("--layers", type=int, help="instead of what the size has")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    write_model(arguments.out, arguments.family, arguments.size, arguments.type, arguments.layers, arguments.seed)


if __name__ == "__main__":
    main()
