#!/usr/bin/env python3
"""Holds the sources to the layer table of docs/layers.txt and to the rules on what may be included where.

usage: tools/check_layers.py [ROOT]

ROOT is the repository by default. Prints one line for each breach, "file:line: what is wrong", and exits 1 if there is
any. The rules:
  1. Every folder under src/ has a row in docs/layers.txt; rows name only folders that have rows, and form no cycle.
  2. A file of src/x includes "x/...", "adit/..." and the folders in its row, all rooted at src/: no "../" or bare name.
  3. Public headers (include/adit) include the standard library and each other.
  4. A *_internal.h is included only from its own folder.
  5. JSON, command-line and Boost headers stay out of our headers.
  6. Intrinsics, and macros that tell instruction sets apart, stay in the instruction-set folders under src/kernels.
  7. getenv is called in src/base/env.cc alone.
Tests (x_test.cc, test_*) may include whatever they need, but not by "../".
"""
import pathlib
import re
import sys

SUFFIXES = (".h", ".cc", ".cu", ".cuh", ".inc")
ISA_FOLDERS = tuple(f"src/kernels/{name}/" for name in ("avx2", "avx512", "avx512bf16", "amx", "neon", "sve", "generic", "emulate"))

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
INTRINSICS = re.compile(r"^(\w*mmintrin|x86intrin|x86gprintrin|arm_neon|arm_sve|arm_acle)\.h$|^simde/")
ISA_MACRO = re.compile(r"^\s*#\s*(?:el)?if.*\b(__(?:AVX|SSE|FMA|F16C|AMX|ARM_NEON|ARM_FEATURE)\w*)")
GETENV = re.compile(r"\b(?:secure_)?getenv\s*\(")
HEAVY = re.compile(r"^(nlohmann/json\.hpp|CLI/|boost/)")
STANDARD = re.compile(r"^(\w+|std\w+\.h)$")  # <vector>, <stdint.h>


def read_table(path):
    """The rows of docs/layers.txt as {folder: set of folders it may include}, and the faults found in it."""
    table, faults = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        folder, colon, allowed = line.partition(":")
        if not colon or folder != folder.strip() or folder in table:
            faults.append((number, f"expected one row 'folder: folders', got '{line}'"))
            continue
        # A row may name only rows above it: so every name is known and there is no cycle.
        for name in allowed.split():
            if name not in table:
                faults.append((number, f"'{folder}' may include '{name}', which has no row above it"))
        table[folder] = set(allowed.split())
    return table, faults


def blank_comments_and_strings(text):
    """The text with comments and string literals emptied; line numbers stay."""
    return COMMENT_OR_STRING.sub(lambda match: "\n" * match.group().count("\n"), text)


def is_test(path):
    return path.stem.endswith("_test") or path.name.startswith("test_")


class Checker:
    def __init__(self, root):
        self.root = root
        self.breaches = []
        self.table = {}

    def report(self, file, line, message):
        self.breaches.append(f"{file}:{line}: {message}")

    def check_tree(self):
        self.table, faults = read_table(self.root / "docs/layers.txt")
        for number, message in faults:
            self.report("docs/layers.txt", number, message)
        for folder in sorted(path for path in (self.root / "src").iterdir() if path.is_dir()):
            if folder.name not in self.table:
                self.report(f"src/{folder.name}", 1, "docs/layers.txt has no row for this folder")
        for top in ("src", "include"):
            for path in sorted((self.root / top).rglob("*")):
                if path.suffix in SUFFIXES:
                    self.check_file(path)

    def check_file(self, path):
        name = path.relative_to(self.root).as_posix()
        text = path.read_text(errors="replace")
        for number, line in enumerate(text.splitlines(), 1):
            if match := INCLUDE.match(line):
                self.check_include(path, name, number, match.group(1) == '"', match.group(2))
        if is_test(path):
            return
        for number, line in enumerate(blank_comments_and_strings(text).splitlines(), 1):
            if GETENV.search(line) and name != "src/base/env.cc":
                self.report(name, number, "getenv outside src/base/env.cc")
            if (match := ISA_MACRO.match(line)) and not name.startswith(ISA_FOLDERS):
                self.report(name, number, f"{match.group(1)} outside the instruction-set folders of src/kernels")

    def check_include(self, path, name, number, quoted, target):
        if ".." in target.split("/"):
            self.report(name, number, f'"{target}": includes are rooted at src/, without ".."')
        elif is_test(path):
            pass
        elif quoted:
            self.check_our_include(name, number, target)
        else:
            self.check_foreign_include(path, name, number, target)

    def check_our_include(self, name, number, target):
        first = target.split("/")[0]
        if name.startswith("include/"):
            if first != "adit":
                self.report(name, number, f'"{target}": public headers include std and each other')
            return
        if "/" not in target or (first != "adit" and first not in self.table):
            self.report(name, number, f'"{target}": includes of ours are rooted at src/, as "folder/file.h"')
            return
        folder = name.split("/")[1]
        if first not in {"adit", folder} | self.table.get(folder, set()):
            allowed = " ".join(sorted(self.table.get(folder, set()))) or "nothing"
            self.report(name, number, f'"{target}": {folder} may include {allowed} (docs/layers.txt)')
        if target.endswith("_internal.h") and not name.startswith(f"src/{target.rpartition('/')[0]}/"):
            self.report(name, number, f'"{target}": only src/{target.rpartition("/")[0]} may include it')

    def check_foreign_include(self, path, name, number, target):
        if name.startswith("include/") and not STANDARD.match(target):
            self.report(name, number, f"<{target}>: public headers include std and each other")
        if path.suffix in (".h", ".cuh") and HEAVY.match(target):
            self.report(name, number, f"<{target}>: too heavy for a header; include it in the .cc file")
        if INTRINSICS.match(target) and not name.startswith(ISA_FOLDERS):
            self.report(name, number, f"<{target}>: intrinsics outside the instruction-set folders of src/kernels")


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    checker = Checker(root)
    checker.check_tree()
    print("".join(breach + "\n" for breach in checker.breaches), end="")
    print(f"layers: {len(checker.table)} rows, {len(checker.breaches)} breaches")
    return 1 if checker.breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
