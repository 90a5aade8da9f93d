#!/usr/bin/env python3
"""Reads the folders that adit quantize writes for other engines with those engines' own readers, on the CPU, and compares.

    tools/check_folders.py MODEL [--adit build/release/adit] [--only W4A16 W4A16,awq ...] [--text FILE] [--tokens 200]

MODEL is a .gguf file or a Hugging Face folder, of a family that transformers has; half a billion parameters take ten minutes
and 8 GB of memory. First the model is written as a folder in BF16 and read back, which shows what both engines' arithmetic
differs by. Then each type is written, its weights are unpacked by its reader, and both engines run the same tokens. A line
tells the mean KL divergence, nats a token, of the reader's predictions from adit's on the same folder, and of adit's from
the full model's: what the type costs. The first has to be far below the second. Weights alone are compared: what rounds
activations in W8A8 and FP8 is left out on both sides, but for the static scales, which have to be what the reader measures.
Exits 1 if a folder cannot be read or says something else.

Needs (pip): torch transformers compressed-tensors accelerate safetensors; for GPTQ and AWQ also gptqmodel optimum pandas.
Written for transformers 5.24, compressed-tensors 0.20 and gptqmodel 7.7. What is missing or cannot be read is skipped by
name: transformers unpacks FP8_BLOCK and FP8_E5M2 only where all matrices are whole numbers of blocks of 128.
"""
import argparse
import contextlib
import dataclasses
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch
import transformers
from safetensors import safe_open
from safetensors.torch import load_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
CALIBRATION_CTX, CALIBRATION_WINDOWS = 64, 3
GROUPS = ["--group-size", "GROUP"]  # the largest that fits the model
ROWS = ["--group-size", "0"]
CALIBRATED = ["--calib", "TEXT", "--calib-ctx", str(CALIBRATION_CTX), "--calib-windows", str(CALIBRATION_WINDOWS)]
STATIC = ["--activations", "static", *CALIBRATED]
GPTQ, AWQ, ZEROS = ["--format", "gptq"], ["--format", "awq"], ["--asymmetric"]
# What is written, as the lines name it: type and options.
CASES = {
    "W4A16": ["W4A16", *GROUPS],
    "W4A16,zeros": ["W4A16", *GROUPS, *ZEROS],
    "W4A16,rows": ["W4A16", *ROWS],
    "W4A16,rows,zeros": ["W4A16", *ROWS, *ZEROS],
    "W8A16": ["W8A16", *GROUPS],
    "W8A8": ["W8A8"],
    "W8A8,static": ["W8A8", *STATIC],
    "FP8": ["FP8"],
    "FP8,static": ["FP8", *STATIC],
    "FP8,by gptq": ["FP8", "--method", "gptq", *CALIBRATED],
    "FP8_TENSOR": ["FP8_TENSOR"],
    "FP8_TENSOR,static": ["FP8_TENSOR", *STATIC],
    "FP8_BLOCK": ["FP8_BLOCK"],
    "FP8_BLOCK,by gptq": ["FP8_BLOCK", "--method", "gptq", *CALIBRATED],
    "FP8_E5M2": ["FP8_E5M2"],
    **{f"{kind},gptq": [kind, *GPTQ, *GROUPS] for kind in ("W2A16", "W3A16", "W4A16", "W8A16")},
    **{f"{kind},gptq,zeros": [kind, *GPTQ, *GROUPS, *ZEROS] for kind in ("W2A16", "W3A16", "W4A16")},
    "W4A16,gptq,rows": ["W4A16", *GPTQ, *ROWS],
    "W4A16,awq": ["W4A16", *AWQ, *GROUPS],
    "W4A16,awq,by awq": ["W4A16", *AWQ, *GROUPS, "--method", "awq", *CALIBRATED],
}
READERS = {"compressed-tensors": ["compressed_tensors"], "fp8": ["accelerate"], "gptq": ["gptqmodel", "optimum"],
           "awq": ["gptqmodel", "optimum"]}
