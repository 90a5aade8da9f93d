#!/usr/bin/env python3
"""Compare kernel sets with each other, and adit with llama.cpp, on one text.

    tools/quality.py MODEL.gguf TEXT [--tokens 2000] [--isa avx2,ref] [--adit build/release/adit]
    tools/quality.py MODEL.gguf TEXT --kv-types q8_0 q4_0 q8_0,q4_0 f16

Runs the first tokens of TEXT as one sequence. Prints for each kernel set its perplexity; against the last set of the list the mean
Kullback-Leibler divergence and the share of positions with the same best token; and, where the llama_cpp package is
installed, llama.cpp's perplexity on the same tokens of the same file and the ratio. With --kv-types it compares types of
cached keys and values instead, on the kernels that adit chooses, against the last of the list. Needs numpy and safetensors.
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

import numpy
from safetensors import safe_open


def logits_of(args, ids, option, value, folder):
    out = folder / f"{value}.safetensors"
    tokens = folder / "tokens.txt"
    tokens.write_text(",".join(map(str, ids)))
    subprocess.run([args.adit, "logits", args.model, "--tokens-file", tokens, "--all", option, value, "-o", out],
                   check=True, stdout=subprocess.DEVNULL)
    with safe_open(out, framework="numpy") as file:
        return file.get_tensor("logits")


def log_softmax(row):
    row = row.astype(numpy.float64)
    row -= row.max()
    return row - numpy.log(numpy.exp(row).sum())


def perplexity(logits, ids):
    return float(numpy.exp(-numpy.mean([log_softmax(logits[i])[ids[i + 1]] for i in range(len(ids) - 1)])))


def compare(got, want):
    divergences, same = [], 0
    for row, reference in zip(got, want):
        p, q = log_softmax(reference), log_softmax(row)
        divergences.append(float((numpy.exp(p) * (p - q)).sum()))
        same += int(row.argmax() == reference.argmax())
    return numpy.mean(divergences), numpy.max(divergences), same / len(got)


def llama_cpp_perplexity(args, ids):
    try:
        import llama_cpp
    except ImportError:
        return None
    model = llama_cpp.Llama(args.model, n_ctx=len(ids) + 1, n_batch=512, logits_all=True, verbose=False)
    model.eval(ids)
    return perplexity(model.scores[: len(ids)], ids)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("text")
    parser.add_argument("--tokens", type=int, default=2000)
    parser.add_argument("--isa", default="avx2,ref")
    parser.add_argument("--kv-types", nargs="+", metavar="TYPE")
    parser.add_argument("--adit", default=str(pathlib.Path(__file__).resolve().parent.parent / "build/release/adit"))
    args = parser.parse_args()
    answer = subprocess.run([args.adit, "tokenize", args.model, "--file", args.text, "--add-special", "--json"], check=True,
                            capture_output=True)
    ids = json.loads(answer.stdout)["ids"][: args.tokens]
    print(f"{args.model}: {len(ids)} tokens of {args.text}")
    with tempfile.TemporaryDirectory() as name:
        option, values = ("--kv-type", args.kv_types) if args.kv_types else ("--isa", args.isa.split(","))
        logits = {value: logits_of(args, ids, option, value, pathlib.Path(name)) for value in values}
    reference = list(logits)[-1]
    ours = {value: perplexity(rows, ids) for value, rows in logits.items()}
    for value, rows in logits.items():
        line = f"  {value:9} perplexity {ours[value]:.4f}"
        if value != reference:
            mean, largest, same = compare(rows, logits[reference])
            line += f", against {reference}: mean KL {mean:.6f}, largest {largest:.4f}, same best token {same:.2%}"
        print(line)
    if args.kv_types:
        return
    peer = llama_cpp_perplexity(args, ids)
    if peer is None:
        print("  llama.cpp: the llama_cpp package is not installed")
    else:
        print(f"  llama.cpp perplexity {peer:.4f}; ratio of {next(iter(ours))}: {next(iter(ours.values())) / peer:.5f}")


if __name__ == "__main__":
    main()
