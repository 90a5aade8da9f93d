#!/usr/bin/env python3
"""Writes tests/goldens/ggml_quants/encode_search.safetensors: rows of floats, how much each column counts, and what ggml's
own search makes of them in the types that have one.

Usage: tools/make_encode_search_golden.py OUT. Needs numpy, safetensors, gguf 0.19.0 and llama-cpp-python, whose shared
library has the quantisers.
"""
import ctypes
import pathlib
import sys

import gguf
import llama_cpp
import numpy as np
from safetensors.numpy import save_file

TYPES = ["Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"]


def rows() -> np.ndarray:
    rng = np.random.RandomState(1)
    normal = rng.standard_normal((16, 256)) * np.exp(rng.uniform(-6, 2, (16, 1)))
    heavy = rng.standard_t(4, (16, 256)) * 0.02
    shifted = rng.standard_normal((4, 256)) * 0.1 + rng.uniform(-0.2, 0.2, (4, 1))
    outliers = rng.standard_normal((4, 256)) * 0.05
    outliers[:, ::37] *= 20
    return np.concatenate([normal, heavy, shifted, outliers]).astype(np.float32)


def main() -> None:
    ggml = ctypes.CDLL(str(pathlib.Path(llama_cpp.__file__).parent / "lib" / "libggml-base.so"))
    ggml.ggml_quantize_chunk.restype = ctypes.c_size_t
    ggml.ggml_quantize_chunk.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64,
                                         ctypes.c_int64, ctypes.c_void_p]
    source = rows()
    importance = (np.random.RandomState(2).standard_normal(256) ** 2 + 0.01).astype(np.float32)
    tensors = {"source": source, "importance": importance}
    for name in TYPES:
        kind = gguf.GGMLQuantizationType[name]
        for suffix, matrix in (("plain", None), ("weighted", importance)):
            out = np.zeros(gguf.quants.quant_shape_to_byte_shape(source.shape, kind), np.uint8)
            ggml.ggml_quantize_chunk(int(kind), source.ctypes.data, out.ctypes.data, 0, source.shape[0], source.shape[1],
                                     None if matrix is None else matrix.ctypes.data)
            tensors[f"{name}.{suffix}"] = out
    save_file(tensors, sys.argv[1])


if __name__ == "__main__":
    main()
