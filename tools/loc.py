#!/usr/bin/env python3
"""Counts the lines of each source file and holds the tree to its size limits.

usage: tools/loc.py [ROOT]

Prints the number of files and lines, the median, the 90th percentile, the lines by folder, and every file above 500.
Exits 1 when a file exceeds 1,000 lines or the 90th percentile 450. Generated tables, in folders called data, do not
count.
"""
import collections
import math
import pathlib
import sys

FOLDERS = ("include", "src", "bench", "tests", "fuzz", "scripts", "tools")
SUFFIXES = (".h", ".cc", ".cu", ".cuh", ".py")
LISTED_LINES = 500
MAX_LINES = 1000
MAX_P90_LINES = 450


def count_lines(root):
    """{path: number of lines} of all sources under `root`."""
    lines = {}
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            relative = path.relative_to(root)
            if path.suffix in SUFFIXES and path.is_file() and "data" not in relative.parts:
                lines[relative] = len(path.read_bytes().splitlines())
    return lines


def percentile(sorted_values, fraction):
    """The smallest value that is at least as large as `fraction` of all."""
    return sorted_values[max(math.ceil(fraction * len(sorted_values)), 1) - 1]


def part_of(path):
    """The row of the summary that a file counts in: src/kernels, tests."""
    return "/".join(path.parts[:2]) if path.parts[0] == "src" and len(path.parts) > 2 else path.parts[0]


def main(arguments):
    root = pathlib.Path(arguments[0]) if arguments else pathlib.Path(__file__).resolve().parent.parent
    lines = count_lines(root)
    if not lines:
        print(f"{root}: no sources")
        return 1
    ordered = sorted(lines.values())
    p90 = percentile(ordered, 0.9)
    median = percentile(ordered, 0.5)
    print(f"{len(ordered)} files, {sum(ordered)} lines, median {median}, p90 {p90}, largest {ordered[-1]}")
    by_part = collections.defaultdict(list)
    for path, count in lines.items():
        by_part[part_of(path)].append(count)
    for part, counts in sorted(by_part.items()):
        print(f"  {sum(counts):6} lines  {len(counts):4} files  {part}")

    failed = False
    for path, count in sorted(lines.items(), key=lambda item: -item[1]):
        if count > LISTED_LINES:
            print(f"{path}: {count} lines, above {MAX_LINES if count > MAX_LINES else LISTED_LINES}")
            failed = failed or count > MAX_LINES
    if p90 > MAX_P90_LINES:
        print(f"the 90th percentile is {p90} lines, above {MAX_P90_LINES}")
        failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
