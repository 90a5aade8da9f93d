#!/usr/bin/env python3
"""Writes tests/goldens/ggml_quants/encode.safetensors: rows of floats and what the `gguf` package quantises them to.

Usage: tools/make_encode_golden.py OUT. Needs numpy, safetensors and gguf 0.19.0.
"""
import sys

import gguf
import numpy as np
from safetensors.numpy import save_file

TYPES = ["F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "TQ1_0", "TQ2_0", "MXFP4"]


def rows() -> np.ndarray:
    rng = np.random.RandomState(1)
    blocks = [rng.standard_normal((40, 32)) * np.exp(rng.uniform(-8, 8, (40, 1)))]
    special = np.zeros((8, 32))
    special[1, 5] = -3.0  # one value alone
    special[2] = 0.25  # all alike
    special[3] = np.arange(32) - 16  # both ends of a range
    special[4] = 16 - np.arange(32)
    special[5] = (np.arange(32) - 16) / 2 + 0.25  # halves between codes
    special[6, ::2] = 7.0  # the peak more than once, with both signs
    special[6, 1::2] = -7.0
    special[7] = rng.standard_normal(32)
    special[7, 9] = 900.0  # an outlier
    return np.concatenate(blocks + [special]).astype(np.float32)


def main() -> None:
    source = rows()
    tensors = {"source": source}
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        row = max(gguf.GGML_QUANT_SIZES[kind][0], source.shape[1])
        encoded = gguf.quants.quantize(source.reshape(-1, row), kind)
        tensors[f"{name}.bytes"] = np.ascontiguousarray(encoded).view(np.uint8)
    save_file(tensors, sys.argv[1])


if __name__ == "__main__":
    main()
