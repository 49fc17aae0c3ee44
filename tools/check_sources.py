#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public header compiles alone with g++, every source of a build passes clang's front end.

usage: check_sources.py --build DIR [--jobs N]
DIR holds compile_commands.json. Nothing is generated: both compilers run with -fsyntax-only.
"""
import argparse
import concurrent.futures
import json
import os
import shlex
import subprocess
import sys

HEADER_FLAGS = ["-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
# The same exceptions as for clang in cmake/WeirModule.cmake.
CLANG_FLAGS = ["-fsyntax-only", "-Wno-unknown-warning-option", "-Wno-sign-conversion",
               "-Wno-bitwise-instead-of-logical", "-Werror"]
SEEN = ("src", "bench", "tools", "examples", "tests")


def header_jobs(root, build):
    for folder, _, names in sorted(os.walk(os.path.join(root, "include"))):
        for name in sorted(names):
            if name.endswith(".hpp"):
                path = os.path.relpath(os.path.join(folder, name), os.path.join(root, "include"))
                yield (f"header {path}",
                       ["g++", "-fsyntax-only", *HEADER_FLAGS, "-I", os.path.join(root, "include"), "-I",
                        os.path.join(build, "include"), "-x", "c++", "-"],
                       f"#include <{path}>\n#include <{path}>\n", root)


def clang_jobs(root, build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    done = set()
    for entry in entries:
        path = os.path.relpath(entry["file"], root)
        if not path.startswith(SEEN) or not path.endswith(".cpp") or path in done:
            continue
        done.add(path)
        words = shlex.split(entry["command"])
        flags = [word for word in words if word.startswith(("-I", "-D", "-m", "-std=", "-f", "-W"))]
        flags = [flag for flag in flags if not flag.startswith("-fsanitize")]
        for i, word in enumerate(words[:-1]):
            if word == "-isystem":
                flags += [word, words[i + 1]]
        yield (f"clang {path}", ["clang++", *flags, *CLANG_FLAGS, entry["file"]], None,
               entry["directory"])


def run(job):
    name, command, text, directory = job
    done = subprocess.run(command, input=text, cwd=directory, capture_output=True, text=True)
    return name, done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    build = os.path.abspath(args.build)
    jobs = [*header_jobs(root, build), *clang_jobs(root, build)]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for number, (name, status, errors) in enumerate(pool.map(run, jobs), 1):
            if status != 0:
                failed += 1
                print(f"{name}:\n{errors}", flush=True)
            elif number % 20 == 0:
                print(f"  {number} of {len(jobs)}", flush=True)
    print(f"sources: {len(jobs) - failed} of {len(jobs)} are clean")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
