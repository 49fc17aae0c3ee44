#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every file that git tracks or would track: licence line, size, merge leftovers."""
import os
import subprocess
import sys

LIMIT = 1_500_000  # bytes; larger inputs come from packages or stay outside
SOURCES = (".cpp", ".hpp", ".cu", ".cuh", ".cmake", ".py", ".sh", "CMakeLists.txt", "/run")
LICENCE = "SPDX-License-Identifier: Apache-2.0"


def check(path):
    size = os.path.getsize(path)
    if size > LIMIT:
        yield f"{size} bytes; the limit is {LIMIT}"
    if not ("/" + path).endswith(SOURCES):
        return
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    first = lines[1:2] if lines and lines[0].startswith("#!") else lines[:1]
    if not first or LICENCE not in first[0]:
        yield f"the first line (after #!) must be: {LICENCE}"
    if path.endswith(".hpp") and "#pragma once" not in lines:
        yield "a header without #pragma once"
    for number, line in enumerate(lines, 1):
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):
            yield f"line {number}: a merge was left unfinished"


def main():
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True).stdout.splitlines()
    files = [path for path in listed if os.path.isfile(path)]
    problems = [f"{path}: {problem}" for path in files for problem in check(path)]
    print("\n".join(problems) or f"tree: {len(files)} files are clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
