#!/usr/bin/env python3
"""Writes src/tensor/data/iq_grid_words.h: the grids of the IQ types as the Python package gguf holds them.

Usage: tools/make_iq_grids.py > src/tensor/data/iq_grid_words.h. Needs numpy and gguf 0.19.0.
"""
import gguf.quants
import numpy as np

# Name, the class of the package, how many bits an element takes in a word.
GRIDS = [("kIQ2XXSWords", "IQ2_XXS", 2), ("kIQ2XSWords", "IQ2_XS", 2), ("kIQ2SWords", "IQ2_S", 2),
         ("kIQ3XXSWords", "IQ3_XXS", 4), ("kIQ3SWords", "IQ3_S", 4), ("kIQ1SWords", "IQ1_S", 2)]
PER_LINE = 14


def words(kind, bits):
    kind.init_grid()
    grid = kind.grid.reshape(kind.grid_shape).astype(np.int64)
    codes = np.searchsorted(np.array(kind.grid_map), grid)
    assert (np.array(kind.grid_map)[codes] == grid).all()
    return (codes << (bits * np.arange(grid.shape[1]))).sum(axis=1)


def main():
    print("#ifndef ADIT_TENSOR_DATA_IQ_GRID_WORDS_H_\n#define ADIT_TENSOR_DATA_IQ_GRID_WORDS_H_\n\n#include <cstdint>\n")
    print("// Written by tools/make_iq_grids.py. The grids of the IQ types, which ggml defined (iq2xxs_grid and so on): which")
    print("// combinations of eight values an index stands for, of four in IQ3. A word holds the number of each value in")
    print("// their list, of two bits in IQ1 and IQ2 and of four in IQ3, the first in the lowest bits. iq_grids.cc has the")
    print("// lists.")
    print("namespace adit {")
    for name, kind, bits in GRIDS:
        values = [f"0x{word:04x}," for word in words(getattr(gguf.quants, kind), bits)]
        print(f"\ninline constexpr uint16_t {name}[{len(values)}] = {{")
        for at in range(0, len(values), PER_LINE):
            print("    " + " ".join(values[at:at + PER_LINE]))
        print("};")
    print("\n}  // namespace adit\n\n#endif  // ADIT_TENSOR_DATA_IQ_GRID_WORDS_H_")


if __name__ == "__main__":
    main()
