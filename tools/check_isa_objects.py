#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that objects compiled for an instruction set leak no code into the rest of the program.

An inline function or template that the compiler leaves out of line is emitted in every object that
uses it, and the linker keeps one copy. If that copy comes from a file compiled with -mavx512f, a
machine without AVX-512 dies in code that looks portable. So such objects may define weak symbols only
if their name carries the instruction set (a namespace or tag type avx2 or avx512).

usage: check_isa_objects.py [--nm NM] --sources a_avx2.cpp... --objects OBJECT...
Of the objects, those made from one of the sources are checked.
"""
import argparse
import subprocess
import sys


def leaks(nm, path):
    out = subprocess.run([nm, "--defined-only", path], check=True, capture_output=True, text=True)
    for line in out.stdout.splitlines():
        kind, name = line.split()[-2:]
        if kind in "WVu" and "avx2" not in name and "avx512" not in name:
            yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--sources", nargs="+", required=True)
    parser.add_argument("--objects", nargs="+", required=True)
    args = parser.parse_args()
    wanted = tuple("/" + source + ".o" for source in args.sources)
    objects = [path for path in args.objects if path.endswith(wanted)]
    if len(objects) < len(args.sources):
        print(f"{len(args.sources)} sources, but {len(objects)} objects made from them")
        return 1
    bad = 0
    for path in objects:
        for name in leaks(args.nm, path):
            shown = subprocess.run(["c++filt", name], capture_output=True, text=True).stdout.strip()
            print(f"{path}: defines {shown or name}, which other objects share")
            bad += 1
    if bad:
        print("Move these out of the file, put them in an unnamed namespace, or name the "
              "instruction set in them.")
    print(f"{len(objects)} objects checked")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
