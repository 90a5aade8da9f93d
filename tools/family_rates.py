#!/usr/bin/env python3
"""Runs a random model of each family (tools/random_model.py) and prints a Markdown table of its size, memory and speed.

    tools/family_rates.py [FAMILY...] [--size cut|1b] [--type q4_0] [--adit build/release/adit] [--threads N]

"1b" are the shapes of real models of about a billion parameters; "cut" their layers alone, two of them, with a small
vocabulary: the same matrices in a second or two. Needs numpy and gguf.
"""
import argparse
import dataclasses
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import random_model  # noqa: E402

PROMPT_WORDS = 128
GENERATED = 32


@dataclasses.dataclass
class Rates:
    name: str
    file_mib: float
    peak_mib: float  # most memory that the process had
    other_mib: float  # cache and scratch, as adit tells them; 0 for an encoder
    prompt_rate: float  # tokens a second
    generated_rate: float


def write(path, name, size, matrix_type):
    if size == "1b":
        random_model.write_model(path, name, "1b", matrix_type)
        return
    family = random_model.FAMILIES[name]
    shape = dataclasses.replace(family.big, layers=2, vocab=2048)
    random_model.Writer(path, name, family, shape, matrix_type, seed=1).write()


def peak_mib_of(pid):
    """The most memory that a running process has had, or 0 where it is gone."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text())
    except OSError:
        found = None
    return int(found.group(1)) / 1024 if found else 0.0


def run(command):
    """stderr of a command that must succeed, and its peak memory in MiB, looked at until it ends: what the system tells
    of a process that has ended counts the program that started it too."""
    peak = 0.0
    with tempfile.TemporaryFile() as told:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=told)
        while process.poll() is None:
            peak = max(peak, peak_mib_of(process.pid))
            time.sleep(0.01)
        told.seek(0)
        text = told.read().decode()
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))}: {text}")
    return text, peak


def number(pattern, text):
    return float(re.search(pattern, text).group(1))


def mebibytes(label, text):
    amount, unit = re.search(label + r" ([0-9.]+) ([KMG]iB)", text).groups()
    return float(amount) * {"KiB": 2.0 ** -10, "MiB": 1.0, "GiB": 2.0 ** 10}[unit]


def measure(adit, path, name, threads=None):
    more = ["--threads", str(threads)] if threads else []
    file_mib = path.stat().st_size / 2 ** 20
    text = "ab " * PROMPT_WORDS
    if random_model.FAMILIES[name].encoder:
        start = time.monotonic()
        run([adit, "embed", path, "a", *more])
        loading = time.monotonic() - start
        _, peak_mib = run([adit, "embed", path, text, *more])
        seconds = max(time.monotonic() - start - 2 * loading, 1e-3)
        return Rates(name, file_mib, peak_mib, 0.0, 2 * PROMPT_WORDS / seconds, 0.0)
    told, _ = run([adit, "run", path, text, "--raw", "--temp", "0", "-n", str(GENERATED), "--ignore-eos", "--verbose",
                   "--ctx", "1024", *more])
    other = mebibytes("KV cache", told) + mebibytes("scratch", told)
    return Rates(name, file_mib, mebibytes("peak", told), other, number(r"prefill:.*?([0-9.]+) tok/s", told),
                 number(r"decode:.*?([0-9.]+) tok/s", told))


def rates(adit, names, size="cut", matrix_type="q4_0", threads=None):
    """One after the other: a 1b model takes a gigabyte of the disk."""
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / f"{name}.gguf"
            write(path, name, size, matrix_type)
            yield measure(adit, path, name, threads)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("families", nargs="*", metavar="FAMILY", default=sorted(random_model.FAMILIES))
    parser.add_argument("--size", choices=["cut", "1b"], default="cut")
    parser.add_argument("--type", choices=sorted(random_model.TYPES), default="q4_0", help="of the matrices [q4_0]")
    parser.add_argument("--adit", default="build/release/adit")
    parser.add_argument("--threads", type=int)
    arguments = parser.parse_args()
    print("| architecture | file, MiB | peak memory, MiB | prompt, tok/s | generated, tok/s |\n|---|---:|---:|---:|---:|")
    for row in rates(arguments.adit, arguments.families, arguments.size, arguments.type, arguments.threads):
        generated = f"{row.generated_rate:.1f}" if row.generated_rate else ""
        print(f"| `{row.name}` | {row.file_mib:.0f} | {row.peak_mib:.0f} | {row.prompt_rate:.0f} | {generated} |", flush=True)


if __name__ == "__main__":
    main()
