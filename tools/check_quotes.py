#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that code quoted in Markdown files is the code that is compiled and run.

usage: check_quotes.py [--fix]
A quote is a fenced block after a line `<!-- quote FILE [NAME] -->`: the lines of FILE between two lines
`// [NAME]`, or the whole of FILE after its SPDX line if there is no [NAME]. --fix brings quotes up to date.
"""
import os
import re
import subprocess
import sys

QUOTE = re.compile(r"(<!-- quote (\S+?)(?: \[(\w+)\])? -->\n```\w*\n)(.*?)(^```$)", re.M | re.S)


def source(path, name):
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines(keepends=True)
    if name is None:
        return "".join(line for i, line in enumerate(lines) if i > 0 or "SPDX" not in line)
    marks = [i for i, line in enumerate(lines) if line.strip() == f"// [{name}]"]
    if len(marks) != 2:
        raise ValueError(f"{path} has {len(marks)} lines '// [{name}]', not 2")
    return "".join(lines[marks[0] + 1:marks[1]])


def main():
    fix = sys.argv[1:] == ["--fix"]
    os.chdir(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
                            check=True, capture_output=True, text=True).stdout.split("\n")
    problems, checked = [], 0
    for path in filter(os.path.isfile, listed):
        with open(path, encoding="utf-8") as file:
            text = file.read()

        def renew(match):
            nonlocal checked
            checked += 1
            head, file_name, name, quoted, end = match.groups()
            try:
                actual = source(file_name, name)
            except (OSError, ValueError) as error:
                problems.append(f"{path}: {error}")
                return match[0]
            if quoted != actual and not fix:
                problems.append(f"{path}: differs from {file_name} [{name}]; tools/check_quotes.py --fix mends it")
            return head + actual + end

        renewed = QUOTE.sub(renew, text)
        if len(re.findall(r"^<!-- quote ", text, re.M)) != len(QUOTE.findall(text)):
            problems.append(f"{path}: a quote comment is not followed by a fenced block")
        if fix and renewed != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(renewed)
    print("\n".join(problems) or f"quotes: {checked} are as in the sources")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