# What a reader's predictions may differ by: a share of what the type costs, since errors of many bits magnify what floats
# round, and the noise of float arithmetic beside it.
MOST_OF_COST, MOST_BESIDE = 1e-3, 5e-6
SCALE_TOLERANCE = 0.1  # static scales come from adit's arithmetic, which rounds activations to 8 bits


def run(adit, *words):
    told = subprocess.run([adit, *map(str, words)], capture_output=True, text=True)
    if told.returncode != 0:
        raise RuntimeError(told.stderr.strip().splitlines()[-1] if told.stderr.strip() else "adit failed")
    return told.stdout


def divergence(reference, other):
    """Mean KL divergence over positions, nats a token."""
    p, q = (torch.log_softmax(logits.double(), -1) for logits in (reference, other))
    return (p.exp() * (p - q)).sum(-1).mean().item()


def matrix_shapes(folder):
    """[rows, cols] of what is quantised: the matrices of layers."""
    shapes = []
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            found = (file.get_slice(name).get_shape() for name in file.keys() if ".layers." in name)
            shapes += [shape for shape in found if len(shape) == 2]
    return shapes


def logits_of_adit(adit, folder, ids):
    """With floats as they are and two terms for activations, so that what differs is the weights."""
    tokens, out = folder.parent / "tokens.txt", folder.parent / "logits.safetensors"
    tokens.write_text(",".join(map(str, ids)))
    run(adit, "logits", folder, "--tokens-file", tokens, "--all", "--dtype", "f32", "--kv-type", "f32", "--activation-terms",
        "two", "-o", out)
    return load_file(out)["logits"]


def open_with_reader(folder, method=None):
    """The model with weights unpacked into floats, or with modules that unpack them as they multiply."""
    options = {}
    if method == "compressed-tensors":
        options["quantization_config"] = transformers.CompressedTensorsConfig(dequantize=True)
    elif method == "gptq":
        bits = json.loads((folder / "config.json").read_text())["quantization_config"]["bits"]
        options["quantization_config"] = transformers.GPTQConfig(bits=bits, backend="torch")
    elif method == "awq":
        options["quantization_config"] = transformers.AwqConfig(backend="torch_awq")
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, **options).eval()


@torch.no_grad()
def logits_of(model, ids):
    return model(torch.tensor([ids])).logits[0].float()


@torch.no_grad()
def largest_inputs(model, ids):
    """The largest magnitude that comes into each linear module over the windows of the calibration."""
    largest = {}

    def note(name):
        def hook(_, inputs):
            largest[name] = max(largest.get(name, 0.0), inputs[0].abs().max().item())
        return hook

    hooks = [module.register_forward_pre_hook(note(name)) for name, module in model.named_modules()
             if isinstance(module, torch.nn.Linear)]
    for window in range(CALIBRATION_WINDOWS):
        model(torch.tensor([ids[window * CALIBRATION_CTX:(window + 1) * CALIBRATION_CTX]]))
    for hook in hooks:
        hook.remove()
    return largest


def static_scales_fit(folder, largest):
    """Whether each input_scale gives the largest code to the largest input."""
    count, fit = 0, True
    for path in folder.glob("*.safetensors"):
        with safe_open(path, framework="pt") as file:
            for name in (name for name in file.keys() if name.endswith(".input_scale")):
                module, count = name.removesuffix(".input_scale"), count + 1
                kind = file.get_slice(f"{module}.weight").get_dtype()
                ratio = file.get_tensor(name).item() * (127 if kind == "I8" else 448) / largest[module]
                fit = fit and abs(ratio - 1) <= SCALE_TOLERANCE
    return count > 0 and fit


