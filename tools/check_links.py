#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that relative links in Markdown files lead to a file, and their #parts to a heading."""
import os
import re
import subprocess
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCE = re.compile(r"^\s*(```|~~~)")


def lines_outside_code(path):
    fenced = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if FENCE.match(line):
                fenced = not fenced
            elif not fenced:
                yield number, line


def anchors(path):
    """The anchors GitHub makes of headings."""
    seen = {}
    for _, line in lines_outside_code(path):
        heading = re.match(r"#{1,6}\s+(.*?)\s*#*\s*$", line)
        if not heading:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).lower()
        slug = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        yield slug if count == 0 else f"{slug}-{count}"


def main():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    os.chdir(root)
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    problems, checked = [], 0
    for path in filter(os.path.isfile, listed):
        for number, line in lines_outside_code(path):
            for target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                checked += 1
                file, _, part = target.partition("#")
                where = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
                if not os.path.exists(where):
                    problems.append(f"{path}:{number}: {target}: there is no {where}")
                elif part and where.endswith(".md") and part not in anchors(where):
                    problems.append(f"{path}:{number}: {target}: no such heading in {where}")
    print("\n".join(problems) or f"links: {checked} lead somewhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
