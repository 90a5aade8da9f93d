#!/usr/bin/env python3
"""Compiles each header by itself, so that none leans on what another file happened to include before it.

usage: tools/check_headers.py BUILD_FOLDER [HEADER...]

All headers of src/ and include/ by default. A header is compiled with the flags of a source beside it (taken from
BUILD_FOLDER/compile_commands.json), so those of an instruction-set folder get its flags; a folder without sources takes
them from the nearest folder above, else from any source. Those of src/kernels/emulate are left out: they stand in for
the compiler's <immintrin.h> and are read only through it. Prints the compiler's words for each that fails and exits 1.
"""
import concurrent.futures
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def flags_by_folder(build_folder):
    """{folder: (compiler command without input and output, working folder)}, one for each folder with sources."""
    commands = {}
    for entry in json.loads((build_folder / "compile_commands.json").read_text()):
        source = pathlib.Path(entry["file"])
        if source.stem.endswith("_test"):
            continue
        words = shlex.split(entry["command"])
        if pathlib.Path(words[0]).name == "ccache":
            words = words[1:]
        # A precompiled header would hide what is missing.
        while "-include" in words:
            at = words.index("-include")
            del words[at:at + 2]
        # The tail is "-o object -c source".
        commands.setdefault(source.parent, (words[:words.index("-o")], entry["directory"]))
    return commands


def all_headers():
    emulate = ROOT / "src/kernels/emulate"
    headers = (path for top in ("include", "src") for path in (ROOT / top).rglob("*.h"))
    return sorted(path for path in headers if emulate not in path.parents)


def command_for(header, commands):
    for folder in header.parents:
        if folder in commands:
            return commands[folder]
    return next(iter(commands.values()))


def compile_alone(header, commands):
    """The compiler's complaint, or nothing."""
    words, directory = command_for(header, commands)
    top = "include" if ROOT / "include" in header.parents else "src"
    source = f'#include "{header.relative_to(ROOT / top).as_posix()}"\n'
    run = subprocess.run(words + ["-fsyntax-only", "-x", "c++", "-"], input=source, cwd=directory, capture_output=True,
                         text=True)
    return "" if run.returncode == 0 else run.stderr


def main(arguments):
    if not arguments:
        print(__doc__.strip())
        return 2
    commands = flags_by_folder(pathlib.Path(arguments[0]).resolve())
    headers = [pathlib.Path(name).resolve() for name in arguments[1:]]
    headers = headers or all_headers()
    failed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = pool.map(lambda header: compile_alone(header, commands), headers)
        for header, complaint in zip(headers, complaints):
            if complaint:
                failed.append(header)
                print(f"{header.relative_to(ROOT)} does not compile alone:\n{complaint}")
    print(f"headers: {len(headers)} compiled alone, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