@dataclasses.dataclass
class Full:
    """The model in BF16, and what both engines make of it."""
    folder: pathlib.Path
    ids: list
    logits: torch.Tensor  # adit's
    largest_inputs: dict
    shapes: list

    def group_size(self):
        fitting = (size for size in (128, 64, 32) if all(cols % size == 0 for _, cols in self.shapes))
        return next(fitting, 0)

    def in_blocks(self):
        return all(rows % 128 == 0 and cols % 128 == 0 for rows, cols in self.shapes)


def check_full(arguments, folder, text):
    run(arguments.adit, "convert", arguments.model, f"{folder}/", "--type", "bf16")
    ids = json.loads(run(arguments.adit, "tokenize", folder, "--file", text, "--json"))["ids"]
    needed = CALIBRATION_CTX * CALIBRATION_WINDOWS
    if len(ids) < max(needed, arguments.tokens):
        raise RuntimeError(f"{text} has {len(ids)} tokens; wanted {max(needed, arguments.tokens)}")
    model = open_with_reader(folder)
    logits = logits_of_adit(arguments.adit, folder, ids[:arguments.tokens])
    apart = divergence(logits, logits_of(model, ids[:arguments.tokens]))
    return Full(folder, ids[:arguments.tokens], logits, largest_inputs(model, ids), matrix_shapes(folder)), apart


def skip_reason(method, full):
    missing = [name for name in READERS[method] if importlib.util.find_spec(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    if method == "fp8" and not full.in_blocks():
        return "transformers reads blocks of 128 only where all matrices are whole numbers of them"
    return None


def check_case(adit, words, full, text):
    """What its line says, and whether it may."""
    folder = full.folder.parent / "written"
    shutil.rmtree(folder, ignore_errors=True)
    values = {"GROUP": str(full.group_size()), "TEXT": text}
    run(adit, "quantize", full.folder, f"{folder}/", *(values.get(word, word) for word in words))
    method = json.loads((folder / "config.json").read_text())["quantization_config"]["quant_method"]
    if reason := skip_reason(method, full):
        return f"{method:18} skipped: {reason}", True
    ours = logits_of_adit(adit, folder, full.ids)
    apart, cost = divergence(ours, logits_of(open_with_reader(folder, method), full.ids)), divergence(full.logits, ours)
    passes = apart <= MOST_OF_COST * cost + MOST_BESIDE
    told = f"{method:18} reader from adit {apart:.7f}, quantised from full {cost:.5f}"
    if "static" in words:
        fit = static_scales_fit(folder, full.largest_inputs)
        told, passes = f"{told}, input scales {'fit' if fit else 'DO NOT FIT'}", passes and fit
    return f"{told}  {'ok' if passes else 'FAIL'}", passes


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--adit", default=str(ROOT / "build/release/adit"))
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=list(CASES), default=list(CASES))
    parser.add_argument("--text", default=str(ROOT / "docs/quantize.md"), help="judged and calibrated by [docs/quantize.md]")
    parser.add_argument("--tokens", type=int, default=200, help="of it, that are compared [200]")
    arguments = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    out, all_pass = sys.stdout, True
    # Readers write to stdout as they load.
    with tempfile.TemporaryDirectory() as name, contextlib.redirect_stdout(sys.stderr):
        full, apart = check_full(arguments, pathlib.Path(name) / "full", arguments.text)
        all_pass = apart <= MOST_BESIDE
        print(f"{'BF16':18} {'none':18} reader from adit {apart:.7f}  {'ok' if all_pass else 'FAIL'}", file=out, flush=True)
        for case in arguments.only:
            try:
                told, passes = check_case(arguments.adit, CASES[case], full, arguments.text)
            except Exception as error:  # whatever a reader throws at a folder that it cannot read
                told, passes = f"FAIL: {' '.join(str(error).split())[:200]}", False
            all_pass = all_pass and passes
            print(f"{case:18} {told}", file=out, flush=True)
    return 0 if all_pass else 1


if __name__ == "__main__":
    sys.exit(main())
