#!/usr/bin/env python3
"""Writes tests/goldens/ggml_quants/blocks.safetensors: encoded blocks of each type and what they decode to.

TYPE.bytes, TYPE.dequant: the first row of 512 elements of ../shared/oracle/ggml_quants, quantised by libggml.
TYPE.random_bytes, TYPE.random_dequant: 256 elements of random bytes with finite scales, decoded by the Python package
gguf, so that every bit of a block takes part.

Needs the packages gguf and numpy.
"""
import json
import pathlib
import struct

import gguf
import numpy as np

TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS",
         "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4"]
# Where a block keeps its half-precision factors.
SCALE_OFFSETS = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82],
                 "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
                 "IQ1_S": [0], "IQ1_M": [], "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0],
                 "TQ1_0": [52], "TQ2_0": [64], "MXFP4": [], "NVFP4": []}
# Bytes that are powers of two, to which random bits would give numbers near the largest float.
POWERS = {"MXFP4": [0]}
NUM_RANDOM = 256
# Types that ../shared/oracle/ggml_quants does not have: random bytes alone.
NOT_IN_SOURCE = ["NVFP4"]

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCE = ROOT.parent / "shared/oracle/ggml_quants/blocks.safetensors"
TARGET = ROOT / "tests/goldens/ggml_quants/blocks.safetensors"


def read_safetensors(path):
    raw = path.read_bytes()
    (header_bytes,) = struct.unpack("<Q", raw[:8])
    data = raw[8 + header_bytes:]
    kinds = {"U8": np.uint8, "F32": np.float32}
    out = {}
    for name, info in json.loads(raw[8:8 + header_bytes]).items():
        if name == "__metadata__" or info["dtype"] not in kinds:
            continue
        begin, end = info["data_offsets"]
        out[name] = np.frombuffer(data[begin:end], kinds[info["dtype"]]).reshape(info["shape"])
    return out


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": {"uint8": "U8", "float32": "F32"}[array.dtype.name], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def random_row(name, rng):
    kind = gguf.GGMLQuantizationType[name]
    block_elements, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = rng.integers(0, 256, (NUM_RANDOM // block_elements, block_bytes), dtype=np.uint8)
    for offset in SCALE_OFFSETS[name]:
        scales = rng.normal(0, 0.1, len(blocks)).astype(np.float16)
        blocks[:, offset:offset + 2] = scales.view(np.uint8).reshape(-1, 2)
    for offset in POWERS.get(name, []):
        blocks[:, offset] = [0, 1, 2, 127, 254, 255, *rng.integers(0, 256, len(blocks) - 6)]
    if name == "NVFP4":
        blocks[0, :4] = [0, 0x7f, 0xff, 0x80]
    if name == "IQ1_M":
        blocks[:, 55] &= 0xbf  # the exponent of the factor that is spread over its scales: no infinity
    row = blocks.reshape(1, -1)
    return row, gguf.quants.dequantize(row, kind).astype(np.float32)


def main():
    source = read_safetensors(SOURCE)
    rng = np.random.default_rng(1)
    tensors = {}
    for name in TYPES:
        if name not in NOT_IN_SOURCE:
            tensors[f"{name}.bytes"] = source[f"{name}.bytes"][:1]
            tensors[f"{name}.dequant"] = source[f"{name}.dequant"][:1]
        tensors[f"{name}.random_bytes"], tensors[f"{name}.random_dequant"] = random_row(name, rng)
    write_safetensors(TARGET, tensors)


if __name__ == "__main__":
    main()
