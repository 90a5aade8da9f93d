#!/usr/bin/env python3
"""Finds names that stand twice in the unnamed namespaces of one folder.

usage: tools/check_names.py [ROOT]

ROOT is the repository by default. The files of a folder under src/ are compiled together, its tests apart from the rest
(adit_compile_together in cmake/AditModule.cmake), so what each has for itself has to have a name of its own; functions
with other parameters may share one. The instruction sets of src/kernels are compiled file by file. Prints one line for
each such name, "folder: name: files", and exits 1 if there is any. A type of an unnamed namespace that is called as one
that a header of the folder declares is found too: another file of the batch includes that header.
"""
import collections
import pathlib
import re
import sys

ALIAS = re.compile(r"using (\w+) =")
TYPE = re.compile(r"(?:struct|class|enum class|enum) (\w+)\b(?!;)")
VALUE = re.compile(r"(?:inline |static |constexpr |const )*[\w:<>,*&\s\[\]]+?[\s*&](\w+)(\(|\s=|\{|\[)(.*)")
PARAMETER_NAME = re.compile(r"\b\w+(?=[,)])")
PASSED_BY = (" ", "//", "}", "#", "namespace", "template", "TEST", "INSTANTIATE", "ADIT_")


def declared(text):
    """{(name, what tells it from others of the name)} of the unnamed namespaces of a file that is formatted."""
    found, inside = set(), False
    for line in text.splitlines():
        if line == "namespace {":
            inside = True
        elif line == "}  // namespace":
            inside = False
        elif not inside or not line or line.startswith(PASSED_BY):
            continue
        elif line.startswith("using "):
            if match := ALIAS.match(line):
                found.add((match[1], line))  # the same alias may stand twice
        elif match := TYPE.match(line):
            found.add((match[1], "type"))
        elif match := VALUE.match(line):
            is_function = match[2] == "("
            found.add((match[1], "(" + PARAMETER_NAME.sub("", match[3].split("{")[0]) if is_function else "value"))
    return found


def clashes(files):
    """[(name, files)] of names that more than one of {file: text} has, and that are not told apart."""
    holders = collections.defaultdict(lambda: collections.defaultdict(list))
    for file, text in files.items():
        for name, mark in declared(text):
            holders[name][mark].append(file)
    for name, marks in sorted(holders.items()):
        everyone = sorted({file for group in marks.values() for file in group})
        functions = all(mark.startswith("(") for mark in marks)
        alias = len(marks) == 1 and next(iter(marks)).startswith("using ")
        alone = functions and all(len(group) == 1 for group in marks.values())
        if len(everyone) > 1 and not alias and not alone:
            yield name, everyone


def types_of(header):
    """Names of the types that a formatted header declares outside of other types."""
    return {match[1] for line in header.splitlines() if (match := TYPE.match(line))}


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parent.parent)
    folders = collections.defaultdict(dict)
    for path in sorted((root / "src").rglob("*.cc")):
        folder = path.parent.relative_to(root).as_posix()
        if folder.startswith("src/kernels/"):
            continue
        is_test = path.name.endswith("_test.cc") or path.name.startswith("test_")
        folders[folder + (" (tests)" if is_test else "")][path.name] = path.read_text()
    count = 0
    for folder, files in sorted(folders.items()):
        for name, holders in clashes(files):
            print(f"{folder}: {name}: {', '.join(holders)}")
            count += 1
        own = {(name, file) for file, text in files.items() for name, mark in declared(text) if mark == "type"}
        for header in sorted((root / folder.removesuffix(" (tests)")).glob("*.h")):
            for name, file in sorted(own):
                if name in types_of(header.read_text()):
                    print(f"{folder}: {name}: {file}, {header.name}")
                    count += 1
    print(f"names: {sum(map(len, folders.values()))} files, {count} clashes")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
